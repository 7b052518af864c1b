"""What becomes of the answers of catalogues, which tables are wanted, and which rows are drawn."""

import secrets
from collections import Counter

import pyarrow as pa
import pytest
import sqlglot
from sqlalchemy import create_engine, make_url
from sqlalchemy.exc import DBAPIError
from sqlglot import exp

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.errors import ConfigError, SourceError
from pneuma_assets.core.sources.kinds.sql import SqlSourceConfig
from pneuma_assets.core.sources.sql.dialect import CatalogTable
from pneuma_assets.core.sources.sql.engines import ENGINES, SqlBounds, Wanted
from pneuma_assets.core.sources.sql.generic import InformationSchema
from pneuma_assets.core.sources.sql.mysql import MySQL
from pneuma_assets.core.sources.sql.rows import Draw, count_up_to, rows_of
from pneuma_assets.core.sources.sql.server import Server
from pneuma_assets.core.tables import Column, Definition

TABLES = """
    SELECT 'Sales' AS TABLE_SCHEMA, 'orders' AS table_name, 'BASE TABLE' AS table_type,
           'What was sold.' AS comment, 7 AS row_count, 100 AS bytes, '2026-01-01' AS last_altered
    UNION ALL SELECT 'Sales', 'recent', 'VIEW', NULL, NULL, NULL, NULL
    UNION ALL SELECT 'Sales', 'far', 'EXTERNAL TABLE', '', NULL, NULL, NULL
"""
COLUMNS = """
    SELECT 'Sales' AS table_schema, 'orders' AS table_name, 'id' AS column_name,
           'int' AS data_type, 'the number' AS comment, 1 AS ordinal_position
    UNION ALL SELECT 'Sales', 'orders', 'shop', 'text', NULL, 2
"""
VIEWS = """
    SELECT 'Sales' AS table_schema, 'recent' AS table_name, 'SELECT 1' AS view_definition
"""
TRINO = ENGINES["trino"]


def catalog(wanted: Wanted = Wanted()) -> dict:  # noqa: B008
    """What an engine's INFORMATION_SCHEMA tells, here one of SQLite's."""
    with create_engine("sqlite://").connect() as connection:
        connection.exec_driver_sql("ATTACH ':memory:' AS INFORMATION_SCHEMA")
        for name, rows in {"TABLES": TABLES, "COLUMNS": COLUMNS, "VIEWS": VIEWS}.items():
            connection.exec_driver_sql(f"CREATE TABLE INFORMATION_SCHEMA.{name} AS {rows}")
        found = list(InformationSchema(TRINO).catalog(connection, "", wanted))
    return {table.name: table for table in found}


def test_answers_become_tables():
    found = catalog()
    orders = found["orders"]
    assert orders.columns == (Column("id", "int", "the number"), Column("shop", "text"))
    assert (orders.comment, orders.rows, orders.size) == ("What was sold.", 7, 100)
    assert found["recent"].definition == Definition("SELECT 1", "trino", "", "Sales")
    assert [found[name].kind for name in ("orders", "recent", "far")] == [
        "table", "view", "foreign table",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (Wanted(), {"orders", "recent", "far"}),
        (Wanted(("sales.O*",)), {"orders"}),
        (Wanted((), ("*.f[a-c]r",)), {"orders", "recent"}),
        (Wanted(("other.*",)), set()),
        (Wanted(("*",), ("*",)), set()),
        (Wanted(schemas=("Sales",)), {"orders", "recent", "far"}),
        (Wanted(schemas=("o'brien",)), set()),
    ],
)
def test_patterns(wanted, names):
    assert set(catalog(wanted)) == names


URLS = {
    "redshift": "redshift+psycopg2://me@host/shop",
    "snowflake": "snowflake://me@account/SHOP?warehouse=small",
    "bigquery": "bigquery://project",
    "databricks": "databricks://token@host?http_path=/sql/1.0/warehouses/ab12&catalog=shop",
    "trino": "trino://me@host:443/shop",
    "mysql": "mysql+pymysql://me@host/shop",
}


@pytest.mark.parametrize("kind", URLS)
def test_what_is_selected_is_one_statement_in_which_every_name_is_quoted(kind):
    """No such server is at hand: a parser of each dialect reads what SQLAlchemy makes."""
    hostile = "we;ird'; DROP TABLE x; --"
    engine = ENGINES[kind]
    dialect = MySQL(engine) if engine.tried else InformationSchema(engine)
    columns = (Column(hostile, "varchar(10)"), Column(f"{hostile}2", "ARRAY<INT64>"))
    table = CatalogTable("", "sales", hostile, "table", columns)
    made = make_url(URLS[kind]).get_dialect()()
    for statement in (rows_of(dialect, table).limit(5), count_up_to(table, 10)):
        sql = str(statement.compile(dialect=made, compile_kwargs={"literal_binds": True}))
        (tree,) = sqlglot.parse(sql, read=engine.sql)
        (found,) = tree.find_all(exp.Table)
        assert (found.db, found.name) == ("sales", hostile)
        assert not list(tree.find_all(exp.Drop))
    assert dialect.can_quote("a`b") is engine.tried


