"""Damage as people meet it: the command line says what is damaged, and what it says to run works.

PNEUMA_DAMAGED_PLACES damages more places; each takes some ten processes.
"""

import json
import random
import shutil
from pathlib import Path

import pytest

from tests.integration.test_cli_end_to_end import command, make_lake
from tests.support.damage import DAMAGES, Damage, change_header, scribble_often
from tests.support.damage import places as places_to_damage

pytestmark = [pytest.mark.integration, pytest.mark.slow]

QUESTION = "how much rain fell in Kiel"
CONTEXT = "Zanzibar harbour fees, audited."
USUAL: list[tuple[str, Damage]] = [
    ("index/index.db", scribble_often),
    ("state.db", change_header),
]


def damages() -> list[tuple[str, Damage, int]]:
    more = range(places_to_damage(len(USUAL)) - len(USUAL))
    rest = [("index/index.db", DAMAGES[place % len(DAMAGES)]) for place in more]
    return [(*what, place) for place, what in enumerate([*USUAL, *rest])]


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    root = make_lake(tmp_path_factory.mktemp("cli"))
    for arguments in (
        ("index", "--json"),
        ("context", "add", "lake/penguins", "wiki", "--text", CONTEXT),
        ("index",),
    ):
        done = command(*arguments, cwd=root)
        assert done.returncode == 0, done.stderr
    return root


@pytest.fixture(scope="module")
def true(sound) -> dict[str, object]:
    found = asked(sound)
    assert None not in found.values()
    return found


def asked(root: Path) -> dict[str, object]:
    """Return the answers of every command; None where it named damage."""
    return {
        "search": answer(root, "search", QUESTION, "--json"),
        "contexts": answer(root, "context", "list", "lake/penguins", "--json"),
        "counts": answer(root, "status", "--json"),
    }


def answer(root: Path, *arguments: str) -> object:
    done = command(*arguments, cwd=root)
    if done.returncode == 0:
        found = json.loads(done.stdout)
        return found["counts"] if arguments[0] == "status" else found
    told = done.stderr or json.loads(done.stdout)["index"]["health"]
    assert any(remedy in told for remedy in ("--rebuild", "pneuma-assets restore"))
    assert "Traceback" not in told
    assert len(told.strip().splitlines()) == 1
    return None


@pytest.mark.parametrize(("file", "damage", "place"), damages())
def test_what_the_command_line_says_to_run_works(sound, true, tmp_path, file, damage, place):
    root = shutil.copytree(sound, tmp_path / "copy")
    damage(root / ".pneuma" / file, random.Random(f"place {place}"))
    for name, found in asked(root).items():
        assert found in (true[name], None), name
    done = command("index", cwd=root)
    if done.returncode:
        remedy = ("restore",) if "pneuma-assets restore" in done.stderr else ("index", "--rebuild")
        assert remedy[-1] in done.stderr
        mended = command(*remedy, cwd=root)
        assert mended.returncode == 0, mended.stderr
        done = command("index", cwd=root)
    assert done.returncode == 0, done.stderr
    after = asked(root)
    assert after["counts"] == true["counts"]
    assert after["contexts"] == true["contexts"]
    assert after["search"] == true["search"]
