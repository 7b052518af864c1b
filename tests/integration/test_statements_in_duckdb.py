"""Checked statements in DuckDB: what they give, and the bounds at which they end."""

import datetime
import decimal
import math
import time
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlglot import exp

from pneuma_assets.core.answers import ask_duckdb
from pneuma_assets.core.answers.guard import checked
from pneuma_assets.core.answers.run_duckdb import Given, RunBounds, run, run_to_arrow
from pneuma_assets.core.answers.statements import Checked, ReadTable
from pneuma_assets.core.errors import SqlFailedError, SqlStoppedError, TableChangedError
from pneuma_assets.core.sources.base import StatementRows
from tests.support.hostile_sql import CITIES, DUCKDB, HOSTILE, PEOPLE, SECRET

pytestmark = pytest.mark.integration

NUMBERS = ReadTable("numbers", ("n",))
NAME = "n" * 99


def numbers(rows=10):
    starts = range(0, rows, 1_000)
    batches = (pa.record_batch({"n": range(at, min(at + 1_000, rows))}) for at in starts)
    return [Given(NUMBERS, batches)]


def unchecked(sql):
    return Checked(sql, "duckdb", 10, (), (), exp.Select())


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        (
            "SELECT unnest(string_split(name, 'n')) AS x FROM people ORDER BY x LIMIT 2",
            [[""], [""]],
        ),
        (
            "SELECT u.x, count(*) FROM people p, unnest(string_split(p.name, 'n')) AS u(x) "
            "GROUP BY u.x ORDER BY u.x",
            [["", 2], ["a", 1], ["bob", 1]],
        ),
        (
            "SELECT CAST(m.day AS date), count(p.id) FROM generate_series(DATE '2020-02-28', "
            "DATE '2020-03-01', INTERVAL '1 day') AS m(day) LEFT JOIN people p "
            "ON p.joined = m.day GROUP BY m.day ORDER BY m.day",
            [["2020-02-28", 0], ["2020-02-29", 2], ["2020-03-01", 0]],
        ),
        ("SELECT name, n FROM people, range(2) AS g(n) ORDER BY 1, 2 LIMIT 1", [["ann", 0]]),
    ],
)
def test_rows_that_a_statement_makes_stand_beside_those_of_tables(sql, rows):
    given = people_and_cities()
    found = run(checked(sql, [one.table for one in given], DUCKDB, 9), given)
    assert [list(row) for row in found.rows] == rows


def test_cells_are_as_json_has_them_or_exact_text():
    table = ReadTable("odd 'things\"", ("whole", "part", "price", "day", "at", "bytes", "list"))
    rows = pa.record_batch(
        {
            "whole": pa.array([2**60, None]),
            "part": [0.1, math.nan],
            "price": [decimal.Decimal("1234567890123456789.10"), None],
            "day": [datetime.date(1999, 12, 31), None],
            "at": pa.array([datetime.datetime(2020, 1, 2, 3, 4, 5, 6), None]),
            "bytes": [b"\x00\xff", None],
            "list": [[1, None], None],
            "left out": ["x", "y"],
        }
    )
    sql = 'SELECT *, sum(whole) OVER () AS total FROM "odd \'things""" ORDER BY whole'
    found = run(checked(sql, [table], "duckdb", 5), [Given(table, [rows])])
    assert found.columns == (*table.columns, "total")
    assert found.rows[0] == (
        *(2**60, 0.1, "1234567890123456789.10", "1999-12-31"),
        *("2020-01-02 03:04:05.000006", "00ff", [1, None], 2**60),
    )
    assert found.rows[1] == (None, "nan", None, None, None, None, None, 2**60)
    assert not found.more


def test_rows_beyond_those_wanted_are_told():
    sql = "SELECT n FROM numbers ORDER BY n DESC"
    found = run(checked(sql, [NUMBERS], "duckdb", 3), numbers())
    assert (found.rows, found.more) == (((9,), (8,), (7,)), True)


def test_what_duckdb_says_is_told_so_that_another_statement_can_be_written():
    found = checked("SELECT CAST('x' AS integer) FROM numbers", [NUMBERS], "duckdb", 3)
    with pytest.raises(SqlFailedError, match="Could not convert string 'x' to INT32") as caught:
        run(found, numbers())
    assert "\n" not in str(caught.value)


