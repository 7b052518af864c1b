"""The skill file's commands are run as they stand in it."""

import json
import re
import shlex
import sys
from importlib.resources import files

import pytest
import yaml

from tests.support.doors import fails, run, succeeds

TEXT = files("pneuma_assets.mcp_server").joinpath("SKILL.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\s*(pneuma-assets .+)$", TEXT, flags=re.M)


def test_the_front_matter_names_and_describes_it():
    _, front, _ = TEXT.split("---\n", 2)
    told = yaml.safe_load(front)
    assert set(told) == {"name", "description"}
    assert re.fullmatch(r"[a-z0-9-]{1,64}", told["name"])
    assert 20 < len(told["description"]) <= 1_024


def test_it_is_printed(lake):
    assert succeeds("--config", lake, "mcp", "--skill") == TEXT


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_is_one(lake, line):
    _, *arguments = shlex.split(line.replace("TABLE", "lake/orders"))
    assert "--json" in arguments
    json.loads(succeeds("--config", lake, *arguments))


@pytest.mark.parametrize("command", ["search", "groups", "answer", "lineage", "joins"])
def test_every_option_is_one(lake, command):
    shown = run("--config", lake, command, "--help").output
    assert "--as NAME" in shown
    assert ("--source NAME" in shown) == (command in ("search", "groups", "answer"))


def test_there_are_commands_for_all_steps():
    assert len(COMMANDS) == 7


def test_without_the_extra_the_server_says_what_to_install(lake, monkeypatch):
    for name in [*sys.modules]:
        if name.startswith(("mcp.", "pneuma_assets.mcp_server.")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert "pip install 'pneuma-assets[mcp]'" in fails(1, "--config", lake, "mcp")
    assert succeeds("--config", lake, "mcp", "--skill") == TEXT
