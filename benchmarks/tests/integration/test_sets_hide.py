"""Sets and questions that are made of a deployment's tables hold nothing that its rules hide."""

import json

import pytest

from pneuma_bench.cli.app import app
from tests.support.canaries import RULES, SHOWN, Lake, contents, leaks

pytestmark = pytest.mark.integration


def test_what_questions_are_made_of_holds_nothing_hidden(tmp_path_factory):
    lake, folder = Lake(tmp_path_factory.mktemp("canaries")), tmp_path_factory.mktemp("made")
    (folder / "pneuma.yaml").write_text(
        json.dumps({"home": "home", "sources": lake.sources(rules=True), "privacy": RULES})
    )
    config = ["--config", str(folder / "pneuma.yaml")]
    tables, made = str(folder / "t.tables.jsonl"), str(folder / "made")
    for command in (
        ["tables", "--out", tables],
        ["generate", "--tables", tables, "--out", made, "--no-model"],
    ):
        with pytest.raises(SystemExit):
            app([*command, *config])
    found = dict(contents(folder))
    assert {where: some for where, data in found.items() if (some := leaks(data))} == {}
    assert any(SHOWN in data for where, data in found.items() if "t.tables.jsonl" in where)
    assert any(b"content-0001" in data for where, data in found.items() if "queries" in where)