def test_other_columns_and_files_are_out_of_reach(tmp_path):
    file = tmp_path / "numbers.parquet"
    pq.write_table(pa.table({"n": range(1_000)}), file)
    before = file.read_bytes()
    rows = [pa.record_batch({"n": range(1_000), "hidden": ["secret"] * 1_000})]
    for hostile in (
        "SELECT hidden FROM numbers",
        "SELECT hidden FROM pneuma_0",
        f"SELECT * FROM '{file}'",
        f"COPY (SELECT 1 AS n) TO '{file}' (FORMAT parquet, USE_TMP_FILE false)",
    ):
        with pytest.raises(SqlFailedError):
            run(unchecked(hostile), [Given(NUMBERS, rows)])
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("sql", "bounds", "said"),
    [
        ("SELECT count(*) FROM numbers a, numbers b, numbers c", RunBounds(seconds=1), "1 s"),
        ("SELECT list(n) FROM numbers", RunBounds(result_bytes=1_000), "1,000 bytes together"),
        ("SELECT n FROM numbers", RunBounds(input_bytes=20_000), "more than 20,000 bytes"),
        ("SELECT repeat('x', 3000000000)", RunBounds(memory=500_000_000), "too much"),
        (f"SELECT list({{'{NAME}': n}}) FROM numbers", RunBounds(result_bytes=10**5), "800,000"),
    ],
)
def test_a_statement_ends_at_a_bound(sql, bounds, said):
    with pytest.raises(SqlStoppedError, match=said):
        run(unchecked(sql), numbers(10_000), bounds)


def test_rows_that_are_too_large_together_are_cut():
    found = run(checked("SELECT n FROM numbers", [NUMBERS], "duckdb", 10_000), numbers(10_000),
                RunBounds(result_bytes=2_000))  # fmt: skip
    assert (found.rows, found.more) == (tuple((n,) for n in range(len(found.rows))), True)
    assert 100 <= len(found.rows) < 300


def test_no_file_is_left(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert run(unchecked("SELECT n FROM numbers"), numbers(1)).rows == ((0,),)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_what_duckdb_does_not_interrupt_ends_in_time_too(monkeypatch):
    """`lpad` makes its text in one step, which takes several seconds."""
    began, original = [], ask_duckdb._answered
    monkeypatch.setattr(
        ask_duckdb, "_answered", lambda *given: began.append(time.monotonic()) or original(*given)
    )
    sql = "SELECT length(lpad('x', 2000000000, 'y')) FROM numbers"
    with pytest.raises(SqlStoppedError, match="more than 1 s"):
        run(unchecked(sql), numbers(1), RunBounds(seconds=1, memory=8_000_000_000))
    assert time.monotonic() - began[0] < 2


def test_what_is_sorted_keeps_no_more_rows_than_are_wanted():
    rows = (pa.record_batch({"n": [f"{n:0100}" for n in range(at, at + 10_000)]})
            for at in range(0, 2_000_000, 10_000))  # fmt: skip
    found = checked("SELECT n FROM numbers ORDER BY n DESC", [NUMBERS], "duckdb", 2)
    kept = run(found, [Given(NUMBERS, rows)], RunBounds(memory=300_000_000)).rows
    assert kept == ((f"{1_999_999:0100}",), (f"{1_999_998:0100}",))


def test_tables_are_called_as_they_are_shown():
    tables = [ReadTable("n", ("n",), schema) for schema in ("", "Own")]
    other = ReadTable("other", ("n",), "", own=("Own", "n"))
    given = [Given(table, [pa.record_batch({"n": [table.schema]})]) for table in tables]
    found = checked("SELECT n.n, other.n FROM n JOIN other ON n.n <> other.n",
                    [tables[0], other], "duckdb", 3)  # fmt: skip
    assert 'JOIN "Own"."n" AS "other"' in found.sql
    assert run(found, given) == StatementRows(("n", "n"), (("", "Own"),), more=False)


@pytest.mark.parametrize("seconds", [0.0, 0.3])
def test_reading_what_cells_are_takes_of_the_seconds(seconds):
    """The bound begins before the cells are looked at, which here takes longer than it."""
    cells = pa.array(["1." + "0" * 30] * 3_000_000)
    given = [Given(NUMBERS, [pa.record_batch({"n": cells})], {"n": "DOUBLE"})]
    sql = checked("SELECT 1 FROM numbers WHERE n = 0 LIMIT 1", [NUMBERS], "duckdb", 3)
    with pytest.raises(SqlStoppedError, match=f"more than {seconds:g} s"):
        run(sql, given, RunBounds(seconds=seconds))


def test_a_column_that_is_gone_says_that_the_table_has_changed():
    table = ReadTable("people", ("name", "age"))
    rows = pa.table({"name": ["ann"], "years": [9]})
    given = Given(table, rows.to_batches())
    with pytest.raises(TableChangedError, match="'people' has no column 'age'") as caught:
        run(checked("SELECT age FROM people", [table], "duckdb", 3), [given])
    assert str(caught.value).endswith("indexed; index it again")


def test_columns_that_differ_in_capitals_alone_are_not_taken_for_each_other():
    table = ReadTable("odd", ("ID", "id"))
    rows = pa.record_batch({"ID": [1, 2], "id": [100, 200]})
    with pytest.raises(SqlFailedError, match="'ID' and 'id' of table 'odd' differ in capitals"):
        run(checked('SELECT "ID", "id" FROM odd', [table], "duckdb", 5), [Given(table, [rows])])
    alone = ReadTable("odd", ("id",))
    found = run(checked("SELECT id FROM odd", [alone], "duckdb", 5), [Given(alone, [rows])])
    assert found.rows == ((100,), (200,))


@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        ("24:00:00", "TIME", "24:00:00"),
        ("infinity", "DATE", "infinity"),
        ("-infinity", "DATE", "-infinity"),
        ("infinity", "TIMESTAMP", "infinity"),
        ("2020-02-29", "DATE", "2020-02-29"),
    ],
)
def test_days_and_times_beyond_those_of_arrow_are_told_as_they_are(text, kind, told):
    sql = f"SELECT CAST(n AS {kind}) AS n FROM numbers"
    given = [Given(NUMBERS, [pa.record_batch({"n": [text]})])]
    assert run(checked(sql, [NUMBERS], "duckdb", 5), given).rows == ((told,),)


