"""How others know a table, as each kind of source says it."""

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import duckdb
import pytest

from pneuma_assets.core.config.sources import TableAddress
from pneuma_assets.core.sources.kinds.duckdb import DuckDBSourceConfig
from pneuma_assets.core.sources.kinds.folder import FolderSourceConfig
from pneuma_assets.core.sources.kinds.object_stores import (
    AzureSourceConfig,
    GcsSourceConfig,
    S3SourceConfig,
)
from pneuma_assets.core.sources.names import unescape
from tests.support.sqlite_source import SQLiteSourceConfig


def addresses(config) -> dict[str, TableAddress]:
    """Those of all its tables, by id."""
    return {
        ref.table_id: config.address_of(ref.table_id, ref.location, ref.format)
        for ref in config.open({}).list_tables().tables
    }


def test_a_file_is_known_by_its_path(tmp_path):
    for name in ("plain.csv", "with space.parquet", "100%.tsv"):
        (tmp_path / name).touch()
    (tmp_path / "part" / "day=1").mkdir(parents=True)
    (tmp_path / "part" / "day=1" / "a.parquet").touch()
    found = addresses(FolderSourceConfig(name="lake", path=tmp_path))
    assert found["lake/plain"] == TableAddress(
        f"{tmp_path}/plain.csv", (tmp_path / "plain.csv").as_uri(), ("csv",)
    )
    assert found["lake/with space"].uri == f"file://{tmp_path}/with%20space.parquet"
    assert found["lake/100%25"].uri == f"file://{tmp_path}/100%25.tsv"
    assert found["lake/part"].name == f"{tmp_path}/part/"


def test_a_table_of_duckdb_is_known_as_duckdb_names_it(tmp_path):
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE SCHEMA sales; CREATE TABLE sales.orders (a INT)")
        connection.execute('CREATE VIEW "a/b" AS SELECT 1 AS x')
    found = addresses(DuckDBSourceConfig(name="warehouse", path=path))
    assert found["warehouse/sales/orders"] == TableAddress(
        "shop.sales.orders", f"{path.as_uri()}#sales.orders", ("duckdb",)
    )
    assert found["warehouse/main/a%2Fb"] == TableAddress(
        "shop.main.a/b", f"{path.as_uri()}#main.a%2Fb", ("duckdb", "view")
    )


@pytest.mark.parametrize(
    "file",
    [
        *("shop.duckdb", "shop", "shop.v2.duckdb", ".shop.db", "..two.db", "a..b", "..."),
        *("temp.duckdb", "TEMP.db", "Main.db", "system", "memory.db", "main_db.db"),
        *("a b.db", "été.db", "a?b.db", "?x.db", "main.?", "a#b.db", "a%20b.db", "  .db"),
    ],
)
def test_a_database_is_named_as_duckdb_itself_names_it(tmp_path, file):
    path = tmp_path / "in.a.folder" / file
    path.parent.mkdir()
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (a INT)")
        query = "SELECT database_name || '.main.t' FROM duckdb_tables()"
        (named,) = connection.execute(query).fetchone()
    (found,) = addresses(DuckDBSourceConfig(name="warehouse", path=path)).values()
    assert unescape(found.name) == named


@pytest.mark.parametrize("prefix", ["", "tables/"])
def test_an_object_is_known_by_its_address(prefix):
    config = S3SourceConfig(name="s3", bucket="data", prefix=prefix)
    found = config.address_of("s3/a", f"s3://data/{prefix}a.parquet", "parquet")
    assert found == TableAddress(
        f"data/{prefix}a.parquet", f"s3://data/{prefix}a.parquet", ("s3", "parquet")
    )


def test_a_kind_of_another_package_need_say_nothing(tmp_path):
    path = Path(tmp_path / "a.sqlite")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (a)")
    found = addresses(SQLiteSourceConfig(name="lite", path=path))
    assert found == {"lite/t": TableAddress("lite.t", None, ("sqlite", "table"))}


BUCKETS = {
    "s3://data": partial(S3SourceConfig, bucket="data"),
    "gs://data": partial(GcsSourceConfig, bucket="data"),
    "abfss://data@company.dfs.core.windows.net": partial(
        AzureSourceConfig, account="company", container="data"
    ),
}


@pytest.mark.parametrize("prefix", ["in/", "in", "/in/"])
@pytest.mark.parametrize("bucket", BUCKETS)
def test_a_bucket_holds_what_it_lists_below_its_prefix(bucket, prefix):
    whole, part = BUCKETS[bucket](name="lake"), BUCKETS[bucket](name="lake", prefix=prefix)
    other = bucket.replace("data", "other")
    assert all(map(part.holds, (f"{bucket}/in/new.csv", f"{bucket}/in", f"{bucket}/in/")))
    assert all(map(whole.holds, (bucket, f"{bucket}/", f"{bucket}/in/new.csv")))
    beside = [f"{bucket}/inside", f"{bucket}/inside/new.csv", f"{bucket}/out/new.csv", bucket]
    assert not any(map(part.holds, (*beside, f"{other}/in/new.csv", "in/new.csv")))
    assert not whole.holds(f"{bucket}2")


def test_a_folder_is_held_by_its_own_address(tmp_path):
    config = FolderSourceConfig(name="lake", path=tmp_path)
    assert all(map(config.holds, (str(tmp_path), tmp_path.as_uri(), f"{tmp_path}/a.csv")))
    assert not config.holds(f"{tmp_path}2")
