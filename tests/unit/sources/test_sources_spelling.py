"""Text tables are read whole, with their own header, every cell as the file spells it."""

import csv
import io
from pathlib import Path
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pneuma_assets.core.sources.base import UNALIGNED
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.core.tables import Table
from tests.support.lake_tables import only_table


def read(folder: Path, name: str, content: str) -> tuple[Table, list[tuple[str | None, ...]]]:
    """Write a file; return its profile and its rows."""
    (folder / name).write_text(content, encoding="utf-8", newline="")
    source = FileSource("s", FolderStorage(folder))
    (ref,) = source.list_tables().tables
    table = source.profile(ref)
    rows = [row.cells for row in source.sample(ref, 1000, 0) or ()]
    assert len(rows) == min(1000, table.row_count)
    source.close()
    reread = [row.cells for row in source.sample(ref, 1000, 0) or ()]
    assert reread == rows, "without the profile's memory"
    return table, rows


def types(table: Table) -> dict[str, str]:
    return {column.name: column.type for column in table.columns}


def test_cells_are_as_the_file_spells_them(tmp_path: Path):
    table, rows = read(
        tmp_path,
        "a.csv",
        "price,at,yes,day,code\n7,9:05,T,1/2/2024,007\n7.50,10:15:30,F,11/12/2024,1e3\n",
    )
    assert rows == [
        ("7", "9:05", "T", "1/2/2024", "007"),
        ("7.50", "10:15:30", "F", "11/12/2024", "1e3"),
    ]
    assert types(table)["price"] == "DOUBLE"


@pytest.mark.parametrize("spelling", ["NA", "N/A", "n/a", "NULL", "null", "None", "#N/A"])
def test_a_missing_number_makes_no_text(tmp_path: Path, spelling: str):
    table, rows = read(tmp_path, "a.csv", f"name,n\nx,1\ny,{spelling}\nz,2\n")
    assert types(table) == {"name": "VARCHAR", "n": "BIGINT"}
    assert rows[1] == ("y", spelling)


def test_a_column_may_be_called_like_a_missing_value(tmp_path: Path):
    table, rows = read(tmp_path, "a.csv", "NA,,b\n1,NA,3\n4,5,6\n")
    assert types(table) == {"NA": "BIGINT", "column1": "BIGINT", "b": "BIGINT"}
    assert rows[0] == ("1", "NA", "3")


def test_a_header_that_only_types_tell_from_the_rows(tmp_path: Path):
    table, rows = read(tmp_path, "a.csv", "id,day\n1,2024-01-01\n2,2024-01-02\n")
    assert types(table) == {"id": "BIGINT", "day": "DATE"}
    assert len(rows) == 2


SHORT = 'id,text,value\n1,x,10\n2,y\n3,"two\nlines, one ""cell""",30\n4\n'


def test_short_rows_beside_line_breaks_in_cells(tmp_path: Path):
    table, rows = read(tmp_path, "a.csv", SHORT)
    assert list(types(table)) == ["id", "text", "value"]
    assert rows == [
        ("1", "x", "10"),
        ("2", "y", None),
        ("3", 'two\nlines, one "cell"', "30"),
        ("4", None, None),
    ]
    assert table.notes == (UNALIGNED,)


def test_long_rows_beside_line_breaks_in_cells(tmp_path: Path):
    table, rows = read(tmp_path, "a.csv", SHORT + "5,a,50,extra,more\n")
    assert list(types(table)) == ["id", "text", "value", "column3", "column4"]
    assert rows[4] == ("5", "a", "50", "extra", "more")
    assert len(rows) == 5


def test_rows_that_grow_longer_late_keep_their_cells(tmp_path: Path):
    body = "".join(f"{i},x{i}\n" for i in range(30_000))
    table, _ = read(tmp_path, "a.csv", f'a,b\n{body}30000\n1,2,3\n1,2,3,"4\n4"\n')
    assert table.row_count == 30_003
    assert list(types(table)) == ["a", "b", "column2", "column3"]
    assert table.notes == (UNALIGNED,)


def test_quotes_that_come_late(tmp_path: Path):
    body = "".join(f"{i},x{i}\n" for i in range(30_000))
    quoted = '30000,"one, two"\n30001,"line\nbreak"\n30002,5" pipe\n'
    table, _ = read(tmp_path, "a.csv", f"a,b\n{body}{quoted}")
    assert (table.row_count, table.notes) == (30_003, ())
    assert types(table) == {"a": "BIGINT", "b": "VARCHAR"}


def test_types_are_those_of_all_rows(tmp_path: Path):
    body = "".join(f"{i},{i},2024-01-01,{i}\n" for i in range(30_000))
    table, _ = read(tmp_path, "a.csv", f"a,b,c,d\n{body}1,2.5,no day,NA\n")
    assert types(table) == {"a": "BIGINT", "b": "DOUBLE", "c": "VARCHAR", "d": "BIGINT"}


