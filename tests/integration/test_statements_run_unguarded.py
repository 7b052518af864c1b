"""Hostile statements without the guard: what DuckDB's process holds by itself."""

import datetime
from dataclasses import replace

import pyarrow as pa
import pytest
from sqlglot import exp

from pneuma_assets.core.answers.run_duckdb import Given, RunBounds, run
from pneuma_assets.core.answers.statements import Checked
from pneuma_assets.core.errors import SqlFailedError, SqlStoppedError
from tests.support.hostile_sql import CITIES, DUCKDB, HOSTILE, PEOPLE, SECRET

pytestmark = [pytest.mark.integration, pytest.mark.slow]

CASES = [case for case in HOSTILE if DUCKDB in case.holds]
BOUNDS = RunBounds(seconds=1, memory=1_000_000_000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("secrets")
    (folder / "file.csv").write_text(f"secret\n{SECRET}\n")
    return folder


def given():
    people = {
        "id": [1, 2],
        "name": ["ann", "bob"],
        "city": ["Rome", "Oslo"],
        "joined": [datetime.date(2020, 2, 29)] * 2,
        "Pay Grade": [1.5, 2.5],
        "email": [SECRET, SECRET],
    }
    cities = {"city": ["Rome"], "country": ["Italy"], "inhabitants": [3_000_000]}
    return [
        Given(replace(PEOPLE, schema=""), [pa.RecordBatch.from_pydict(people)]),
        Given(replace(CITIES, schema=""), [pa.RecordBatch.from_pydict(cities)]),
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case.sql)[:60])
def test_the_process_holds_alone(case, folder):
    before = sorted(folder.iterdir())
    sql = case.sql.format(file=folder / "file.csv", folder=folder)
    try:
        reply = run(Checked(sql, DUCKDB, 10, (), (), exp.Select()), given(), BOUNDS)
    except SqlStoppedError as error:
        held, said = "bound", str(error)
    except SqlFailedError as error:
        held, said = "engine", str(error)
    else:
        held, said = "nothing", repr(reply)
    assert (held, SECRET in said.replace(sql, "")) == (case.holds[DUCKDB], False), said
    assert sorted(folder.iterdir()) == before
    assert (folder / "file.csv").read_text() == f"secret\n{SECRET}\n"
