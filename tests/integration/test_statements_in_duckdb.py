"""Checked statements in DuckDB: what they give, and the bounds at which they end."""

import datetime
import decimal
import math
import subprocess
import time

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlglot import exp

from pneuma_assets.core.answers.guard import checked
from pneuma_assets.core.answers.run_duckdb import Given, RunBounds, run
from pneuma_assets.core.answers.statements import Checked, ReadTable
from pneuma_assets.core.errors import SqlFailedError, SqlStoppedError, TableChangedError
from pneuma_assets.core.sources.base import StatementRows

pytestmark = pytest.mark.integration

NUMBERS = ReadTable("numbers", ("n",))


def numbers(rows=10):
    starts = range(0, rows, 1_000)
    batches = (pa.record_batch({"n": range(at, min(at + 1_000, rows))}) for at in starts)
    return [Given(NUMBERS, batches)]


def unchecked(sql):
    return Checked(sql, "duckdb", 10, (), (), exp.Select())


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


def test_a_table_without_rows_has_its_columns():
    found = run(checked("SELECT count(n) FROM numbers", [NUMBERS], "duckdb", 3), numbers(0))
    assert found.rows == ((0,),)


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


def test_a_path_that_duckdb_is_allowed_could_be_written_so_none_is(tmp_path):
    """Why rows are handed to DuckDB, and no file is opened by its setting `allowed_paths`."""
    file = tmp_path / "numbers.parquet"
    pq.write_table(pa.table({"n": range(1_000)}), file)
    connection = duckdb.connect()
    connection.execute(f"SET allowed_paths = ['{file}']")
    connection.execute("SET enable_external_access = false")
    connection.execute(f"COPY (SELECT 1 AS n) TO '{file}' (FORMAT parquet, USE_TMP_FILE false)")
    connection.close()
    assert pq.read_table(file).num_rows == 1


@pytest.mark.parametrize(
    ("sql", "bounds", "said"),
    [
        ("SELECT count(*) FROM numbers a, numbers b, numbers c", RunBounds(seconds=1), "1 s"),
        ("SELECT list(n) FROM numbers", RunBounds(result_bytes=1_000), "1,000 bytes together"),
        ("SELECT n FROM numbers", RunBounds(input_bytes=20_000), "more than 20,000 bytes"),
        ("SELECT repeat('x', 3000000000)", RunBounds(memory=500_000_000), "too much"),
    ],
)
def test_a_statement_ends_at_a_bound(sql, bounds, said):
    with pytest.raises(SqlStoppedError, match=said):
        run(unchecked(sql), numbers(10_000), bounds)


def test_fields_and_arrows():
    table = ReadTable("events", ("data", "who"))
    rows = pa.record_batch({"data": ['{"a": {"b": 3}}'], "who": [{"name": "ann"}]})
    sql = "SELECT data -> 'a' ->> 'b', who.name, who FROM events"
    found = run(checked(sql, [table], "duckdb", 5), [Given(table, [rows])])
    assert found.rows == (("3", "ann", {"name": "ann"}),)


def test_nothing_of_this_process_is_seen_and_nothing_is_left(monkeypatch, tmp_path):
    started, original = [], subprocess.Popen

    def noted(*arguments, **options):
        started.append(options)
        return original(*arguments, **options)

    monkeypatch.setenv("PNEUMA_SECRET", "canary")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(subprocess, "Popen", noted)
    assert run(unchecked("SELECT n FROM numbers"), numbers(1)).rows == ((0,),)
    (options,) = started
    assert "canary" not in options["env"].values()
    assert options["cwd"] == "/"
    assert list(tmp_path.iterdir()) == []


def test_a_table_may_be_called_as_the_process_would_call_one():
    tables = [ReadTable(name, ("n",)) for name in ("Pneuma_1", "other", "pneuma_0")]
    given = [
        Given(table, [pa.record_batch({"n": [number]})]) for number, table in enumerate(tables)
    ]
    for number, table in enumerate(tables):
        found = run(checked(f'SELECT n FROM "{table.name}"', tables, "duckdb", 3), given)
        assert found.rows == ((number,),)


@pytest.mark.slow
def test_what_duckdb_does_not_interrupt_ends_in_time_too(monkeypatch):
    """`lpad` makes its text in one step, which takes several seconds."""
    began, original = [], subprocess.Popen.communicate
    monkeypatch.setattr(
        subprocess.Popen,
        "communicate",
        lambda self, **keys: began.append(time.monotonic()) or original(self, **keys),
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
    assert run(found, given) == StatementRows(
        ("n", "n"), ("string", "string"), (("", "Own"),), more=False
    )


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
    assert str(caught.value).endswith("indexed; run `pneuma-assets index`")


@pytest.mark.parametrize(
    ("tables", "rows"),
    [
        ("aa NATURAL JOIN bb NATURAL JOIN cc", [(1, 1), (2, 2)]),
        ("aa JOIN (bb JOIN cc ON bb.z = cc.z) ON aa.k = bb.k", [(1, 1), (2, 2)]),
    ],
)
def test_joins_of_several_tables(tables, rows):
    columns = {"aa": ("x", "k"), "bb": ("k", "z"), "cc": ("z", "y")}
    given = [
        Given(ReadTable(name, own), [pa.record_batch({column: [1, 2] for column in own})])
        for name, own in columns.items()
    ]
    statement = checked(f"SELECT x, y FROM {tables}", [one.table for one in given], "duckdb", 3)
    assert sorted(run(statement, given).rows) == rows


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