def test_days_are_checked_in_the_order_they_are_written(tmp_path: Path):
    body = "".join(f"{i},{i % 28 + 1}/{i % 12 + 1}/2024\n" for i in range(30_000))
    table, rows = read(tmp_path, "a.csv", f"a,b\n{body}")
    assert types(table) == {"a": "BIGINT", "b": "DATE"}
    assert all(row[1] == f"{int(row[0]) % 28 + 1}/{int(row[0]) % 12 + 1}/2024" for row in rows)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(tmp_path: Path, end: str):
    _, rows = read(tmp_path, "a.csv", end.join(["a,b", "1,2", "3,4", ""]))
    assert rows == [("1", "2"), ("3", "4")]


def test_json_numbers_and_strings_stay(tmp_path: Path):
    table, rows = read(
        tmp_path,
        "a.jsonl",
        '{"n":7,"s":"007","day":"1/2/2024","o":{"k":[1, 2.5]}}\n'
        '{"n":7.5,"s":"1e3","day":" 9:05","it\'s":true}\n',
    )
    assert types(table)["n"] == "DOUBLE"
    assert rows == [
        ("7", "007", "1/2/2024", '{"k":[1,2.5]}', None),
        ("7.5", "1e3", " 9:05", None, "true"),
    ]


def test_json_names_that_differ_in_case_only(tmp_path: Path):
    table, rows = read(tmp_path, "a.jsonl", '{"a":1,"A":"x"}\n{"a":2,"A":"y"}\n')
    assert len(table.columns) == 2
    assert rows == [("1", "x"), ("2", "y")]


def test_partitions_keep_spelling_and_columns(lake, folder):
    for part, content in (
        ("m=01/k=a b", "x,y\n7,1\n"),
        ("m=02/k=__HIVE_DEFAULT_PARTITION__", "y,z\n2.50,q\n"),
        ("m=02/k=c%2Fd", "x,y\n7.0,NA\n8,9\n"),
    ):
        (folder / "t" / part).mkdir(parents=True)
        (folder / "t" / part / "p.csv").write_text(content)
    ref = only_table(lake)
    table = lake.profile(ref)
    assert types(table) == {
        "x": "DOUBLE", "y": "DOUBLE", "z": "VARCHAR", "m": "VARCHAR", "k": "VARCHAR",
    }  # fmt: skip
    expected = [
        ("7", "1", None, "01", "a b"),
        (None, "2.50", "q", "02", None),
        ("7.0", "NA", None, "02", "c/d"),
        ("8", "9", None, "02", "c/d"),
    ]
    assert [row.cells for row in lake.sample(ref, 9, 0) or ()] == expected
    lake.close()
    assert [row.cells for row in lake.sample(ref, 9, 0) or ()] == expected
    scanned = [tuple(row.values()) for batch in lake.scan(ref) for row in batch.to_pylist()]
    assert scanned == expected


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_values_of_folders_have_a_type_only_where_no_spelling_is_lost(lake, folder, form):
    values = {
        "year": ["2023", "2024"], "zip": ["00139", "12139"], "day": ["2024-01-02", "20240103"],
        "at": ["2024-01-02", "__HIVE_DEFAULT_PARTITION__"], "n": ["-5", "1" * 30],
        "it's": ["1", "2"],
    }  # fmt: skip
    for row in zip(*values.values(), strict=True):
        parts = zip(map(quote, values), row, strict=True)
        place = folder.joinpath("t", *map("=".join, parts))
        place.mkdir(parents=True)
        table = pa.table({"v": [1]})
        write = pa_csv.write_csv if form == "csv" else pq.write_table
        write(table, place / f"p.{form}")
    ref = only_table(lake)
    table = lake.profile(ref)
    kinds = {"year": "BIGINT", "zip": "VARCHAR", "day": "VARCHAR", "at": "DATE", "n": "VARCHAR"}
    found = {unquote(unquote(name)): kind for name, kind in types(table).items()}
    odd = "BIGINT" if form == "csv" else "VARCHAR"
    assert found == {"v": "BIGINT", **kinds, "it's": odd}
    places = {unquote(unquote(column.name)): at for at, column in enumerate(table.columns)}
    rows = [row.cells for row in lake.sample(ref, 9, 0)]
    for name, spelled in values.items():
        cells = [row[places[name]] for row in rows]
        assert cells == [None if one.startswith("__") else one for one in spelled], name


CELLS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]) | st.just("\n"),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(), CELLS, CELLS), min_size=2, max_size=30))
def test_what_a_csv_writer_writes_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, str, str]]
):
    """With every cell quoted, nothing can be taken for anything else."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerows([("id", "first", "second"), *rows])
    table, found = read(tmp_path_factory.mktemp("csv"), "a.csv", text.getvalue())
    assert [column.name for column in table.columns] == ["id", "first", "second"]
    assert [tuple(cell or "" for cell in row) for row in found] == [
        (str(number), first, second) for number, first, second in rows
    ]
