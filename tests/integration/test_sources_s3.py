"""An S3 source against a real HTTP server (moto's), and against none."""

import socket
from contextlib import closing
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from botocore.exceptions import ClientError
from deltalake import DeltaTable, write_deltalake
from pyiceberg.catalog.sql import SqlCatalog

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.small_sections import PrivacyConfig
from pneuma_assets.core.errors import SourceError, TableReadError
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.sources.files import s3
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.core.sources.privacy.rules import Rules
from pneuma_assets.core.sources.privacy.source import PrivateSource
from pneuma_assets.core.tables import TableRef
from pneuma_assets.resources.source_storage import LakeS3Resource
from tests.support.lake_tables import listed, rows_in

pytestmark = pytest.mark.integration

PEOPLE = b"name,age\nann,1\nbob,2\n"


@pytest.fixture
def client(s3_endpoint: str) -> Any:
    client = s3.connect(s3_endpoint, None, "key", "secret", None)
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


def test_parquet_is_read_by_ranges(client, s3_endpoint, tmp_path):
    rows = 400_000
    numbers = pa.table({"i": range(rows), "text": [f"text {i * 7919 % rows}" for i in range(rows)]})
    pq.write_table(numbers, tmp_path / "n.parquet", row_group_size=20_000, compression="none")
    client.upload_file(str(tmp_path / "n.parquet"), "lake", "data/n.parquet")
    source = source_at(s3_endpoint)
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
    return [row.cells for row in source.sample(ref, rows, 0) or ()]


def count_bytes(source: FileSource) -> list[int]:
    """Record the length of every answer to this source's client from now on."""
    read: list[int] = []
    client = source.storage._files.client  # type: ignore[attr-defined]
    client.meta.events.register(
        "after-call.s3.GetObject", lambda parsed, **_: read.append(parsed["ContentLength"])
    )
    return read


@pytest.mark.parametrize(("name", "body"), [("a.csv", PEOPLE), ("a.parquet", b"PAR1")])
def test_deleted_after_listing(client, s3_endpoint, name, body):
    put(client, f"data/{name}", body)
    source = source_at(s3_endpoint)
    (ref,) = source.list_tables().tables
    client.delete_object(Bucket="lake", Key=f"data/{name}")
    with pytest.raises(
        TableReadError, match=rf"s3://lake/data/{name} cannot be read.*404|deleted"
    ) as caught:
        source.profile(ref)
    assert "\n" not in str(caught.value)


def test_what_cannot_be_reached_is_one_line(s3_endpoint):
    with pytest.raises(SourceError, match="NoSuchBucket; check the source's bucket"):
        source_at(s3_endpoint, bucket="absent").list_tables()
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(SourceError, match="check endpoint_url") as caught:
        source_at(f"http://127.0.0.1:{port}").list_tables()
    assert "\n" not in str(caught.value)


def test_assets_of_people_reach_the_bucket_as_the_source_does(client, s3_endpoint):
    put(client, "data/a.csv", PEOPLE)
    resource = LakeS3Resource(
        endpoint_url=s3_endpoint, aws_access_key_id="key", aws_secret_access_key="secret"
    )
    theirs, ours = resource.get_client(), source_at(s3_endpoint).storage._files.client  # type: ignore[attr-defined]
    assert theirs.get_object(Bucket="lake", Key="data/a.csv")["Body"].read() == PEOPLE
    for one in (theirs, ours):
        assert one.meta.endpoint_url == s3_endpoint
        assert one.meta.config.connect_timeout == 3
        assert one.meta.config.retries["total_max_attempts"] == 3


@pytest.mark.parametrize("hidden", [[], ["*ssn*"]])
def test_an_object_that_may_not_be_read_says_so_behind_rules_too(
    client, s3_endpoint, hidden, monkeypatch
):
    put(client, "data/a.csv", PEOPLE)
    client = refusing(s3_endpoint)
    monkeypatch.setattr(s3, "connect", lambda *_: client)
    source = PrivateSource(source_at(s3_endpoint), Rules(PrivacyConfig(hidden_columns=hidden)))
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


def test_lake_formats_are_what_they_are_in_a_folder(client, s3_endpoint, tmp_path):
    rows = pa.table({"name": ["ann", "bob", "cy"], "age": [1, 2, 3]})
    folder = tmp_path / "lake"
    write_deltalake(folder / "shop" / "delta", rows, partition_by=["name"])
    DeltaTable(folder / "shop" / "delta").delete("age = 2")
    uri = f"sqlite:///{tmp_path}/c.sqlite"
    with closing(SqlCatalog("c", uri=uri, warehouse=folder.as_uri())) as catalog:
        catalog.create_namespace("shop")
        iced = catalog.create_table("shop.iced", rows.schema)
        iced.append(rows)
        iced.delete("age = 2")
    book = openpyxl.Workbook()
    for row in (["name", "age"], ["ann", 1], ["cy", 3]):
        book.active.append(row)
    book.save(folder / "book.xlsx")
    for file in filter(Path.is_file, folder.rglob("*")):
        put(client, f"data/{file.relative_to(folder)}", file.read_bytes())
    source = source_at(s3_endpoint)
    refs = listed(source)
    assert set(refs) == {"s/shop/delta", "s/shop/iced", "s/book/Sheet"}
    for ref in refs.values():
        assert ref.identity
        cells = [tuple(sorted(row, reverse=True)) for row in rows_in(source, ref)]
        assert sorted(cells) == [("ann", "1"), ("cy", "3")], ref.table_id
    source.close()
