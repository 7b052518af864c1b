"""A folder of everything that goes wrong with table files, for any test that wants one."""

import gzip
import json
import os
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq


class Expected(NamedTuple):
    """What indexing must make of a file: a table of this shape, or a problem saying this."""

    columns: tuple[str, ...] | None = None
    rows: int | None = None
    problem: str | None = None


WIDE = tuple(f"c{i}" for i in range(2000))
GENES = tuple(f"V{i}" for i in range(2308))
ACCENTS = "nom,ville\nRené,Orléans\nZoë,Nîmes\n"
PEOPLE = b"name,age\nann,1\nbob,2\n"
PEOPLE_TABLE = Expected(("name", "age"), 2)
ACCENTS_TABLE = Expected(("nom", "ville"), 2)

_MANY = b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i % 977) for i in range(100_000))

TEXT_CASES: dict[str, tuple[bytes, Expected]] = {
    "empty.csv": (b"", Expected(problem="empty")),
    "empty_gz.csv.gz": (b"", Expected(problem="empty")),
    "empty_lines.jsonl": (b"\n\n", Expected(problem="empty")),
    "header_only.csv": (b"a,b,c\n", Expected(("a", "b", "c"), 0)),
    "no_header.csv": (b"1,2,3\n4,5,6\n", Expected(("column0", "column1", "column2"), 2)),
    "ragged.csv": (b"a,b,c\n1,2,3\n4,5\n6,7\n", Expected(("a", "b", "c"), 3)),
    "ragged_long.csv": (b"a,b\n1,2\n4,5,6\n7\n", Expected(("a", "b", "column2"), 3)),
    "duplicates.csv": (
        b"a,a,,A,\n1,2,3,4,5\n",
        Expected(("a", "a_1", "column2", "A_2", "column4"), 1),
    ),
    "wide.csv": (
        ",".join(WIDE).encode() + b"\n" + b",".join([b"1"] * 2000) + b"\n",
        Expected(WIDE, 1),
    ),
    "long_cells.csv": (
        b"a,b\n1," + b"x" * 1_000_000 + b"\n2," + b"y" * 3_000_000,
        Expected(("a", "b"), 2),
    ),
    "nul.csv": (b"a,b\n1,x\0y\n2,z\n", Expected(("a", "b"), 2)),
    "utf16.csv": (ACCENTS.encode("utf-16"), ACCENTS_TABLE),
    "utf16_unmarked.csv": (ACCENTS.encode("utf-16-le"), ACCENTS_TABLE),
    "latin1.csv": (ACCENTS.encode("latin-1"), ACCENTS_TABLE),
    "late_latin1.csv": (_MANY + "x,é\n".encode("latin-1"), Expected(("a", "b"), 100_001)),
    "bom.csv": (ACCENTS.encode("utf-8-sig"), ACCENTS_TABLE),
    "semicolons.csv": (b"a;b\n1,5;2\n2,5;3\n", Expected(("a", "b"), 2)),
    "tabs.tsv": (b"a\tb\n1,1\t2\n", Expected(("a", "b"), 1)),
    "commas.tsv": (PEOPLE, PEOPLE_TABLE),
    "returns.csv": (PEOPLE.replace(b"\n", b"\r"), PEOPLE_TABLE),
    "open_quote.csv": (b'a,b\n1,"never closed\n2,x\n3,y\n', Expected(("a", "b"), 3)),
    "late_type.csv": (_MANY + b"x,y\n", Expected(("a", "b"), 100_001)),
    "all_null.csv": (b"a,b\n,\n,\n", Expected(("a", "b"), 2)),
    "binary.csv": (bytes(range(256)) * 400, Expected(problem="binary")),
    "zipped.csv.gz": (gzip.compress(PEOPLE), PEOPLE_TABLE),
    "not_zipped.csv.gz": (PEOPLE, PEOPLE_TABLE),
    "cut_off.csv.gz": (gzip.compress(_MANY)[:-1000], Expected(problem="cut off")),
    "lines.jsonl": (b'{"name":"ann","age":1}\n{"name":"bob","age":2}\n', PEOPLE_TABLE),
    "lines_gz.ndjson.gz": (gzip.compress(b'{"name":"ann","age":1}\n' * 2), PEOPLE_TABLE),
    "lines_wide.jsonl": (json.dumps(dict.fromkeys(WIDE, 1)).encode() + b"\n", Expected(WIDE, 1)),
    "lines_latin1.jsonl": ('{"é":"à"}\n'.encode("latin-1"), Expected(("é",), 1)),
    "lines_nul.jsonl": (b'{"a":"x\0y\tz"}\n', Expected(("a",), 1)),
    "lines_late.jsonl": (b'{"a":1}\n' * 30_000 + b'{"a":"x"}\n', Expected(("a",), 30_001)),
    "lines_broken.jsonl": (b'{"a":1}\n{"a":\n{"a":3}\n', Expected(("a",), 2)),
    "lines_deep.jsonl": (b'{"a":' * 5000 + b"1" + b"}" * 5000, Expected(problem="recursion")),
    "utf32.csv": (PEOPLE.decode().encode("utf-32"), PEOPLE_TABLE),
    "only_bom.csv": (b"\xef\xbb\xbf", Expected(problem="byte order mark")),
    "sep_line.csv": (b"sep=;\nname;age\nann;1\nbob;2\n", PEOPLE_TABLE),
    "comments.csv": (b"# made by a tool\n# 2024\nname,age\nann,1\nbob,2\n", PEOPLE_TABLE),
    "notes_above.csv": (
        b"# Speed, of all\n#\n# Unit: km, h\n#\nname, age\nann, 1\nbob, 2\n",
        PEOPLE_TABLE,
    ),
    "hash_header.csv": (b"#name,age\nann,1\nbob,2\n", Expected(("#name", "age"), 2)),
    "genes.csv": (
        ",".join(GENES).encode() + b"\n" + (b",".join([b"-0.123456789"] * 2308) + b"\n") * 20,
        Expected(GENES, 20),
    ),
    "mixed_ends.csv": (b"name,age\r\nann,1\nbob,2\rcid,3\n", Expected(("name", "age"), 3)),
    "backslash.csv": (b'name,age\n"a\\"nn",1\n"bob",2\n', PEOPLE_TABLE),
    "injection.csv": (
        b'"x""; DROP TABLE t; --","\'); SELECT 1"\n1,2\n',
        Expected(('x"; DROP TABLE t; --', "'); SELECT 1"), 1),
    ),
    "formulas.csv": (b"name,age\n=cmd|'/C calc'!A0,1\n@SUM(1),2\n", PEOPLE_TABLE),
    "bidi.csv": ("na\u202eme,a\u200bge\nann,1\n".encode(), Expected(("na me", "a\u200bge"), 1)),
    "ansi.csv": (b"\x1b[31mname\x1b[0m,age\nann,1\n", Expected(("[31mname [0m", "age"), 1)),
    "tarred.csv.gz": (
        gzip.compress(b"people.csv".ljust(512, b"\0") + PEOPLE),
        Expected(problem="binary"),
    ),
    "double.csv.gz": (gzip.compress(gzip.compress(PEOPLE)), Expected(problem="binary")),
    "two_members.csv.gz": (gzip.compress(PEOPLE[:9]) + gzip.compress(PEOPLE[9:]), PEOPLE_TABLE),
    "junk_after.csv.gz": (gzip.compress(PEOPLE) + b"junk" * 9, Expected(problem="damaged")),
    "nan.jsonl": (b'{"name":NaN,"age":Infinity}\n{"name":1,"age":2}\n', PEOPLE_TABLE),
    "twice.jsonl": (b'{"a":1,"a":2}\n', Expected(("a",), 1)),
    "long_int.jsonl": (b'{"a":' + b"9" * 5000 + b"}\n", Expected(("a",), 1)),
    "surrogate.jsonl": (b'{"a":"\\ud800","\\udfff":1}\n', Expected(problem="none of its lines")),
    "empty_objects.jsonl": (b"{}\n{}\n", Expected(problem="none of its objects has a key")),
    "trailing.json": (b'[{"a":1},{"a":2},]', Expected(problem="Malformed JSON")),
    "mixed.json": (b'[{"a":1},[2],3]', Expected(("json",), 3)),
    "odd columns.csv": (b'"x\ny","q""q","a\0b"\n1,2,3\n', Expected(("x y", 'q"q', "a b"), 1)),
}
"""Content of each file, and what must become of it. Ids are the names without extensions."""

