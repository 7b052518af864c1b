"""Whose a table is that nobody has listed yet, by its name or address, as databases call it."""

import pytest

from pneuma_assets.core.sources.kinds.sql import SqlSourceConfig

POSTGRESQL = "postgresql://me@db.example:5433/shop"


@pytest.mark.parametrize(
    ("keys", "address", "is_held"),
    [
        ({}, "shop.public.orders", True),
        ({}, "SHOP.Public.Orders", True),
        ({}, "postgres://db.example:5433/shop.public.orders", True),
        ({}, "postgres://db.example:5433/shop.public.or%C3%A9", True),
        ({}, "postgres://db.example:5433", True),
        ({}, "postgres://db.example:5433/other.public.orders", False),
        ({}, "postgres://db.example:5432/shop.public.orders", False),
        ({}, "mysql://db.example:5433/shop.public.orders", False),
        ({}, "other.public.orders", False),
        ({}, "shopping.public.orders", False),
        ({}, "public.orders", False),
        ({}, "orders", False),
        ({}, "shop.orders", False),
        ({}, "shop..orders", False),
        ({"databases": ["a", "b.c"]}, "b.c.public.orders", True),
        ({"databases": ["a", "b.c"]}, "shop.public.orders", False),
        ({"schemas": ["public"]}, "shop.PUBLIC.orders", True),
        ({"schemas": ["public"]}, "shop.other.orders", False),
        ({"exclude": ["*.tmp_*"]}, "shop.public.tmp_orders", False),
        ({"include": ["shop.public.o*"]}, "shop.public.orders", True),
        ({"include": ["public.p*"]}, "shop.public.orders", False),
        ({"url": "mysql://me@db.example/"}, "mysql://db.example:3306/shop.orders", True),
        ({"url": "mysql://me@db.example/"}, "shop.orders", False),
        ({"url": "mysql://me@db.example/", "schemas": ["shop"]}, "shop.orders", True),
        ({"url": "mysql://me@db.example/", "schemas": ["shop"]}, "other.orders", False),
        ({"url": "sqlite:////data/shop.sqlite"}, "file:///data/shop.sqlite#main.orders", True),
        ({"url": "sqlite:////data/shop.sqlite"}, "file:///data/shop.sqlite", True),
        ({"url": "sqlite:////data/shop.sqlite"}, "file:///data/other.sqlite#main.orders", False),
        ({"url": "trino://me@[::1]:80/shop"}, "trino://[::1]:80/shop.public.orders", True),
        ({"url": "trino://me@[::1]:80/shop"}, "trino://[::1]:80", True),
        ({"url": "trino://me@[::1]:80/shop"}, "trino://[::2]:80/shop.public.orders", False),
        ({"url": "trino://me@[FE80::1]:80/shop"}, "trino://[fe80::1]:80/shop.a.orders", True),
        ({"url": "bigquery://project"}, "bigquery://project.set.orders", True),
        ({"url": "bigquery://project"}, "bigquery://other.set.orders", False),
    ],
)
def test_a_source_knows_what_would_be_its_own(keys, address, is_held):
    source = SqlSourceConfig(name="shop", **{"url": POSTGRESQL, **keys})
    assert source.holds(address) is is_held


@pytest.mark.parametrize(
    "url",
    [
        POSTGRESQL,
        "redshift://me@cluster:5439/dev",
        "snowflake://me@account/DB?warehouse=W",
        "bigquery://project",
        "trino://me@host:443/catalog",
        "mysql://me@host:3306/",
        "trino://me@[fe80::1]:443/catalog",
        "sqlite:////data/a%20b.sqlite",
    ],
)
def test_it_holds_its_tables_by_the_address_that_it_gives_them(url):
    source = SqlSourceConfig(name="shop", url=url)
    uri = source.address_of("shop/public/or%25der", "", "table").uri
    assert uri is not None
    assert source.holds(uri)


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///", "sqlite://shop.sqlite"])
def test_a_sqlite_source_without_a_file_has_no_address(url):
    with pytest.raises(ValueError, match="must name a file"):
        SqlSourceConfig(name="shop", url=url)
