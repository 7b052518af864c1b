"""An S3 source against a real HTTP server (moto's), and against none."""

import bz2
import socket
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from botocore.exceptions import ClientError

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.sections import PrivacyConfig
from pneuma_assets.core.errors import SourceError, TableReadError
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.sources.files import s3
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.core.sources.privacy.rules import Rules
from pneuma_assets.core.sources.privacy.source import PrivateSource
from pneuma_assets.core.tables import TableRef
from pneuma_assets.resources.lake import LakeS3Resource

pytestmark = pytest.mark.integration

PEOPLE = b"name,age\nann,1\nbob,2\n"


@pytest.fixture
def endpoint(s3_endpoint: str) -> str:
    return s3_endpoint


@pytest.fixture
def client(endpoint: str) -> Any:
    client = s3.connect(endpoint, None, "key", "secret", None)
    client.create_bucket(Bucket="lake")
    return client


def source_at(endpoint: str, prefix: str = "data", bucket: str = "lake") -> FileSource:
    config = {
        "type": "s3",
        "name": "s",
        "bucket": bucket,
        "prefix": prefix,
        "endpoint_url": endpoint,
    }
    environ = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
    (validated,) = Deployment.model_validate({"sources": [config]}).sources
    source = validated.open(environ)
    assert isinstance(source, FileSource)
    return source


def put(client: Any, key: str, body: bytes) -> None:
    client.put_object(Bucket="lake", Key=key, Body=body)


def test_csv_with_its_documents(client, endpoint):
    put(client, "data/hr/people*[1].csv", "name,age\nann,1\nbéa,2\n".encode("latin-1"))
    put(client, "data/hr/people*[1].md", b"Who works here.")
    put(client, "data/hr/README.md", b"Human resources.")
    put(client, "database/other.csv", PEOPLE)  # Shares the prefix's letters, not its folder.
    source = source_at(endpoint)
    listing = source.list_tables()
    assert [ref.table_id for ref in listing.tables] == ["s/hr/people*[1]"]
    (ref,) = listing.tables
    table = source.profile(ref)
    assert [(column.name, column.type) for column in table.columns] == [
        ("name", "VARCHAR"),
        ("age", "BIGINT"),
    ]
    assert table.row_count == 2
    assert drawn(source, ref, 5) == [("ann", "1"), ("béa", "2")]
    assert sum(batch.num_rows for batch in source.scan(ref)) == 2
    assert source.contexts(ref).texts == ["Who works here.", "Human resources."]


def test_parquet_is_read_by_ranges(client, endpoint, tmp_path):
    rows = 400_000
    numbers = pa.table({"i": range(rows), "text": [f"text {i * 7919 % rows}" for i in range(rows)]})
    pq.write_table(numbers, tmp_path / "n.parquet", row_group_size=20_000, compression="none")
    client.upload_file(str(tmp_path / "n.parquet"), "lake", "data/n.parquet")
    source = source_at(endpoint)
    (ref,) = source.list_tables().tables
    read = count_bytes(source)
    assert source.profile(ref).row_count == rows
    rows_drawn = drawn(source, ref, 3)
    assert [row[1] for row in rows_drawn] == [
        f"text {int(row[0]) * 7919 % rows}" for row in rows_drawn
    ]
    assert sum(read) < (tmp_path / "n.parquet").stat().st_size
    assert sum(batch.num_rows for batch in source.scan(ref)) == rows


def drawn(source: FileSource, ref: TableRef, rows: int) -> list[Row]:
    """Return the cells of a first sample."""
    return [row.cells for row in source.sample(ref, rows, 0) or ()]


def count_bytes(source: FileSource) -> list[int]:
    """Record the length of every answer to this source's client from now on."""
    read: list[int] = []
    client = source._desk.storage._files.client  # type: ignore[attr-defined]
    client.meta.events.register(
        "after-call.s3.GetObject", lambda parsed, **_: read.append(parsed["ContentLength"])
    )
    return read


