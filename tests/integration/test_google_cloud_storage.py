"""A bucket of Google Cloud Storage, on a server that speaks its protocol over HTTP."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from gcp_storage_emulator.server import create_server
from gcsfs.core import GCSFileSystem

from pneuma_assets.core.errors import ConfigError, SourceError, TableReadError
from pneuma_assets.core.sources.kinds.object_stores import GcsSourceConfig
from tests.support.lake_tables import listed, rows_in

pytestmark = pytest.mark.integration

PEOPLE = pa.table({"name": ["ann", "bob", "cy"], "age": [1, 2, 3]})
ROOT = "lake/in/x"


class Bucket:
    """A bucket, and a source of the tables under a prefix of it."""

    def __init__(self, server) -> None:
        self.server = server
        self.endpoint = f"http://127.0.0.1:{server._api._httpd.server_address[1]}"
        self._files = GCSFileSystem(
            endpoint_url=self.endpoint, project="p", token="anon", skip_instance_cache=True
        )
        self.config = GcsSourceConfig(
            name="g", bucket="lake", prefix="in/x", endpoint_url=self.endpoint
        )

    def put(self, name: str, body: bytes) -> None:
        self._files.pipe_file(f"{ROOT}/{name}", body)

    def put_folder(self, folder) -> None:
        for file in (one for one in folder.rglob("*") if one.is_file()):
            self.put(str(file.relative_to(folder.parent)), file.read_bytes())

    def remove(self, name: str) -> None:
        self._files.rm(f"{ROOT}/{name}")

    def open(self, **changed):
        return self.config.model_copy(update=changed).open({})


@pytest.fixture
def bucket():
    server = create_server("127.0.0.1", 0, in_memory=True, default_bucket="lake")
    server.start()
    yield Bucket(server)
    server.stop()


def test_tables_are_listed_read_and_seen_to_change(bucket, tmp_path):
    pq.write_table(PEOPLE, tmp_path / "people.parquet")
    write_deltalake(tmp_path / "delta", PEOPLE)
    bucket.put("people.parquet", (tmp_path / "people.parquet").read_bytes())
    bucket.put("é x.csv", b"name,age\nann,1\n")
    bucket.put("é x.md", b"Who is how old.")
    bucket.put_folder(tmp_path / "delta")
    source = bucket.open()
    refs = listed(source)
    assert set(refs) == {"g/people", "g/é x", "g/delta"}
    assert refs["g/é x"].format == "csv"
    assert list(source.contexts(refs["g/é x"]).texts) == ["Who is how old."]
    for name in ("g/people", "g/delta"):
        assert source.profile(refs[name]).row_count == 3
        rows = sorted(tuple(sorted(row, reverse=True)) for row in rows_in(source, refs[name]))
        assert rows == [("ann", "1"), ("bob", "2"), ("cy", "3")]
    again = listed(source)
    assert {i: one.version for i, one in again.items()} == {i: r.version for i, r in refs.items()}

    bucket.put("é x.csv", b"name,age\nann,1\nbob,2\n")
    write_deltalake(tmp_path / "delta", PEOPLE, mode="append")
    bucket.put_folder(tmp_path / "delta")
    bucket.remove("people.parquet")
    with pytest.raises(TableReadError, match="it is gone"):
        source.profile(refs["g/people"])
    now = listed(source)
    assert set(now) == {"g/é x", "g/delta"}
    assert all(one.version != refs[i].version for i, one in now.items())
    assert source.profile(now["g/delta"]).row_count == 6


def test_what_cannot_be_listed_is_an_error_that_says_what_to_check(bucket):
    with pytest.raises(SourceError, match="bucket"):
        bucket.open(bucket="not-there").list_tables()
    with pytest.raises(ConfigError, match="which is no file"):
        bucket.config.open({"GOOGLE_APPLICATION_CREDENTIALS": "/nowhere.json"})
    assert listed(bucket.open()) == {}
