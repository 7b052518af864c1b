import gc
import gzip
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.config.small_sections import LimitsConfig
from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources import bounds
from pneuma_assets.core.sources.files import text_reader, text_table
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.core.sources.files.text_table import LOSSY
from pneuma_assets.core.tables import RowMark
from pneuma_assets.core.text.encoding import decode, guess_encoding, transcode
from tests.support.lake_tables import only_table


@given(st.text(max_size=200))
def test_utf8_is_read_as_it_is(text: str):
    clean = text.removeprefix("\ufeff")
    if guess_encoding(clean.encode()) == "utf-8":
        assert decode(clean.encode()) == clean


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be", "latin-1", "cp1252"],
)
def test_encodings_become_the_same_text(encoding: str, tmp_path: Path):
    text = "nom,ville\nRené,Orléans\n" * 20_000
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(text.encode(encoding))
    transcode(source, target, guess_encoding(source.read_bytes()[:1000]), json_lines=False)
    assert target.read_text(encoding="utf-8") == text


@given(st.binary(max_size=300))
def test_any_bytes_decode(data: bytes):
    assert decode(data).encode("utf-8", "surrogatepass") is not None


def test_mixed_encodings_are_told_apart_byte_by_byte():
    assert decode("é".encode() + b" \xe9 \x80 \x81") == "é é € \x81"


@pytest.mark.parametrize("size", [1 << 20, (1 << 20) - 1, (1 << 20) + 1])
def test_characters_across_chunks_survive(size: int, tmp_path: Path):
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(b"x" * (size - 1) + "é表".encode() + b"\xe9")
    transcode(source, target, "utf-8", json_lines=False)
    assert target.read_text(encoding="utf-8") == "x" * (size - 1) + "é表é"


def test_lost_values_are_noted(lake, folder):
    (folder / "a.jsonl").write_text('{"a":1}\n{"a":2,"a":4}\n{"a":3}\n')
    assert lake.profile(only_table(lake)).notes == (LOSSY,)


def test_only_one_table_is_staged_at_a_time(lake, folder, tmp_path, monkeypatch):
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (folder / "a.csv").write_bytes("é\n1\n".encode("utf-16"))
    (folder / "b.csv").write_bytes(b"")
    good, bad = lake.list_tables().tables
    lake.profile(good)
    with pytest.raises(TableReadError, match="empty"):
        lake.profile(bad)
    left = {path.name.partition("-spill")[0] for path in (tmp_path / "scratch").iterdir()}
    assert left <= {"pneuma"}


class CountingStorage(FolderStorage):
    """Counts how often a file is made ready to be read."""

    placed = 0

    def place(self, *arguments: Any, **options: Any) -> str:
        self.placed += 1
        return super().place(*arguments, **options)


def test_one_reading_of_a_small_file_serves_profile_and_sample(tmp_path: Path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3,4\n")
    storage = CountingStorage(tmp_path)
    source = FileSource("s", storage)
    (ref,) = source.list_tables().tables
    source.profile(ref)
    assert [row.cells for row in source.sample(ref, 5, 0) or ()] == [("1", "2"), ("3", "4")]
    assert storage.placed == 1


def test_a_sample_that_is_asked_for_first_reads_a_table_once(lake, folder, monkeypatch):
    readings = []
    read = text_reader.read_text_table

    def counted(*given):
        readings.append(given)
        return read(*given)

    monkeypatch.setattr(text_table, "SMALL_BYTES", 0)
    monkeypatch.setattr(text_reader, "read_text_table", counted)
    (folder / "a.csv").write_text("a,b\n1,2\n3,4\n")
    assert lake.sample(only_table(lake), 1, 0, [RowMark(0, 7)])
    assert len(readings) == 1


def write_sparse(path: Path, rows: int, keys: int) -> None:
    path.write_text("".join(f'{{"k{i % keys}":{i % 7}}}\n' for i in range(rows)))


def write_partitions(folder: Path, rows: int) -> None:
    for part in range(20):
        (folder / f"p={part}").mkdir(parents=True)
        (folder / f"p={part}" / "a.csv").write_text("x,y\n" + f"{part},\n" * rows)


def write_wide(path: Path, columns: int) -> None:
    path.write_text(",".join(f"column {i}" for i in range(columns)) + "\n" + "," * (columns - 1))


@pytest.mark.parametrize(
    "write",
    [
        lambda lake: write_sparse(lake / "a.jsonl", 1000, 100),
        lambda lake: write_sparse(lake / "a.jsonl", 20_000, 300),
        lambda lake: write_partitions(lake / "table", 100),
        lambda lake: write_wide(lake / "a.csv", 400),
        lambda lake: (lake / "a.csv").write_text("a,b\n" + "some text,3\n" * 10_000),
    ],
    ids=["sparse", "very sparse", "partitions", "wide", "dense"],
)
def test_what_is_kept_takes_no_more_memory_than_is_said(lake, folder, write):
    write(folder)
    ref = only_table(lake)
    lake.profile(ref)
    lake.close()
    tracemalloc.start()
    lake.profile(ref)
    gc.collect()
    taken, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    memory = lake._reader(ref).memory
    said = memory._rows_size + memory._layout_size
    assert taken < 1.3 * said + 50_000
    assert said < 5 * taken
    assert most < 50_000_000


def test_few_layouts_of_wide_tables_are_kept(lake, folder, monkeypatch):
    monkeypatch.setattr(text_reader, "_LAYOUT_BYTES", 400_000)
    for name in "abcdef":
        write_wide(folder / f"{name}.csv", 200)
    for ref in lake.list_tables().tables:
        assert lake.profile(ref).row_count == 1
    assert 1 < len(lake._reader(ref).memory._tables) < 6


def test_a_sparse_table_is_sampled_as_any_other(lake, folder):
    write_sparse(folder / "a.jsonl", 5_000, 300)
    ref = only_table(lake)
    assert lake.profile(ref).row_count == 5_000
    rows = lake.sample(ref, 5, 0) or []
    assert [row.cells[row.mark.position % 300] for row in rows] == [
        str(row.mark.position % 7) for row in rows
    ]
    kept = [row.mark for row in rows]
    lake.profile(ref, kept)
    assert lake.sample(ref, 5, 0, kept) is None


def test_the_files_of_a_table_share_the_room_on_the_disk(lake, folder, monkeypatch):
    text = gzip.compress(("x,y\n" + "one,two\n" * 20_000).encode("utf-16"))
    for part in range(10):
        (folder / "t" / f"p={part}").mkdir(parents=True)
        (folder / "t" / f"p={part}" / "a.csv.gz").write_bytes(text)
    ref = only_table(lake)
    assert lake.profile(ref).row_count == 200_000
    monkeypatch.setattr(bounds._in_force, "limits", LimitsConfig(temporary_gigabytes=0.001))
    with pytest.raises(TableReadError, match=r"too much room.*limits\.temporary_gigabytes"):
        lake.profile(ref)


def test_rows_of_small_files_are_kept_while_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in "abcdef":
        (tmp_path / f"{name}.csv").write_text(f"x,y\n{name},2\n")
    storage = CountingStorage(tmp_path)
    source = FileSource("s", storage)
    refs = source.list_tables().tables
    monkeypatch.setattr(text_reader, "_ROWS_BYTES", 600)  # two tables
    for _ in range(2):
        storage.placed = 0
        for ref in refs:
            source.profile(ref)
        rows = [[row.cells for row in source.sample(ref, 5, 0) or ()] for ref in refs]
        assert rows == [[(name, "2")] for name in "abcdef"]
        assert 6 < storage.placed < 12
