import pytest

from pneuma_assets.core.sources.files.list import list_files
from pneuma_assets.core.sources.files.storage import FileEntry, Walk
from pneuma_assets.core.tables import TableRef


def build(*paths: str, version: str = "1") -> dict[str, TableRef]:
    entries = [FileEntry(path, version) for path in sorted(paths)]
    tables = list_files("s", Walk(entries), lambda path: path).tables
    assert len({table.table_id for table in tables}) == len(tables)
    return {table.table_id: table for table in tables}


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (("a.csv",), {"s/a": "a.csv"}),
        (("x/y/a.tsv",), {"s/x/y/a": "x/y/a.tsv"}),
        # The same stem: Parquet, CSV, TSV, JSON Lines keep it in this order, then by name.
        (("a.csv", "a.parquet"), {"s/a": "a.parquet", "s/a.csv": "a.csv"}),
        (("a.csv", "a.csv.gz"), {"s/a": "a.csv", "s/a.csv.gz": "a.csv.gz"}),
        (("a.CSV", "a.csv"), {"s/a": "a.CSV", "s/a.csv": "a.csv"}),
        (("a.jsonl", "a.tsv"), {"s/a": "a.tsv", "s/a.jsonl": "a.jsonl"}),
        (
            ("a.csv.csv", "a.csv", "a.pq"),
            {"s/a": "a.pq", "s/a.csv": "a.csv", "s/a.csv.csv": "a.csv.csv"},
        ),
        # Partitioned folders are one table, named by the folder that holds the partitions.
        (("t/y=1/a.csv", "t/y=2/b.csv"), {"s/t": "t/"}),
        (("t/y=1/m=1/a.csv", "t/y=1/m=2/a.csv"), {"s/t": "t/"}),
        (("y=1/a.csv",), {"s/s": "/"}),
        (("t.csv", "t/y=1/a.csv"), {"s/t": "t.csv", "s/t.csv": "t/"}),
        (("t/y=1/a.csv", "t/y=1/a.parquet"), {"s/t": "t/", "s/t.csv": "t/"}),
        (("t/y=1/a.csv", "t/plain.csv"), {"s/t": "t/", "s/t/plain": "t/plain.csv"}),
        (("readme.md", "a.json", "notes.txt"), {}),
    ],
)
def test_ids(paths: tuple[str, ...], expected: dict[str, str]):
    assert {key: ref.location for key, ref in build(*paths).items()} == expected


def test_a_table_keeps_its_long_id_when_its_neighbour_leaves():
    known = {("a.csv", "csv"): "s/a.csv", ("a.parquet", "parquet"): "s/a"}
    (ref,) = list_files("s", Walk([FileEntry("a.csv", "1")]), str, known).tables
    assert ref.table_id == "s/a.csv"


def test_a_successor_takes_over_the_id():
    (ref,) = list_files("s", Walk([FileEntry("a.pq", "1")]), str, {("a.csv", "csv"): "s/a"}).tables
    assert ref.table_id == "s/a"


@pytest.mark.parametrize(
    ("table", "documents", "expected"),
    [
        ("x/a.csv", ("x/a.md", "x/b.md", "a.md"), ("x/a.md",)),
        ("x/a.csv", ("x/a.HTML", "x/a.csv.txt"), ("x/a.csv.txt", "x/a.HTML")),
        ("x/a.csv", ("x/README.md", "README.md"), ("x/README.md",)),
        ("x/a.csv", ("x/a.json", "x/metadata.json"), ("x/a.json", "x/metadata.json")),
        (
            "x/t/y=1/p.csv",
            ("x/t.md", "x/README", "x/t/readme.txt"),
            ("x/t.md", "x/t/readme.txt", "x/README"),
        ),
    ],
)
def test_documents(table: str, documents: tuple[str, ...], expected: tuple[str, ...]):
    (ref,) = build(table, *documents).values()
    assert ref.context_locations == expected


@pytest.mark.parametrize("changed", ["t/y=1/a.csv", "t/y=2/a.csv", "t.md"])
def test_version_covers_every_file_and_document(changed: str):
    paths = ["t/y=1/a.csv", "t/y=2/a.csv", "t.md"]
    before = list_files("s", Walk([FileEntry(path, "1") for path in paths]), str).tables
    entries = [FileEntry(path, "2" if path == changed else "1") for path in paths]
    assert list_files("s", Walk(entries), str).tables[0].version != before[0].version
    entries = [FileEntry(path, "1") for path in reversed(paths)]
    assert list_files("s", Walk(entries), str).tables[0].version == before[0].version


def test_version_ignores_other_tables():
    one = list_files("s", Walk([FileEntry("a.csv", "1"), FileEntry("b.csv", "1")]), str).tables
    other = list_files("s", Walk([FileEntry("a.csv", "1"), FileEntry("b.csv", "2")]), str).tables
    assert one[0].version == other[0].version
    assert one[1].version != other[1].version


def identities(*entries: FileEntry) -> dict[str, str | None]:
    return {ref.table_id: ref.identity for ref in list_files("s", Walk(entries), str).tables}


def test_a_table_that_is_moved_keeps_its_identity():
    before = identities(FileEntry("a.csv", "1", identity="9-x"))
    after = identities(FileEntry("old/b.csv", "2", identity="9-x"))
    assert [*before.values()] == [*after.values()] == ["9-x"]


def test_a_table_of_many_files_is_identified_by_all_of_them():
    parts = [FileEntry(f"t/d={n}/a.csv", "1", identity=f"{n}") for n in range(3)]
    moved = [FileEntry(f"u/d={n}/{n}.csv", "1", identity=f"{n}") for n in range(3)]
    assert identities(*parts)["s/t"] == identities(*moved)["s/u"] is not None
    assert identities(*parts[:2])["s/t"] != identities(*parts)["s/t"]


def test_what_has_no_identity_is_never_half_identified():
    parts = [FileEntry("t/d=1/a.csv", "1", identity="1"), FileEntry("t/d=2/a.csv", "1")]
    assert identities(*parts) == {"s/t": None}