@pytest.mark.parametrize("kind", URLS)
def test_a_source_of_each_engine_opens_and_says_where_its_tables_are_and_whether_it_is_tried(kind):
    url = URLS[kind].replace("+pymysql", "").replace("+psycopg2", "")
    config = SqlSourceConfig(name="w", url=url, password_env="SECRET")
    source = config.open({"SECRET": "hunter2"})
    source.close()
    address = config.address_of("w/sales/orders", "", "table")
    assert address.name.split(".")[-2:] == ["sales", "orders"]
    assert address.name.lower().startswith(("shop.", "project.", "sales."))
    assert address.uri.endswith(address.name)
    notices = Deployment.model_validate({"sources": [config.model_dump()]}).notices
    assert (f"source w: {kind} is untried: see docs/warehouses.md" in notices) is (kind != "mysql")


@pytest.mark.parametrize("kind", ["snowflake", "databricks"])
def test_a_warehouse_that_sleeps_is_not_woken_by_a_listing(kind):
    source = SqlSourceConfig(name="w", url=URLS[kind]).open({})
    with pytest.raises(SourceError, match="would wake its warehouse; set wake: true"):
        source.list_tables()


def test_a_query_of_bigquery_is_billed_for_what_is_allowed_at_most(monkeypatch):
    made = []
    monkeypatch.setattr("pneuma_assets.core.sources.sql.dialect.create_engine",
                        lambda url, **_: made.append(url))  # fmt: skip
    bounds = SqlBounds(size=5_000_000)
    InformationSchema(ENGINES["bigquery"], bounds).engine(make_url("bigquery://project"))
    assert made[0].query == {"maximum_bytes_billed": "5000000"}


def test_rows_are_drawn_alike_in_whatever_order_they_come():
    names = [f"p{n % 40}" for n in range(100)]  # each twice or three times

    def drawn(order: list[str]) -> Counter:
        draw = Draw(10, 3, ())
        for start in range(0, 100, 7):
            draw.add(pa.record_batch([pa.array(order[start : start + 7])], names=["c0"]))
        return Counter(row.cells for row in draw.drawn())

    assert drawn(names) == drawn(names[::-1]) == drawn(sorted(names))
    assert drawn(names).total() == 10


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hunter2@host/db",
        "postgresql://me@host/db?password=hunter2",
        "databricks://host?access_token=hunter2",
        "snowflake://me@a/db?private_key=x",
        "not a url",
        "shop.db",
        "postgresql:// host/db",
    ],
)
def test_a_url_with_a_secret_or_none_is_refused(url):
    with pytest.raises(ValueError, match=r"must not hold|must be a SQLAlchemy URL") as caught:
        SqlSourceConfig(name="a", url=url)
    assert "hunter2" not in str(caught.value).replace(repr(url), "")


def test_a_time_that_would_be_rounded_to_none_is_refused():
    """An engine told zero milliseconds waits without an end."""
    with pytest.raises(ValueError, match=r"greater than or equal to 0\.001"):
        SqlSourceConfig(name="a", url="sqlite:///a", statement_timeout_seconds=0.0001)


def test_a_driver_that_is_missing_is_named_with_what_installs_it():
    config = SqlSourceConfig(name="a", url="postgresql+asyncnothing://host/db")
    with pytest.raises(ConfigError, match=r"pip install 'pneuma-assets\[postgresql\]'"):
        config.open({})
    with pytest.raises(ConfigError, match="install the package that brings this dialect"):
        SqlSourceConfig(name="a", url="nothing://host/db").open({})


@pytest.mark.parametrize(
    ("dialect", "meant"),
    [("postgrs", "postgresql"), ("snowflak+x", "snowflake"), ("mysqll", "mysql")],
)
def test_a_mistyped_dialect_is_told_what_was_meant(dialect, meant):
    with pytest.raises(ConfigError, match=rf"begins; did you mean {meant}\?") as caught:
        SqlSourceConfig(name="a", url=f"{dialect}://me@host/db").open({})
    assert "pip install" not in str(caught.value)


def test_a_sqlite_file_that_is_not_there_or_none_is_a_matter_of_its_path(tmp_path):
    (tmp_path / "text.sqlite").write_text("no database at all" * 100)
    for name in ("nofile.sqlite", "text.sqlite"):
        config = SqlSourceConfig(name="a", url=f"sqlite:///{tmp_path}/{name}")
        with pytest.raises(SourceError, match="check that the path in the source's url") as caught:
            config.open({}).list_tables()
        assert "server" not in str(caught.value)


def test_the_process_that_reads_sees_the_password_and_what_its_driver_looks_for():
    config = SqlSourceConfig(name="a", url="postgresql://host/db", password_env="OURS")
    given = {"OURS": "1", "PGSSLMODE": "require", "OTHER_PASSWORD": "2", "AWS_SECRET": "3"}
    assert config.environment(given) == {"OURS": "1", "PGSSLMODE": "require"}
    with pytest.raises(ConfigError, match="OURS is not set"):
        config.open({})


def test_no_part_of_a_long_token_is_shown_where_a_message_is_cut():
    token = secrets.token_hex(500)
    server = Server("w", TRINO, SqlBounds(), "sqlite://", token)
    said = DBAPIError("SELECT 1", {}, ValueError(f"{' ' * 300}the token {token} has expired"))
    message = str(server.explained(said, SourceError, "source 'w'"))
    assert "the token *** has expired" in message
    assert token[:10] not in message
