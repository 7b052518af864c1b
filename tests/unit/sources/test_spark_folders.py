"""The folders that Spark writes are one table each, and none is read half written."""

import gzip
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pneuma_assets.core.errors import TableReadError
from tests.support.lake_tables import listed, only_table, rows_in, source_of_folder

ID = "1c8d7a60-93b1-4e3c-8f0a-2b7d5a9e4c11"


def part(number: int, end: str = "-c000.snappy.parquet") -> str:
    return f"part-{number:05}-{ID}{end}"


def write(folder, *numbers: int, succeeded: bool = True) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        pq.write_table(pa.table({"n": [number]}), folder / part(number))
    if succeeded:
        (folder / "_SUCCESS").touch()


@pytest.mark.parametrize("succeeded", [True, False])
def test_ten_part_files_are_one_table_named_as_the_folder(lake, folder, succeeded):
    write(folder / "shop" / "sales", *range(10), succeeded=succeeded)
    (folder / "shop" / "sales.md").write_text("What was sold.")
    ref = only_table(lake)
    assert (ref.table_id, ref.format) == ("lake/shop/sales", "parquet")
    assert rows_in(lake, ref) == [(str(n),) for n in range(10)]
    assert list(lake.contexts(ref).texts) == ["What was sold."]


@pytest.mark.parametrize(
    ("end", "content"),
    [
        ("-c000.csv", b"n,a\n{n},x\n"),
        ("-c000.csv.gz", b"n,a\n{n},x\n"),
        ("-c000.json", b'{"n": {n}, "a": "x"}\n'),
        (".c000.json.gz", b'{"n": {n}, "a": "x"}\n'),
    ],
)
def test_text_in_part_files(lake, folder, end, content):
    (folder / "t").mkdir()
    for number in range(3):
        data = content.replace(b"{n}", b"%d" % number)
        data = gzip.compress(data) if end.endswith(".gz") else data
        (folder / "t" / part(number, end)).write_bytes(data)
    ref = only_table(lake)
    assert ref.table_id == "lake/t"
    assert rows_in(lake, ref) == [(str(n), "x") for n in range(3)]


def test_partition_folders_inside(lake, folder):
    write(folder / "t" / "day=1", 1, 2, succeeded=False)
    write(folder / "t" / "day=2", 3, succeeded=False)
    (folder / "t" / "_SUCCESS").touch()
    (folder / "t" / "_committed_123").write_text("{}")
    ref = only_table(lake)
    assert ref.table_id == "lake/t"
    assert rows_in(lake, ref) == [("1", "1"), ("2", "1"), ("3", "2")]


def test_a_job_that_is_writing_is_waited_for(lake, folder):
    folder = folder / "t"
    write(folder.parent / "other", 1)
    (folder / "_temporary" / "0").mkdir(parents=True)
    (folder / "_temporary" / "0" / part(0)).touch()
    assert [ref.table_id for ref in lake.list_tables().tables] == ["lake/other"]
    write(folder, 0, 1, succeeded=False)
    listing = lake.list_tables()
    assert [ref.table_id for ref in listing.tables] == ["lake/other"]
    assert list(listing.unlisted) == ["lake/t"]
    assert "_SUCCESS" in listing.problems[0].cause
    shutil.rmtree(folder / "_temporary")
    (folder / "_SUCCESS").touch()
    assert set(listed(lake)) == {"lake/other", "lake/t"}


def test_a_table_that_is_overwritten_is_known_and_not_deleted(lake, folder):
    folder = folder / "t"
    write(folder, 1)
    ref = only_table(lake)
    known = {(ref.location, ref.format): "lake/t~2"}
    (folder / "_SUCCESS").unlink()
    (folder / part(1)).unlink()
    (folder / "_temporary").mkdir()
    (folder / "_temporary" / "0").touch()
    listing = lake.list_tables(known)
    assert list(listing.tables) == []
    assert "lake/t~2" in listing.unlisted
    with pytest.raises(TableReadError, match="a job is writing it"):
        lake.profile(ref)


def test_an_append_leaves_what_was_there(lake, folder):
    write(folder / "t", 1, 2)
    (folder / "t" / "_temporary" / "0").mkdir(parents=True)
    (folder / "t" / "_temporary" / "0" / part(3)).write_text("half")
    assert rows_in(lake, only_table(lake)) == [("1",), ("2",)]


def test_files_of_a_job_that_has_not_committed_are_no_part(lake, folder):
    folder = folder / "t"
    folder.mkdir()
    for number, job in enumerate(("111", "222")):
        name = f"part-0000{number}-tid-{job}-{ID}-1-1-c000.snappy.parquet"
        pq.write_table(pa.table({"n": [number]}), folder / name)
        (folder / f"_started_{job}").touch()
    (folder / "_committed_111").write_text("{}")
    assert rows_in(lake, only_table(lake)) == [("0",)]
    (folder / "_committed_222").write_text("{}")
    assert rows_in(lake, only_table(lake)) == [("0",), ("1",)]


@pytest.mark.parametrize(
    ("names", "ids"),
    [
        (["part.0.parquet", "part.1.parquet", "_SUCCESS"], ["lake/t"]),
        (["000000_0.parquet", "000001_0.parquet", "_SUCCESS"], ["lake/t"]),
        (["people.parquet", "sales.parquet", "_SUCCESS"], ["lake/t/people", "lake/t/sales"]),
        (["part-1.parquet", "part-2.parquet"], ["lake/t/part-1", "lake/t/part-2"]),
        (["part-00000-of-00002.parquet"], ["lake/t/part-00000-of-00002"]),
    ],
)
def test_other_files_are_tables_as_they_were(lake, folder, names, ids):
    (folder / "t").mkdir()
    for name in names:
        pq.write_table(pa.table({"n": [1]}), folder / "t" / name)
    assert sorted(listed(lake)) == ids


def test_the_same_numbers_of_jobs_in_the_root_of_a_source(folder):
    write(folder / "t", 1, 2)
    source = source_of_folder(folder / "t")
    assert only_table(source).table_id == "lake/lake"
    assert rows_in(source, only_table(source)) == [("1",), ("2",)]


def test_a_temporary_folder_beside_plain_files_is_nobodys(lake, folder):
    (folder / "_temporary").mkdir()
    (folder / "_temporary" / "x.csv").write_text("a,b\n1,2\n")
    (folder / "a.csv").write_text("a,b\n1,2\n")
    assert set(listed(lake)) == {"lake/a"}