ODD_NAMES: dict[str, str] = {
    "it's.csv": "it's",
    'quote".csv': 'quote"',
    "line\nbreak.csv": "line%0Abreak",
    "naïve 表.csv": "naïve 表",
    "star*[ab]?{c}.csv": "star*[ab]?{c}",
    "100%.csv": "100%25",
    "trailing .csv": "trailing ",
    "$HOME;--.csv": "$HOME;--",
    os.fsdecode(b"caf\xe9.csv"): "caf%E9",
}
"""File names that are awkward, and the last part of their ids; all hold `PEOPLE`."""


def build_hostile_lake(folder: Path, source: str = "lake") -> dict[str, Expected]:
    """Write the lake; return what each table id must become."""
    folder.mkdir(parents=True, exist_ok=True)
    expected = {}
    for name, (content, outcome) in TEXT_CASES.items():
        (folder / name).write_bytes(content)
        expected[f"{source}/{name.removesuffix('.gz').rpartition('.')[0]}"] = outcome
    (folder / "odd").mkdir()
    for name, stem in ODD_NAMES.items():
        (folder / "odd" / name).write_bytes(PEOPLE)
        expected[f"{source}/odd/{stem}"] = PEOPLE_TABLE
    for write in (_write_parquet, _write_partitions, _write_no_files):
        written: dict[str, Expected] = write(folder)
        expected |= {f"{source}/{name}": outcome for name, outcome in written.items()}
    return expected


