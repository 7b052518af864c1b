"""Statements over files of text: their cells are the numbers, days and truth values of profiles."""

import pyarrow as pa
import pytest

from pneuma_assets.core.answers.guard import checked
from pneuma_assets.core.answers.run_duckdb import Given, run
from pneuma_assets.core.answers.statements import ReadTable
from pneuma_assets.core.errors import SqlFailedError

pytestmark = pytest.mark.integration

PEOPLE = ReadTable("people", ("name", "cell"))


def asked(sql, kind, cells):
    rows = pa.record_batch(
        {"name": ["x"] * len(cells), "cell": pa.array(cells, pa.string())},
    )
    batches = [rows] if cells else []
    given = Given(PEOPLE, batches, {"name": "VARCHAR", "cell": kind})
    return run(checked(sql, [PEOPLE], "duckdb", 3), [given]).rows


@pytest.mark.parametrize(
    ("kind", "cells", "largest"),
    [
        ("BIGINT", ["9", "10", "NA", None], 10),
        ("BIGINT", ["0x1E", "9"], 30),
        ("BIGINT", ["9", "10.5"], 10.5),
        ("BIGINT", ["9", "12345678901234567890"], 12345678901234567890),
        ("HUGEINT", ["9", "12345678901234567890"], 12345678901234567890),
        ("HUGEINT", ["9", str(2**127 - 1)], 2**127 - 1),
        ("BIGNUM", ["9", str(2**127), "10"], 2**127),
        ("BIGNUM", [str(-(2**127) - 1), str(-(2**130))], -(2**127) - 1),
        ("DOUBLE", ["9.5", "1e2", "n/a", "0.30000000000000004"], 100.0),
        ("DOUBLE", ["0.30000000000000004", "0.25"], 0.30000000000000004),
        ("DECIMAL", ["9.50", "10.25"], "10.25"),
        ("DECIMAL", ["9.5", "1e300"], 1e300),
        ("BOOLEAN", ["false", "true"], True),
        ("DATE", ["2020-01-02", "0000-00-00"], "2020-01-02"),
        ("DATE", ["2020-01-02", "2021-01-01", ""], "2021-01-01"),
        ("DATE", ["2020-01-02", "2020-01-02 03:04:05"], "2020-01-02 03:04:05"),
        ("TIME", ["9:04:05", "10:00:00"], "10:00:00"),
        ("TIMESTAMP", ["2020-01-02 9:04:05", "2020-01-02 10:00:00"], "2020-01-02 10:00:00"),
        ("BIGINT", [], None),
    ],
)
def test_cells_are_what_the_profile_takes_them_for(kind, cells, largest):
    ((found,),) = asked("SELECT max(cell) FROM people", kind, cells)
    assert (str(found) if isinstance(found, str) else found) in (largest, f"{largest}.000000")


def test_times_of_zones_are_times_and_no_texts():
    cells = ["2020-01-02T03:00:00+02:00", "2020-01-02T02:00:00Z"]
    sql = "SELECT max(cell) - min(cell) = interval 1 hour FROM people"
    assert asked(sql, "TIMESTAMP WITH TIME ZONE", cells) == ((True,),)


def test_sums_of_cents_are_exact():
    sql = "SELECT sum(cell) FROM people HAVING sum(cell) = 0.3"
    assert asked(sql, "DECIMAL", ["0.10", "0.20"]) == (("0.3",),)


@pytest.mark.parametrize("odd", ["0.5", "1e-3"])
def test_numbers_that_doubles_would_make_equal_stay_apart(odd):
    cells = ["9007199254740993", "9007199254740992", odd]
    sql = "SELECT count(DISTINCT cell), max(cell) - 9007199254740992 FROM people"
    ((count, more),) = asked(sql, "DOUBLE", cells)
    assert (count, float(more)) == (3, 1.0)


@pytest.mark.parametrize(
    ("kind", "cell", "said"),
    [
        ("BIGINT", "n.a.", "no number"),
        ("HUGEINT", "n.a.", "no number"),
        ("DOUBLE", "n.a.", "no number"),
        ("DOUBLE", "1e400", "more digits"),
        ("DOUBLE", "0." + "123456789" * 5, "more digits"),
        ("DATE", "31/12/2020", "no day"),
        ("TIMESTAMP", "yesterday", "no day and time"),
        ("BOOLEAN", "perhaps", "neither true nor false"),
        ("TIME", "noon", "no time"),
    ],
)
def test_a_cell_that_is_not_what_was_told_is_said_and_not_answered_by_text(kind, cell, said):
    with pytest.raises(SqlFailedError, match=said) as caught:
        asked("SELECT max(cell) FROM people", kind, [cell, None])
    assert "column 'cell' of table 'people'" in str(caught.value)
    assert "`pneuma-assets index`" in str(caught.value)


def test_a_cell_of_a_column_that_the_statement_does_not_use_is_no_matter():
    sql = "SELECT count(*) FROM people WHERE name = 'x'"
    assert asked(sql, "BIGINT", ["n.a.", "1"]) == ((2,),)


def test_texts_of_columns_of_text_stay():
    assert asked("SELECT max(cell) FROM people", "VARCHAR", ["9", "NA"]) == (("NA",),)
