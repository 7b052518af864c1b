"""One table is meant by names as each engine folds them, and none where several could be."""

import pytest

from pneuma_assets.core.lineage.names import KnownNames, KnownTable, TableName, folded, spelled


def known(*tables: tuple[str, str]) -> KnownNames:
    return KnownNames(KnownTable(table_id, spelled(name)) for table_id, name in tables)


@pytest.mark.parametrize(
    ("dialect", "written", "quoted", "kept"),
    [
        ("postgres", "Orders", False, "orders"),
        ("postgres", "Orders", True, "Orders"),
        ("snowflake", "Orders", False, "ORDERS"),
        ("snowflake", "Orders", True, "Orders"),
        ("bigquery", "Orders", True, "orders"),
        ("duckdb", "Orders", True, "orders"),
        ("mysql", "Orders", False, "Orders"),
        ("no such engine", "Orders", False, "orders"),
    ],
)
def test_each_engine_folds_names_in_its_own_way(dialect, written, quoted, kept):
    assert folded(written, dialect, quoted=quoted) == kept


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("db.shop.orders", ("db", "shop", "orders")),
        ('"a.b".`c`.[d e]', ("a.b", "c", "d e")),
        ("server.db.shop.orders", ("db", "shop", "orders")),
        ("orders", ("orders",)),
        ("", ()),
    ],
)
def test_names_of_all_quotes_are_taken_apart(written, parts):
    assert spelled(written).parts == parts


def test_parts_that_are_not_said_do_not_count_within_a_source():
    names = known(("w/shop/orders", "db.shop.orders"), ("w/old/orders", "db.old.orders"))
    assert names.named(spelled("shop.orders"), "postgres", "w") == "w/shop/orders"
    assert names.named(spelled("db.old.orders"), "postgres") == "w/old/orders"
    assert names.named(spelled("orders"), "postgres", "w") is None
    assert names.written("DB.SHOP.ORDERS") == "w/shop/orders"
    names = known(("a/main/orders", "a.main.orders"), ("b/main/items", "b.main.items"))
    assert names.named(spelled("main.items"), "duckdb", "a") is None
    assert names.named(spelled("b.main.items"), "duckdb", "a") == "b/main/items"


def test_capitals_count_where_the_engine_and_addresses_do():
    names = known(("p/s/a", "d.s.Orders"), ("p/s/b", "d.s.orders"))
    assert names.named(spelled("s.Orders"), "postgres", "p") == "p/s/a"
    assert names.named(spelled("s.ORDERS"), "postgres", "p") is None
    assert names.named(spelled("s.orders"), "duckdb", "p") is None  # either may be meant
    assert names.written("d.s.Orders") == "p/s/a"
    assert names.written("D.S.ORDERS") is None
    names = KnownNames([KnownTable("lake/a", TableName("", "", "a"), "s3://Bucket/Dir/a.csv")])
    assert names.at("s3://bucket/Dir/a.csv/") == "lake/a"
    assert names.at("s3://bucket/dir/a.csv") is None
    assert names.at("http://[broken") is None
    assert names.at(None) is None


@pytest.mark.parametrize(
    ("uri", "found"),
    [
        ("postgres://prod:5432/shop.public.orders", "other/public/orders"),
        ("postgres://staging:5432/shop.public.orders", None),
        ("snowflake://prod:5432/shop.public.orders", None),
    ],
)
def test_a_server_reads_no_table_of_another_that_is_called_the_same(uri, found):
    orders, view = spelled("shop.public.orders"), spelled("shop.public.view")
    names = KnownNames(
        [
            KnownTable("shop/public/view", view, "postgres://PROD:5432/shop.public.view"),
            KnownTable("lake/view", view, "file:///lake/shop.duckdb#public.view"),
            KnownTable("other/public/orders", orders, uri),
        ]
    )
    assert names.named(orders, "postgres", "shop") == found
    assert names.named(orders, "postgres", "lake") == "other/public/orders", "it may be attached"