def _write_parquet(folder: Path) -> dict[str, Expected]:
    table = pa.table({"name": ["ann", "bob"], "age": [1, 2]})
    pq.write_table(table, folder / "good.parquet")
    whole = (folder / "good.parquet").read_bytes()
    (folder / "truncated.parquet").write_bytes(whole[: len(whole) // 2])
    (folder / "empty_parquet.parquet").write_bytes(b"")
    (folder / "text.parquet").write_bytes(PEOPLE)
    pq.write_table(table.slice(0, 0), folder / "no_rows.parquet")
    pq.write_table(pa.table({"a": pa.nulls(3)}), folder / "nulls.parquet")
    pq.write_table(
        pa.table({"s": pa.array([b"caf\xe9"]).cast(pa.string(), safe=False)}),
        folder / "not_utf8.parquet",
    )
    return {
        "good": PEOPLE_TABLE,
        "truncated": Expected(problem="truncated.parquet"),
        "empty_parquet": Expected(problem="empty_parquet.parquet"),
        "text": Expected(problem="text.parquet"),
        "no_rows": Expected(("name", "age"), 0),
        "nulls": Expected(("a",), 3),
        "not_utf8": Expected(("s",), 1),
    }


def _write_partitions(folder: Path) -> dict[str, Expected]:
    for year, content in (("2020", "a,b\n1,2\n"), ("20*1", "a,b\n3,4\n"), ("x y", "a,c\n5,6\n")):
        part = folder / "parted" / f"year={year}"
        part.mkdir(parents=True)
        (part / "part 0.csv").write_text(content)
    return {"parted": Expected(("a", "b", "c", "year"), 3)}


def _write_no_files(folder: Path) -> dict[str, Expected]:
    (folder / "folder.csv").mkdir()
    (folder / "full_folder.csv").mkdir()
    (folder / "full_folder.csv" / "inner.csv").write_bytes(PEOPLE)
    (folder / "loop").mkdir()
    (folder / "loop" / "back").symlink_to(folder / "loop")
    (folder / "loop" / "people.csv").write_bytes(PEOPLE)
    (folder / "self.csv").symlink_to(folder / "self.csv")
    (folder / "dangling.csv").symlink_to(folder / "nowhere.csv")
    os.mkfifo(folder / "pipe.csv")
    return {
        "folder.csv": Expected(problem="empty"),
        "full_folder.csv/inner": PEOPLE_TABLE,
        "loop/people": PEOPLE_TABLE,
        "self.csv": Expected(problem="link"),
        "dangling.csv": Expected(problem="link"),
        "pipe.csv": Expected(problem="pipe"),
    }
