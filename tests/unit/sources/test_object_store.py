"""Objects of a store: threads that read one file, what is gone, and keys that are not there."""

import io
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem

from pneuma_assets.core.errors import ConfigError, TableReadError
from pneuma_assets.core.sources.files.object_store import ObjectStorage, SharedHandle
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.core.sources.files.storage import GONE
from pneuma_assets.core.sources.kinds.object_stores import GcsSourceConfig

ROWS = 60_000


def test_a_thread_reads_on_where_it_was_though_another_moved():
    handle = SharedHandle(lambda: io.BytesIO(bytes(range(100))))
    handle.seek(10)
    with ThreadPoolExecutor(1) as other:
        assert other.submit(handle.read, 3).result() == bytes([0, 1, 2])
        assert handle.read(2) == bytes([10, 11])
        assert other.submit(handle.read, 2).result() == bytes([3, 4])
    assert handle.tell() == 12


@pytest.mark.parametrize(
    ("offset", "whence", "place"),
    [(7, io.SEEK_SET, 7), (7, io.SEEK_CUR, 12), (-4, io.SEEK_END, 96)],
)
def test_places_are_counted_as_in_any_file(offset, whence, place):
    handle = SharedHandle(lambda: io.BytesIO(bytes(range(100))))
    handle.seek(5)
    assert handle.seek(offset, whence) == place
    assert handle.read() == bytes(range(place, 100))
    assert handle.read(1) == b""


def test_what_is_closed_is_opened_for_no_other_thread():
    opened: list[io.BytesIO] = []

    def open_file():
        opened.append(io.BytesIO(b"abc"))
        return opened[-1]

    handle = SharedHandle(open_file)
    with ThreadPoolExecutor(1) as other:
        other.submit(handle.read, 1).result()
        handle.close()
        assert [one.closed for one in opened] == [True, True]
        with ThreadPoolExecutor(1) as later, pytest.raises(ValueError, match="closed"):
            later.submit(handle.read).result()
    assert len(opened) == 2


class SlowFile(io.FileIO):
    """A file in whose calls another thread gets its turn, as in those of a network."""

    def seek(self, *given):
        place = super().seek(*given)
        time.sleep(0.0005)
        return place


class SlowStore(LocalFileSystem):
    cachable = False

    def _open(self, path, *_, **__):
        return SlowFile(path)


def test_a_store_is_read_right_by_several_threads(tmp_path):
    """DuckDB reads this file wrongly where one place is kept for all of its threads."""
    table = pa.table({f"c{i}": [f"{row * 7919}-{i}" for row in range(ROWS)] for i in range(6)})
    (tmp_path / "bucket").mkdir()
    pq.write_table(table, tmp_path / "bucket" / "a.parquet", row_group_size=4_000)

    def make():
        return DirFileSystem(str(tmp_path), SlowStore())

    with closing(FileSource("s", ObjectStorage("slow", "bucket", make))) as source:
        [ref] = source.list_tables().tables
        for _ in range(2):
            assert pa.Table.from_batches(source.scan(ref)).equals(table)


def test_an_object_that_is_gone_is_told_without_a_traceback(tmp_path):
    data = tmp_path / "bucket" / "data"
    data.mkdir(parents=True)
    pq.write_table(pa.table({"a": [1, 2]}), data / "columns.parquet")
    (data / "lines.csv").write_text("a,b\n1,2\n")

    def make():
        return fsspec.filesystem("dir", path=str(tmp_path), fs=fsspec.filesystem("file"))

    with closing(FileSource("s", ObjectStorage("far", "bucket/data", make))) as source:
        refs = source.list_tables().tables
        for ref in refs:
            (data / ref.location.rpartition("/")[2]).unlink()
            with pytest.raises(TableReadError) as told:
                source.profile(ref)
            assert str(told.value) == f"{ref.location} cannot be read: {GONE}"
    assert len(refs) == 2


def test_a_key_file_that_is_not_there_is_told_and_sent_nowhere(tmp_path):
    source = GcsSourceConfig(name="lake", bucket="data")
    with pytest.raises(ConfigError, match=r"GOOGLE_APPLICATION_CREDENTIALS names .* is no file"):
        source.open({"GOOGLE_APPLICATION_CREDENTIALS": str(tmp_path / "key.json")})
    source.model_copy(update={"endpoint_url": "http://127.0.0.1:1"}).open({})
