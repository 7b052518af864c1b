"""What becomes of the answers of catalogues, which tables are wanted, and which rows are drawn."""

import http.server
import secrets
import threading
from collections import Counter

import pyarrow as pa
import pytest
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import DBAPIError

from pneuma_assets.core.errors import ConfigError, SourceError
from pneuma_assets.core.sources.kinds.sql import SqlSourceConfig
from pneuma_assets.core.sources.sql.asking import AskingDialect, Questions
from pneuma_assets.core.sources.sql.bounds import SqlBounds
from pneuma_assets.core.sources.sql.catalog import Wanted
from pneuma_assets.core.sources.sql.connecting import Server
from pneuma_assets.core.sources.sql.databricks import Databricks, warehouse_state
from pneuma_assets.core.sources.sql.drawing import Draw
from pneuma_assets.core.sources.sql.grants import PUBLIC, Grants, Role
from pneuma_assets.core.sources.sql.snowflake import _renamed
from pneuma_assets.core.tables import Column, Definition, ForeignKey


class Answering(AskingDialect):
    """SQLite, which answers anything."""

    sql = "sqlite"

    def prepare(self, cursor) -> None: ...

    def questions(self, database, schemas) -> Questions:
        tables = """
            SELECT 'Sales' AS SCHEMA_NAME, 'orders' AS table_name, 'BASE TABLE' AS kind,
                   'What was sold.' AS comment, 7 AS row_count, 100 AS byte_count,
                   1700000000 AS changed_at, NULL AS definition
            UNION ALL SELECT 'Sales', 'recent', 'VIEW', NULL, NULL, NULL, NULL, 'SELECT 1'
            UNION ALL SELECT 'Sales', 'far', 'EXTERNAL TABLE', '', NULL, NULL, NULL, NULL
        """
        columns = """
            SELECT 'Sales' AS schema_name, 'orders' AS table_name, 'id' AS column_name,
                   'int' AS type, 'the number' AS comment
            UNION ALL SELECT 'Sales', 'orders', 'shop', 'text', NULL
        """
        keys = """
            SELECT 'Sales' AS schema_name, 'orders' AS table_name, '' AS key_name,
                   'id' AS column_name, NULL AS other_schema, NULL AS other_table,
                   NULL AS other_column
            UNION ALL SELECT 'Sales', 'orders', 'fk', 'shop', 'Sales', 'shops', 'name'
        """
        return Questions((text(tables),), (text(columns),), (text(keys),))


def asked(wanted: Wanted = Wanted(), bounds: SqlBounds = SqlBounds()) -> dict:  # noqa: B008
    with create_engine("sqlite://").connect() as connection:
        found = list(Answering(bounds).catalog(connection, "db", wanted))
    return {table.name: table for table in found}


def test_answers_become_tables():
    found = asked()
    orders = found["orders"]
    assert orders.columns == (Column("id", "int", "the number"), Column("shop", "text"))
    assert (orders.primary_key, orders.comment) == (("id",), "What was sold.")
    assert orders.foreign_keys == (ForeignKey(("shop",), ("Sales", "shops"), ("name",)),)
    assert (orders.rows, orders.size, orders.updated_at) == (7, 100, 1.7e9)
    assert found["recent"].definition == Definition("SELECT 1", "sqlite", "db", "Sales")
    assert [found[name].kind for name in ("orders", "recent", "far")] == [
        "table", "view", "foreign table",
    ]  # fmt: skip


def test_more_statements_than_admitted_are_refused():
    with pytest.raises(SourceError, match="would take 3 statements, more than 2"):
        asked(bounds=SqlBounds(statements=2))


@pytest.mark.parametrize(
    ("include", "exclude", "names"),
    [
        ((), (), {"orders", "recent", "far"}),
        (("sales.O*",), (), {"orders"}),
        (("db.*",), ("*.f[a-c]r",), {"orders", "recent"}),
        (("other.*",), (), set()),
        (("*",), ("*",), set()),
    ],
)
def test_patterns(include, exclude, names):
    assert set(asked(Wanted(include, exclude))) == names


