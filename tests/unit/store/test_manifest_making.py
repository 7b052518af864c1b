"""What of a store's tables others' assets are told: real DuckDB tables, and real definitions."""

from contextlib import closing

import dagster as dg
import duckdb
import pytest

from pneuma_assets import with_narrations
from pneuma_assets.core.config.small_sections import IndexingConfig
from pneuma_assets.core.describe.documented import comments_of
from pneuma_assets.core.pipeline.plan import Indexed, RunRequest, claim_tables
from pneuma_assets.core.pipeline.profile import profile_tables
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.asset_keys import PublishedPage
from pneuma_assets.core.store.dagster_manifest import read_manifest
from pneuma_assets.core.store.dagster_manifest_write import keep_manifest
from pneuma_assets.core.store.documents import UserContext
from tests.support.deployment_files import deploy

SHOP = """
CREATE TABLE customers (customer_id INT, birth_date DATE);
COMMENT ON COLUMN customers.birth_date IS 'Born on';
CREATE TABLE orders (x INT, birth_date DATE);
"""
BORN = "Born on (pneuma-assets: from the column's comment)"


@pytest.fixture
def shop(tmp_path):
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(SHOP)
    return path


def kept(shop, /, *, added=(), corrected=(), **others):
    """Return a deployment whose manifest was made of the database, and of other sources."""
    given = {"shop": {"path": str(shop)}, **others}
    sources = [{"type": "duckdb", "name": name, **one} for name, one in given.items()]
    loaded = deploy(shop.parent, *sources)
    loaded.home.mkdir()
    opened = [one.open({}) for one in loaded.deployment.sources]
    with closing(Store(loaded.home / "state.db")) as store:
        request, settings = RunRequest(opened), IndexingConfig()
        claim_tables(store, "run", request, settings, recipe="r", indexed=Indexed({}, 0.0))
        profile_tables(store, "run", opened)
        for context in added:
            store.documents.add_user_context("shop/main/customers", context)
        for text in corrected:
            store.descriptions.correct("shop/main/customers", None, text, "ann")
        tables = store.tables.profiles(store.tables.listed())
        store.narrations.assign([(one, comments_of(one), {}) for one in tables], asked=False)
        for table_id in store.tables.listed():
            store.asset_keys.record(
                store.asset_keys.deployment(), {f"pneuma/{table_id}": PublishedPage(table_id)}
            )
        keep_manifest(store, loaded.deployment)
    return loaded


def shown(loaded, **metadata):
    """Return the description, and those of columns, of another team's asset of this metadata."""
    given = {f"dagster/{name}": value for name, value in metadata.items()}
    theirs = dg.Definitions(assets=[dg.AssetSpec("theirs", metadata=given)])
    (spec,) = with_narrations(theirs, loaded).resolve_all_asset_specs()
    schema = spec.metadata.get("dagster/column_schema")
    return spec.description, {c.name: c.description for c in schema.columns} if schema else {}


def test_a_table_of_a_database_is_told_from_its_others(shop):
    loaded = kept(shop)
    file = shop.as_uri()
    assert shown(loaded, table_name="shop.main.customers", uri=file)[1] == {"birth_date": BORN}
    assert shown(loaded, uri=f"{file}#main.customers")[1] == {"birth_date": BORN}
    for theirs in (
        {"table_name": "shop.main.orders", "uri": file},
        {"table_name": "shop.main.orders", "uri": f"{file}#main.customers"},
        {"table_name": "elsewhere.main.invoices", "uri": file},
        {"uri": file},
    ):
        assert shown(loaded, **theirs)[1] == {}


def test_a_name_counts_as_that_of_a_table_of_which_nothing_is_said(shop):
    """Names are compared without regard to capitals, as DuckDB does; of files that differ by them.

    Their addresses tell them apart.
    """
    twin = shop.with_name("SHOP.duckdb")
    with duckdb.connect(str(twin)) as connection:
        connection.execute("CREATE TABLE Customers (customer_id INT)")
    loaded = kept(shop, twin={"path": str(twin)})
    name = "shop.main.customers"
    assert shown(loaded, table_name=name)[1] == {}
    assert shown(loaded, table_name=name, uri=f"{twin.as_uri()}#main.Customers")[1] == {}
    assert shown(loaded, table_name=name, uri=f"{shop.as_uri()}#main.customers")[1]


def test_what_is_said_of_columns_is_not_said_of_the_table(shop):
    loaded = kept(shop)
    assert shown(loaded, table_name="shop.main.customers") == (None, {"birth_date": BORN})
    assert shown(loaded, table_name="shop.main.orders") == (None, {}), "nobody described it"
    pages = {one.table_id: one.description for one in read_manifest(loaded, {}).tables}
    assert pages == {
        "shop/main/customers": "Columns: customer_id, birth_date.",
        "shop/main/orders": "Columns: x, birth_date.",
    }


NOTE = UserContext("a note", "Who buys. Since 1999.")


@pytest.mark.parametrize(
    ("comment", "added", "corrected", "expected"),
    [
        ("Who *buys*.", [], [], "Who \\*buys\\*. (pneuma-assets: from the table's comment)"),
        ("", [NOTE], [], "Who buys. Since 1999. (pneuma-assets: from a note)"),
        ("Buyers.", [NOTE], [], "Buyers. (pneuma-assets: from the table's comment)"),
        ("", [NOTE], [""], None),
        ("Buyers.", [NOTE], [""], "Buyers. (pneuma-assets: from the table's comment)"),
        ("Buyers.", [NOTE], ["All."], "All. (pneuma-assets: said by ann, "),
    ],
    ids=["comment", "added", "comment first", "rejected", "comment stays", "corrected"],
)
def test_a_table_is_described_by_who_comes_first(shop, comment, added, corrected, expected):
    if comment:
        with duckdb.connect(str(shop)) as connection:
            connection.execute(f"COMMENT ON TABLE customers IS '{comment}'")
    loaded = kept(shop, added=added, corrected=corrected)
    found, columns = shown(loaded, table_name="shop.main.customers")
    assert columns == {"birth_date": BORN}
    assert found == expected or (expected and found.startswith(expected))


def test_a_document_beside_a_table_describes_it(shop, tmp_path):
    lake = tmp_path / "lake"
    lake.mkdir()
    (lake / "rain.csv").write_text("mm,day\n1,2\n", encoding="utf-8")
    (lake / "rain.md").write_text("# Rain\n\nmm: in a day. Measured at noon.\n", encoding="utf-8")
    loaded = kept(shop, lake={"type": "folder", "path": str(lake)})
    assert shown(loaded, uri=(lake / "rain.csv").as_uri())[0] == (
        "mm: in a day. Measured at noon. (pneuma-assets: from a document)"
    )


def test_tables_of_a_hidden_source_have_no_page_and_others_show_what_is_said_of_them(shop):
    loaded = kept(shop, shop={"path": str(shop), "visible": False})
    assert read_manifest(loaded, {}).tables == []
    assert shown(loaded, table_name="shop.main.customers")[1] == {"birth_date": BORN}


def test_a_name_of_a_table_of_a_hidden_source_counts(shop):
    loaded = kept(shop, twin={"path": str(shop), "visible": False})
    assert shown(loaded, table_name="shop.main.customers") == (None, {})
