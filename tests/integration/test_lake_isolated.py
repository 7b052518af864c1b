"""Lake formats are read by the process that reads for a deployment, within its limits."""

import openpyxl
import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyiceberg.catalog.sql import SqlCatalog

from pneuma_assets.core.config.sections import LimitsConfig
from pneuma_assets.core.sources.isolation.source import IsolatedSource
from pneuma_assets.core.sources.kinds.folder import FolderSourceConfig
from pneuma_assets.core.sources.kinds.iceberg import IcebergSourceConfig

pytestmark = pytest.mark.integration

PEOPLE = pa.table({"name": ["ann", "bob"], "age": [1, 2]})


@pytest.fixture
def catalog(tmp_path):
    uri = f"sqlite:///{tmp_path}/catalog.sqlite"
    catalog = SqlCatalog("c", uri=uri, warehouse=(tmp_path / "lake").as_uri())
    catalog.create_namespace("shop")
    catalog.create_table("shop.iced", PEOPLE.schema).append(PEOPLE)
    yield uri
    catalog.close()


def read(config) -> dict[str, list[tuple[str | None, ...]]]:
    source = IsolatedSource(config, {}, LimitsConfig(memory_gigabytes=1))
    try:
        listing = source.list_tables()
        assert not listing.problems
        found = {}
        for ref in listing.tables:
            assert source.profile(ref).row_count == 2
            assert list(source.contexts(ref).problems) == []
            assert sum(batch.num_rows for batch in source.scan(ref)) == 2
            found[ref.table_id] = [tuple(row.cells) for row in source.sample(ref, 5, 0) or ()]
        return found
    finally:
        source.close()


def test_every_format_of_a_folder(tmp_path, catalog):
    folder = tmp_path / "lake"
    write_deltalake(folder / "shop" / "delta", PEOPLE)
    book = openpyxl.Workbook()
    for row in (PEOPLE.column_names, *zip(*PEOPLE.to_pydict().values(), strict=True)):
        book.active.append(row)
    book.save(folder / "book.xlsx")
    rows = [("ann", "1"), ("bob", "2")]
    assert read(FolderSourceConfig(name="lake", path=folder)) == {
        "lake/shop/delta": rows, "lake/shop/iced": rows, "lake/book/Sheet": rows}  # fmt: skip


def test_a_catalogue(tmp_path, catalog):
    config = IcebergSourceConfig(
        name="ice", catalog="sql", catalog_name="c", uri=catalog, local_files=tmp_path / "lake"
    )
    assert read(config) == {"ice/shop/iced": [("ann", "1"), ("bob", "2")]}
