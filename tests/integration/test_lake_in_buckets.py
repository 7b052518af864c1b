"""Lake formats in S3 (a real server, moto's) and through fsspec are what they are in a folder."""

from pathlib import Path

import fsspec
import openpyxl
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyiceberg.catalog.sql import SqlCatalog

from pneuma_assets.core.sources.files.object_store import ObjectStorage
from pneuma_assets.core.sources.files.s3 import S3FileSystem, connect
from pneuma_assets.core.sources.files.source import FileSource
from tests.support.lake_tables import listed, rows_in

pytestmark = pytest.mark.integration

PEOPLE = pa.table({"name": ["ann", "bob", "cy"], "age": [1, 2, 3]})
LEFT = [("ann", "1"), ("cy", "3")]


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("lake")
    write_deltalake(folder / "lake" / "shop" / "delta", PEOPLE, partition_by=["name"])
    DeltaTable(folder / "lake" / "shop" / "delta").delete("age = 2")
    catalog = SqlCatalog(
        "c", uri=f"sqlite:///{folder}/c.sqlite", warehouse=(folder / "lake").as_uri()
    )
    catalog.create_namespace("shop")
    table = catalog.create_table("shop.iced", PEOPLE.schema)
    table.append(PEOPLE)
    table.delete("age = 2")
    catalog.close()
    book = openpyxl.Workbook()
    for row in (["name", "age"], ["ann", 1], ["cy", 3]):
        book.active.append(row)
    book.save(folder / "lake" / "book.xlsx")
    return folder / "lake"


def check(source: FileSource) -> None:
    refs = listed(source)
    assert set(refs) == {"lake/shop/delta", "lake/shop/iced", "lake/book/Sheet"}
    for ref in refs.values():
        assert ref.identity
        rows = [tuple(sorted(row, reverse=True)) for row in rows_in(source, ref)]
        assert sorted(rows) == LEFT, ref.table_id
    source.close()


def test_in_s3(lake, s3_endpoint):
    client = connect(s3_endpoint, None, "key", "secret", None)
    client.create_bucket(Bucket="bucket")
    for file in filter(Path.is_file, lake.rglob("*")):
        key = f"data/{file.relative_to(lake)}"
        client.put_object(Bucket="bucket", Key=key, Body=file.read_bytes())
    check(FileSource("lake", ObjectStorage("s3", "bucket/data", lambda: S3FileSystem(client))))


def test_in_memory_through_fsspec(lake):
    files = fsspec.filesystem("memory")
    files.put(str(lake), "/bucket/data", recursive=True)
    try:
        storage = ObjectStorage("memory", "bucket/data", lambda: files)
        source = FileSource("lake", storage)
        refs = listed(source)
        assert set(refs) == {"lake/shop/delta", "lake/shop/iced", "lake/book/Sheet"}
        for ref in refs.values():
            rows = [tuple(sorted(row, reverse=True)) for row in rows_in(source, ref)]
            assert sorted(rows) == LEFT, ref.table_id
        source.close()
    finally:
        files.rm("/bucket", recursive=True)
