"""Tables of more columns than fit a plan of several steps are read a part of these at a time."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import fastavro
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather, orc

from pneuma_assets.core.config.small_sections import LimitsConfig
from pneuma_assets.core.sources.bounds import MAX_COLUMNS
from pneuma_assets.core.sources.duckdb import relation
from pneuma_assets.core.sources.files import delimited, json_lines, text_layout, text_table
from pneuma_assets.core.sources.isolation.source import IsolatedSource
from pneuma_assets.core.sources.kinds.duckdb import DuckDBSourceConfig
from pneuma_assets.core.sources.kinds.folder import FolderSourceConfig

FORMATS = ["csv", "jsonl", "parquet", "arrow", "orc", "avro", "xlsx", "duckdb"]


def write(path: Path, width: int, rows: int) -> FolderSourceConfig | DuckDBSourceConfig:
    """Write a table of whole numbers, texts, and numbers with a decimal comma in turn."""
    kind = path.suffix[1:]
    names = [f"c{at}" for at in range(width)]
    cells = [[(row * at, f"x{row}", f"{row}{at},25")[at % 3] for at in range(width)]
             for row in range(rows)]  # fmt: skip
    table = {name: [row[at] for row in cells] for at, name in enumerate(names)}
    match kind:
        case "csv":
            path.write_text("".join(";".join(map(str, row)) + "\n" for row in [names, *cells]))
        case "jsonl":
            records = (dict(zip(names, row, strict=True)) for row in cells)
            path.write_text("".join(json.dumps(one) + "\n" for one in records))
        case "parquet":
            pq.write_table(pa.table(table), path, row_group_size=1000)
        case "arrow":
            feather.write_feather(pa.table(table), str(path))
        case "orc":
            orc.write_table(pa.table(table), path)
        case "avro":
            fields = [{"name": name, "type": ["long", "string"]} for name in names]
            schema = {"type": "record", "name": "r", "fields": fields}
            with path.open("wb") as file:
                fastavro.writer(file, schema, [dict(zip(names, r, strict=True)) for r in cells])
        case "xlsx":
            book = openpyxl.Workbook(write_only=True)
            sheet = book.create_sheet("s")
            for row in [names, *cells]:
                sheet.append(row)
            book.save(path)
        case "duckdb":
            with closing(duckdb.connect(path)) as db:
                db.register("given", pa.table(table))
                db.execute("CREATE TABLE t AS SELECT * FROM given")
            return DuckDBSourceConfig(name="s", path=path)
    return FolderSourceConfig(name="s", path=path.parent)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_table_is_read_alike_in_one_part_and_in_several(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(text_table, "SMALL_BYTES", 0)  # or text is kept in memory
    config = write(tmp_path / f"a.{kind}", 7, 3_000)
    found = []
    for most, few in ((7, 1), (3, 7 * 2_999), (3, 7 * 3_000)):
        for module in (relation, text_layout, json_lines, delimited):
            monkeypatch.setattr(module, "WIDE", most)
        monkeypatch.setattr(relation, "TERM_CELLS", few)
        with closing(config.open({})) as source:
            (ref,) = source.list_tables().tables
            table = source.profile(ref)
            rows = source.sample(ref, 9, 0)
            kept = [row.mark for row in rows]
            # Of text it is not looked up where kept rows stand, and the same are drawn again.
            assert source.sample(ref, 9, 0, kept) in (None, rows)
            drawn = [(row.mark.position, row.cells) for row in rows]
            found.append((table.columns, table.row_count, drawn, source.evidence(ref, 0)))
            assert source.sample(ref, 0, 0) == []
    assert found[0] == found[1] == found[2]
    assert len(found[0][2]) == 9
    assert found[0][3].sketch is not None


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_types_of_later_rows_count_in_a_long_table_of_several_parts(tmp_path, monkeypatch, kind):
    for module in (relation, text_layout, json_lines, delimited):
        monkeypatch.setattr(module, "WIDE", 2)
    config = write(tmp_path / f"a.{kind}", 4, 21_000)
    with (tmp_path / f"a.{kind}").open("a") as file:
        file.write("x;y;1,5;z\n" if kind == "csv" else '{"c0": "x", "c1": "y", "c3": "z"}\n')
    with closing(config.open({})) as source:
        (ref,) = source.list_tables().tables
        table = source.profile(ref)
    assert table.row_count == 21_001
    kinds = [column.type for column in table.columns]
    assert kinds[0] == kinds[3] == ("VARCHAR" if kind == "csv" else "JSON")


def test_a_table_of_several_parts_without_names_or_values_is_refused_still(tmp_path, monkeypatch):
    monkeypatch.setattr(text_table, "SMALL_BYTES", 0)
    monkeypatch.setattr(text_layout, "WIDE", 2)
    config = FolderSourceConfig(name="s", path=tmp_path)
    for last, columns in (("7", 5), ("", None)):
        (tmp_path / "a.csv").write_text(f";;;;\n;;;;{last}\n;;;;\n")
        with closing(config.open({})) as source:
            (ref,) = source.list_tables().tables
            if columns:
                assert len(source.profile(ref).columns) == columns
            else:
                with pytest.raises(Exception, match="neither column names nor values"):
                    source.profile(ref)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [3, 300])
@pytest.mark.parametrize("kind", FORMATS)
def test_as_many_columns_as_are_promised_fit_the_default_memory(tmp_path, kind, rows):
    config = write(tmp_path / f"a.{kind}", MAX_COLUMNS, rows)
    with closing(IsolatedSource(config, {}, LimitsConfig(seconds_per_table=2400))) as source:
        (ref,) = source.list_tables().tables
        table = source.profile(ref)
        assert (len(table.columns), table.row_count) == (MAX_COLUMNS, rows)
        drawn = source.sample(ref, 3, 0)
        assert [len(row.cells) for row in drawn] == [MAX_COLUMNS] * 3
        if rows == 3:  # of more, the values of sampled rows may have to do
            assert len(source.evidence(ref, 0).terms.rows) > 0


@pytest.mark.slow
def test_a_sqlite_table_of_the_most_columns_fits(tmp_path):
    width = 2_000  # what SQLite has at most
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as db, db:
        db.execute(f"CREATE TABLE t ({', '.join(f'c{at}' for at in range(width))})")
        for row in range(300):
            values = ", ".join(f"'cell {row} {at}'" for at in range(width))
            db.execute(f"INSERT INTO t VALUES ({values})")
    config = FolderSourceConfig(name="s", path=tmp_path)
    with closing(IsolatedSource(config, {}, LimitsConfig(seconds_per_table=2400))) as source:
        (ref,) = source.list_tables().tables
        assert len(source.profile(ref).columns) == width
        assert len(source.sample(ref, 3, 0)) == 3
        assert len(source.evidence(ref, 0).terms.rows) > 0