def test_partitions_are_one_table(client, endpoint, tmp_path):
    for year, column in ((2020, "a"), (2021, "b")):
        pq.write_table(pa.table({"k": [year], column: ["x"]}), tmp_path / "p.parquet")
        client.upload_file(str(tmp_path / "p.parquet"), "lake", f"data/t/year={year}/p.parquet")
    source = source_at(endpoint)
    (ref,) = source.list_tables().tables
    assert ref.table_id == "s/t"
    table = source.profile(ref)
    assert [column.name for column in table.columns] == ["k", "a", "b", "year"]
    assert drawn(source, ref, 5) == [("2020", "x", None, "2020"), ("2021", None, "x", "2021")]


@pytest.mark.slow
def test_more_objects_than_one_page_holds(client, endpoint):
    for number in range(1005):
        put(client, f"data/t{number}.csv", b"")
    assert len(source_at(endpoint).list_tables().tables) == 1005


@pytest.mark.parametrize(("name", "body"), [("a.csv", PEOPLE), ("a.parquet", b"PAR1")])
def test_deleted_after_listing(client, endpoint, name, body):
    put(client, f"data/{name}", body)
    source = source_at(endpoint)
    (ref,) = source.list_tables().tables
    client.delete_object(Bucket="lake", Key=f"data/{name}")
    with pytest.raises(
        TableReadError, match=rf"s3://lake/data/{name} cannot be read.*404|deleted"
    ) as caught:
        source.profile(ref)
    assert "\n" not in str(caught.value)


def test_missing_bucket_is_one_line(endpoint):
    with pytest.raises(SourceError, match="NoSuchBucket; check the source's bucket"):
        source_at(endpoint, bucket="absent").list_tables()


def test_unreachable_server_is_one_line():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(SourceError, match="check endpoint_url") as caught:
        source_at(f"http://127.0.0.1:{port}").list_tables()
    assert "\n" not in str(caught.value)


def test_assets_of_people_reach_the_bucket_as_the_source_does(client, endpoint):
    put(client, "data/a.csv", PEOPLE)
    resource = LakeS3Resource(
        endpoint_url=endpoint, aws_access_key_id="key", aws_secret_access_key="secret"
    )
    theirs, ours = resource.get_client(), source_at(endpoint)._desk.storage._files.client  # type: ignore[attr-defined]
    assert theirs.get_object(Bucket="lake", Key="data/a.csv")["Body"].read() == PEOPLE
    for one in (theirs, ours):
        assert one.meta.endpoint_url == endpoint
        assert one.meta.config.connect_timeout == 3
        assert one.meta.config.retries["total_max_attempts"] == 3


def test_nothing_is_left_out_in_silence(client, endpoint):
    put(client, "data/a.csv.bz2", bz2.compress(PEOPLE))
    put(client, "data/b.json", b'[{"name": "ann", "age": 1}, {"name": "bob", "age": 2}]')
    put(client, "data/c.json", b'{"about": "this bucket"}')
    put(client, "data/.d.csv", PEOPLE)
    put(client, "data/.tool/e.csv", PEOPLE)
    put(client, "data/f.sav", b"$FL2")
    source = source_at(endpoint)
    listing = source.list_tables()
    assert {ref.table_id: source.profile(ref).row_count for ref in listing.tables} == {
        "s/a": 2,
        "s/b": 2,
    }
    assert {problem.subject for problem in listing.problems} == {"s/.d.csv", "s/f.sav"}


@pytest.mark.parametrize("hidden", [[], ["*ssn*"]])
def test_an_object_that_may_not_be_read_says_so_behind_rules_too(
    client, endpoint, hidden, monkeypatch
):
    put(client, "data/a.csv", PEOPLE)
    client = refusing(endpoint)
    monkeypatch.setattr(s3, "connect", lambda *_: client)
    source = PrivateSource(source_at(endpoint), Rules(PrivacyConfig(hidden_columns=hidden)))
    (ref,) = source.list_tables().tables
    with pytest.raises(TableReadError, match=r"AccessDenied; .*what these keys may do"):
        source.profile(ref)


def refusing(endpoint: str) -> Any:
    """Return a client whose keys may list and not read."""
    client: Any = s3.connect(endpoint, None, "key", "secret", None)

    def refuse(**_: object) -> None:
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "GetObject")

    for call in ("GetObject", "HeadObject"):
        client.meta.events.register(f"before-call.s3.{call}", refuse)
    return client
