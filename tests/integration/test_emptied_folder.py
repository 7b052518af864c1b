"""A folder whose disk is not mounted lists as an empty one; nothing is lost by that."""

import json
from pathlib import Path

import pytest

from tests.integration.test_cli_end_to_end import command

pytestmark = pytest.mark.integration
TABLES = 12


@pytest.fixture
def emptied(tmp_path) -> Path:
    lake = tmp_path / "lake"
    lake.mkdir()
    for number in range(TABLES):
        (lake / f"station{number}.csv").write_text(f"day,rain_mm\n1,{number}\n2,{number * 2}\n")
    assert command("index", "lake", cwd=tmp_path).returncode == 0
    lake.rename(tmp_path / "unmounted")
    lake.mkdir()
    return tmp_path


@pytest.mark.slow
def test_tables_of_an_emptied_folder_stay_until_somebody_accepts(emptied):
    again = command("index", cwd=emptied)
    assert (again.returncode, again.stderr.count("Traceback")) == (1, 0)
    told = " ".join(again.stdout.split())
    assert f"{TABLES} of {TABLES} tables are gone at once" in told
    assert "bring it back" in told
    assert "index --source lake --accept-removals" in told

    found = command("search", "--json", "-k", "20", "rain of a day", cwd=emptied)
    assert len(json.loads(found.stdout)) == TABLES
    status = json.loads(command("status", "--json", cwd=emptied).stdout)
    assert status["counts"] == {"indexed": TABLES}
    assert [(p["table"], p["stage"]) for p in status["problems"]] == [("lake", "removals")]
    assert all("held as it was" in table["notes"][0] for table in status["tables"])

    accepted = command("index", "--accept-removals", "--json", cwd=emptied)
    assert (accepted.returncode, json.loads(accepted.stdout)["removed"]) == (0, TABLES)
    status = json.loads(command("status", "--json", cwd=emptied).stdout)
    assert (status["tables"], status["problems"]) == ([], [])
