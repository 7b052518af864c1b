"""Whatever looks like a table is indexed, or named with the cause."""

import bz2
import gzip
import json
import lzma
import random

import openpyxl
import pyarrow as pa
import pytest

from pneuma_assets.core.errors import TableReadError
from tests.support.lake_tables import listed, rows_in

CSV = b"city,height\n" + b"".join(b"city%d,%d\n" % (i, i) for i in range(40))
ROWS = [{"city": f"city{i}", "height": i} for i in range(40)]


def through_arrow(name: str, data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, name) as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


PACKED = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: through_arrow("zstd", data),
    "lz4": lambda data: through_arrow("lz4", data),
}
LINES = "\n".join(map(json.dumps, ROWS)).encode()
ARRAY = json.dumps(ROWS).encode()
PRETTY = json.dumps(ROWS, indent=2).encode()


@pytest.mark.parametrize("extension", PACKED)
@pytest.mark.parametrize(
    ("name", "text"),
    [("a.csv", CSV), ("a.tsv", CSV.replace(b",", b"\t")), ("a.jsonl", LINES), ("a.json", ARRAY)],
)
def test_text_is_read_however_it_is_compressed(lake, folder, name, text, extension):
    (folder / f"{name}.{extension}").write_bytes(PACKED[extension](text))
    (ref,) = listed(lake).values()
    table = lake.profile(ref)
    assert [(c.name, c.type) for c in table.columns] == [("city", "VARCHAR"), ("height", "BIGINT")]
    assert table.row_count == 40
    assert ("city7", "7") in rows_in(lake, ref)


@pytest.mark.parametrize("extension", PACKED)
def test_what_is_cut_off_is_said_to_be(lake, folder, extension):
    packed = PACKED[extension](random.Random(0).randbytes(4000).hex().encode())
    (folder / f"a.csv.{extension}").write_bytes(packed[:-40])
    (folder / f"b.csv.{extension}").write_bytes(packed[:8] + b"\xff" * 99 + packed[107:])
    for ref in listed(lake).values():
        with pytest.raises(TableReadError, match="compressed data is cut off or damaged"):
            lake.profile(ref)


@pytest.mark.parametrize("extension", PACKED)
def test_no_later_part_of_a_packed_file_is_lost(lake, folder, extension):
    parts = PACKED[extension](CSV[:99]), PACKED[extension](CSV[99:])
    (folder / f"whole.csv.{extension}").write_bytes(b"".join(parts))
    (folder / f"damaged.csv.{extension}").write_bytes(parts[0] + b"\1" * 6 + parts[1][6:])
    refs = listed(lake)
    assert lake.profile(refs["lake/whole"]).row_count == 40
    with pytest.raises(TableReadError, match="compressed data is cut off or damaged"):
        lake.profile(refs["lake/damaged"])


def test_a_padded_xz_file_is_read_whole_or_not_at_all(lake, folder):
    (folder / "a.csv.xz").write_bytes(lzma.compress(CSV[:99]) + bytes(4) + lzma.compress(CSV[99:]))
    (ref,) = listed(lake).values()
    with pytest.raises(TableReadError, match="compressed data is cut off or damaged"):
        lake.profile(ref)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", ARRAY),
        ("a.json", PRETTY),
        ("a.JSON", b"\n " + PRETTY),
        ("a.json", b"\xef\xbb\xbf" + PRETTY),
        ("a.json", PRETTY.decode().encode("utf-16")),
        ("a.json", LINES),
        ("a.jsonl", PRETTY),
        ("t/day=1/rows.json", ARRAY),
    ],
)
def test_json_that_holds_rows_is_a_table(lake, folder, name, text):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(text)
    (ref,) = listed(lake).values()
    table = lake.profile(ref)
    assert [c.name for c in table.columns][:2] == ["city", "height"]
    assert table.row_count == 40
    assert ("city7", "7") in [row[:2] for row in rows_in(lake, ref)]
    assert sum(batch.num_rows for batch in lake.scan(ref)) == 40


@pytest.mark.parametrize(
    "files",
    [
        {"package.json": b'{"name": "x",\n "tables": [{"a": 1}]}'},
        {"a.json": b'{"name": "x"}'},
        {"metadata.json": ARRAY},
        {"a.json": b"no JSON at all"},
        {"a.json": b""},
    ],
)
def test_other_json_is_a_document_of_something(lake, folder, files):
    for name, text in files.items():
        (folder / name).write_bytes(text)
    listing = lake.list_tables()
    assert not listing.tables
    assert not listing.problems


def test_json_beside_a_table_of_its_name_is_its_document(lake, folder):
    (folder / "a.csv").write_bytes(CSV)
    (folder / "a.json").write_text(json.dumps([{"name": "city", "about": "Where people live."}]))
    (folder / "a.csv.json").write_text(json.dumps([{"about": "As of 2024."}]))
    (ref,) = listed(lake).values()
    texts = " ".join(lake.contexts(ref).texts)
    assert "Where people live." in texts
    assert "As of 2024." in texts


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        (".a.csv", "begins with a dot"),
        (".a.parquet", "begins with a dot"),
        (".csv", "begins with a dot"),
        ("a.csv.zip", "it ends in .zip: archives"),
        ("a.tar.gz", "it ends in .tar.gz: archives"),
        ("a.sav", "it ends in .sav: nothing here reads"),
        ("a.RData", "it ends in .rdata: nothing here reads"),
        ("a.duckdb", "source of type duckdb"),
        ("a.parquet.gz", "decompress it"),
        ("a.xlsx.zst", "decompress it"),
        ("a.json", "JSON array"),
    ],
)
def test_what_is_not_read_is_named(lake, folder, name, cause):
    (folder / "sub").mkdir()
    (folder / "sub" / name).write_bytes(b'["a", "b"]')
    listing = lake.list_tables()
    assert not listing.tables
    (problem,) = listing.problems
    assert problem.subject == f"{lake.name}/sub/{name}"
    assert cause in problem.cause


def test_a_kind_of_file_that_is_not_read_is_named_once(lake, folder):
    for number in range(9):
        (folder / f"{number}.sav").write_bytes(b"$FL2")
        (folder / f"{number}.zip").write_bytes(b"PK")
    causes = {p.subject: p.cause for p in lake.list_tables().problems}
    assert set(causes) == {f"{lake.name}/0.sav", f"{lake.name}/0.zip"}
    assert all(cause.endswith("(and so are 8 others left out)") for cause in causes.values())


@pytest.mark.parametrize(
    "name",
    [".git/a.csv", "._a.csv", ".~lock.a.csv#", ".a.csv.crc", ".DS_Store", "__MACOSX/a.csv",
     ".a.csv/b.csv", "a.csv.md5", "notes.pdf"],
)  # fmt: skip
def test_what_tools_leave_behind_is_not_named(lake, folder, name):
    (folder / "b.csv").write_bytes(CSV)
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"x")
    listing = lake.list_tables()
    assert len(listing.tables) == 1
    assert not listing.problems


def test_an_empty_sheet_says_that_it_is(lake, folder):
    book = openpyxl.Workbook()
    book.active.append(["a"])
    book.active.append([1])
    book.create_sheet("nothing")
    book.save(folder / "b.xlsx")
    refs = {ref.location.partition("#")[2]: ref for ref in listed(lake).values()}
    assert set(refs) == {"Sheet", "nothing"}
    with pytest.raises(TableReadError, match="the sheet is empty"):
        lake.profile(refs["nothing"])