# Cells of files of text are the numbers, days and truth values of profiles.
TEXTS = ReadTable("people", ("name", "cell"))


def of_texts(sql, kind, cells):
    rows = pa.record_batch({"name": ["x"] * len(cells), "cell": pa.array(cells, pa.string())})
    batches = [rows] if cells else []
    given = Given(TEXTS, batches, {"name": "VARCHAR", "cell": kind})
    return run(checked(sql, [TEXTS], "duckdb", 3), [given]).rows


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
    ((found,),) = of_texts("SELECT max(cell) FROM people", kind, cells)
    assert found == largest


def test_times_of_zones_are_times_and_sums_of_cents_exact():
    cells = ["2020-01-02T03:00:00+02:00", "2020-01-02T02:00:00Z"]
    sql = "SELECT max(cell) - min(cell) = interval 1 hour FROM people"
    assert of_texts(sql, "TIMESTAMP WITH TIME ZONE", cells) == ((True,),)
    sql = "SELECT sum(cell) FROM people HAVING sum(cell) = 0.3"
    assert of_texts(sql, "DECIMAL", ["0.10", "0.20"]) == (("0.3",),)


@pytest.mark.parametrize("odd", ["0.5", "1e-3"])
def test_numbers_that_doubles_would_make_equal_stay_apart(odd):
    cells = ["9007199254740993", "9007199254740992", odd]
    sql = "SELECT count(DISTINCT cell), max(cell) - 9007199254740992 FROM people"
    ((count, more),) = of_texts(sql, "DOUBLE", cells)
    assert (count, float(more)) == (3, 1.0)


