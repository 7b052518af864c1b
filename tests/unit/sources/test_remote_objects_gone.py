"""What is said of an object in a store that is gone or replaced when it is read, or of its keys."""

from contextlib import closing

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pneuma_assets.core.errors import ConfigError, TableReadError
from pneuma_assets.core.sources.files.object_store import ObjectStorage
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.core.sources.files.storage import GONE
from pneuma_assets.core.sources.kinds.object_stores import GcsSourceConfig


@pytest.fixture
def folder(tmp_path):
    data = tmp_path / "bucket" / "data"
    data.mkdir(parents=True)
    pq.write_table(pa.table({"a": [1, 2]}), data / "columns.parquet")
    (data / "lines.csv").write_text("a,b\n1,2\n")
    return data


def test_an_object_that_is_gone_is_told_without_a_traceback(folder, tmp_path):
    def make():
        return fsspec.filesystem("dir", path=str(tmp_path), fs=fsspec.filesystem("file"))

    with closing(FileSource("s", ObjectStorage("far", "bucket/data", make))) as source:
        refs = source.list_tables().tables
        for ref in refs:
            (folder / ref.location.rpartition("/")[2]).unlink()
            with pytest.raises(TableReadError) as told:
                source.profile(ref)
            assert str(told.value) == f"{ref.location} cannot be read: {GONE}"
    assert len(refs) == 2


def test_a_key_file_that_is_not_there_is_told_and_sent_nowhere(tmp_path):
    source = GcsSourceConfig(name="lake", bucket="data")
    with pytest.raises(ConfigError, match=r"GOOGLE_APPLICATION_CREDENTIALS names .* is no file"):
        source.open({"GOOGLE_APPLICATION_CREDENTIALS": str(tmp_path / "key.json")})
    source.model_copy(update={"endpoint_url": "http://127.0.0.1:1"}).open({})