def test_what_snowflake_shows():
    shown = {"name": "V", "schema_name": "S", "text": "create view v as select 1",
             "is_materialized": "false", "comment": "", "created_on": "2026"}  # fmt: skip
    assert _renamed(shown)["kind"] == "VIEW"
    column = {"schema_name": "S", "table_name": "T", "column_name": "A", "comment": "",
              "data_type": '{"type":"FIXED","precision":38,"scale":0,"nullable":true}'}  # fmt: skip
    assert _renamed(column)["type"] == "NUMBER(38,0)"
    key = {"schema_name": "S", "table_name": "T", "column_name": "A", "key_sequence": 1}
    assert _renamed(key) == key


ROLES = {
    1: Role("root", superuser=True, bypasses=True, members=()),
    2: Role("owner", superuser=False, bypasses=False, members=(5,)),
    3: Role("staff", superuser=False, bypasses=False, members=(4,)),
    4: Role("ann", superuser=False, bypasses=False, members=(3,)),
    5: Role("bob", superuser=False, bypasses=True, members=()),
    6: Role("pg_read_all_data", superuser=False, bypasses=False, members=(7,)),
    7: Role("reader", superuser=False, bypasses=False, members=()),
}


@pytest.mark.parametrize(
    ("select", "usage", "keys", "readers"),
    [
        ([PUBLIC], [PUBLIC], {}, None),
        ([PUBLIC], [3], {}, {"root", "staff", "ann", "reader"}),
        ([3], [PUBLIC], {}, {"root", "owner", "bob", "staff", "ann", "reader"}),
        ([3], [5], {}, {"root", "bob", "reader"}),
        ([], [PUBLIC], {}, {"root", "owner", "bob", "reader"}),
        ([PUBLIC], [PUBLIC], {"secured": True}, {"root", "owner", "bob"}),
        ([PUBLIC], [PUBLIC], {"secured": True, "forced": True}, {"root", "bob"}),
        ([99], [PUBLIC], {}, {"root", "owner", "bob", "reader"}),
    ],
)
def test_readers(select, usage, keys, readers):
    found = Grants(ROLES, [PUBLIC]).readers(2, select, usage, **keys)
    assert (None if found is None else set(found)) == readers


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


@pytest.mark.parametrize("state", ["STOPPED", "RUNNING"])
def test_whether_a_sql_warehouse_runs_is_asked_of_databricks(state):
    heard = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            heard.append((self.path, self.headers["Authorization"]))
            body = f'{{"state": "{state}"}}'.encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_): ...

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        assert warehouse_state(address, "ab12", "t") == state
    assert heard == [("/api/2.0/sql/warehouses/ab12", "Bearer t")]


def test_nobody_else_is_sent_the_token_of_databricks():
    heard = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            heard.append(self.path)
            self.send_response(302, "not here, t0ken")
            self.send_header("Location", "/stolen")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_): ...

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        with pytest.raises(SourceError, match="answers 302") as caught:
            warehouse_state(f"http://127.0.0.1:{server.server_port}", "ab12", "t0ken")
        server.shutdown()
        thread.join()
    assert heard == ["/api/2.0/sql/warehouses/ab12"]
    assert "t0ken" not in str(caught.value)


def test_a_token_that_no_header_can_hold_is_not_told():
    with pytest.raises(SourceError, match="look at the token") as caught:
        warehouse_state("http://127.0.0.1:1", "ab12", "t0ken\n")
    assert "t0ken" not in str(caught.value)


def test_a_cluster_of_databricks_is_not_woken():
    url = SqlSourceConfig(name="a", url="databricks://token@host?http_path=/sql/protocolv1/o/1")
    source = url.open({})
    with pytest.raises(SourceError, match="set wake: true"):
        source.list_tables()
    Databricks(SqlBounds(wake=True)).check_awake(source._server.url)


def test_no_part_of_a_long_token_is_shown_where_a_message_is_cut():
    token = secrets.token_hex(500)
    server = Server(make_url("sqlite://"), Answering(SqlBounds()), token)
    said = DBAPIError("SELECT 1", {}, ValueError(f"{' ' * 300}the token {token} has expired"))
    message = str(server.explained(said, SourceError, "source 'w'"))
    assert "the token *** has expired" in message
    assert token[:10] not in message