@pytest.mark.parametrize(
    ("kind", "cell", "said"),
    [
        ("BIGINT", "unknown", "no number"),
        ("HUGEINT", "unknown", "no number"),
        ("DOUBLE", "unknown", "no number"),
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
        of_texts("SELECT max(cell) FROM people", kind, [cell, None])
    assert "column 'cell' of table 'people'" in str(caught.value)
    assert "indexing it again" in str(caught.value)


def test_a_cell_of_a_column_that_the_statement_does_not_use_is_no_matter():
    sql = "SELECT count(*) FROM people WHERE name = 'x'"
    assert of_texts(sql, "BIGINT", ["unknown", "1"]) == ((2,),)


# Hostile statements without the guard: what the process holds by itself.
CASES = [case for case in HOSTILE if DUCKDB in case.holds]
BOUNDS = RunBounds(seconds=1, memory=1_000_000_000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("secrets")
    (folder / "file.csv").write_text(f"secret\n{SECRET}\n")
    return folder


def people_and_cities():
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


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case.sql)[:60])
def test_the_process_holds_alone(case, folder):
    before = sorted(folder.iterdir())
    sql = case.sql.format(file=folder / "file.csv", folder=folder)
    try:
        reply = run(Checked(sql, DUCKDB, 10, (), (), exp.Select()), people_and_cities(), BOUNDS)
    except SqlStoppedError as error:
        held, said = "bound", str(error)
    except SqlFailedError as error:
        held, said = "engine", str(error)
    else:
        held, said = "nothing", repr(reply)
    assert (held, SECRET in said.replace(sql, "")) == (case.holds[DUCKDB], False), said
    assert sorted(folder.iterdir()) == before
    assert (folder / "file.csv").read_text() == f"secret\n{SECRET}\n"


def test_rows_come_as_arrow_of_the_types_that_they_have():
    table = ReadTable("odd", ("n", "price", "day", "at", "word"))
    columns = {
        "n": pa.array([2**40, None]),
        "price": [decimal.Decimal("1.10"), None],
        "day": [datetime.date(1999, 12, 31), None],
        "at": pa.array([datetime.datetime(2020, 1, 2, 3, 4, 5, 6), None]),
        "word": ["Zürich", None],
    }
    given = [Given(table, [pa.record_batch(columns)])]
    sql = "SELECT *, sum(n) OVER () AS total, INTERVAL 1 DAY AS odd FROM odd ORDER BY n"
    found, more = run_to_arrow(checked(sql, [table], "duckdb", 5), given)
    assert not more
    assert found.select(table.columns).to_pydict() == pa.table(columns).to_pydict()
    assert [str(one) for one in found.schema.types[-2:]] == ["int64", "string"]
    assert found.column("total").to_pylist() == [2**40, 2**40]


def test_arrow_is_bounded_in_rows_and_bytes_and_without_rows_has_its_columns():
    few = checked("SELECT n FROM numbers ORDER BY n", [NUMBERS], "duckdb", 3)
    found, more = run_to_arrow(few, numbers())
    assert (found.to_pydict(), more) == ({"n": [0, 1, 2]}, True)
    none = checked("SELECT n FROM numbers WHERE n < 0", [NUMBERS], "duckdb", 3)
    assert run_to_arrow(none, numbers())[0].schema.names == ["n"]
    large = checked("SELECT lpad('x', 999, 'x') AS x FROM numbers", [NUMBERS], "duckdb", 10_000)
    with pytest.raises(SqlStoppedError, match="1,000,000 bytes together"):
        run_to_arrow(large, numbers(10_000), RunBounds(result_bytes=1_000_000))


def test_what_asks_for_arrow_reaches_no_file_either(tmp_path):
    file = tmp_path / "out.parquet"
    for hostile in (f"COPY (SELECT 1 AS n) TO '{file}'", "SELECT * FROM '/etc/passwd'"):
        with pytest.raises(SqlFailedError):
            run_to_arrow(unchecked(hostile), numbers())
    assert not file.exists()


def test_a_table_whose_columns_are_put_below_each_other_fits():
    names = ("site", *(f"measure_{n}" for n in range(40)))
    table = ReadTable("t", names)
    rows = pa.RecordBatch.from_pydict({name: [str(len(name))] * 6 for name in names})
    parts = " UNION ALL ".join(f"SELECT site, {name} AS n FROM t" for name in names[1:])
    statement = checked(f"SELECT site, sum(n) FROM ({parts}) GROUP BY 1", [table], "duckdb", 5)
    given = Given(table, [rows], dict.fromkeys(names[1:], "BIGINT"))
    assert run(statement, [given]).rows == (("4", 6 * (10 * 9 + 30 * 10)),)
