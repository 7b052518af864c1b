"""Statements that a real PostgreSQL runs: what they give, and what its role and session hold."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from pneuma_assets.core.answers.guard import checked
from pneuma_assets.core.answers.refusing import ReadTable
from pneuma_assets.core.config.indexing import LimitsConfig
from pneuma_assets.core.errors import (
    SourceError,
    SqlFailedError,
    SqlStoppedError,
    TableReadError,
)
from pneuma_assets.core.sources.base import RunsStatements, Statement, StatementTable
from pneuma_assets.core.sources.isolation.guarded import GuardedSource
from pneuma_assets.core.sources.kinds.folder import FolderSourceConfig
from pneuma_assets.core.sources.private.source import open_private
from tests.support.honest_sql import HONEST
from tests.support.hostile_sql import CITIES, HOSTILE, PEOPLE, POSTGRES, SECRET
from tests.support.postgresql_process import Server
from tests.support.postgresql_server import new_database
from tests.support.sql_database import VARIABLE, Database, listed
from tests.support.waiting import wait_until

pytestmark = pytest.mark.integration

PASSWORD = "hunter2"
CASES = [case for case in HOSTILE if POSTGRES in case.holds]


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    """A warehouse whose reader may read `shop`, and not `hr`."""
    with Server() as server, new_database(server.superuser_url) as url:
        database = Database(url)
        database.run(
            f"CREATE ROLE reader LOGIN PASSWORD '{PASSWORD}'",
            "CREATE SCHEMA shop",
            "CREATE SCHEMA hr",
            "GRANT USAGE ON SCHEMA shop TO reader",
            'CREATE TABLE shop.people (id int, name text, city text, joined date, "Pay Grade"'
            " numeric(6, 2), email text)",
            f"INSERT INTO shop.people SELECT n, 'p' || n, 'Rome', '2020-02-29', 1.50, '{SECRET}'"
            " FROM generate_series(1, 300) n",
            "CREATE TABLE shop.cities (city text, country text, inhabitants bigint)",
            "INSERT INTO shop.cities VALUES ('Rome', 'Italy', 3000000), ('100%', NULL, NULL)",
            "CREATE VIEW shop.emails AS SELECT id, email AS text FROM shop.people",
            "GRANT SELECT ON ALL TABLES IN SCHEMA shop TO reader",
            "CREATE TABLE hr.pay (id int, secret text)",
            f"INSERT INTO hr.pay VALUES (1, '{SECRET}')",
            "CREATE SEQUENCE numbers",
        )
        yield database


def opened(database, **keys):
    config = database.config("reader", statement_timeout_seconds=1.0, **keys)
    return GuardedSource(config, {VARIABLE: PASSWORD}, LimitsConfig())


@pytest.fixture(scope="module")
def source(database):
    with closing(opened(database)) as source:
        yield source


@pytest.fixture(scope="module")
def refs(source):
    return listed(source)


def of(refs, sql, *tables, **keys):
    tables = tables or (PEOPLE, CITIES)
    named = (StatementTable(one.name, refs[f"shop/{one.name}"], one.columns) for one in tables)
    return Statement(sql, tuple(named), **{"rows": 10, "seconds": 1.0, **keys})


def asked(source, refs, sql, *tables, **keys):
    """Run a statement that the guard has checked."""
    found = checked(sql, tables or (PEOPLE, CITIES), source.statement_dialect, 10)
    return source.run_statement(of(refs, found.sql, *tables, **keys))


def state(database):
    return database.run(
        "SELECT (SELECT count(*) FROM shop.people), (SELECT count(*) FROM shop.cities),"
        " (SELECT count(*) FROM pg_class WHERE relname IN ('stolen', 'people')),"
        " (SELECT count(*) FROM pg_largeobject_metadata), (SELECT last_value FROM numbers),"
        " (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory')"
    )


def test_the_source_says_what_it_runs(source, tmp_path):
    assert isinstance(source, RunsStatements)
    assert source.statement_dialect == "postgres"
    files = GuardedSource(FolderSourceConfig(name="s", path=tmp_path), {}, LimitsConfig())
    assert files.statement_dialect is None
    with pytest.raises(SqlFailedError, match="runs no statements"):
        files.run_statement(Statement("SELECT 1", (), 1))


def test_cells_are_as_json_has_them_or_exact_text(source, refs):
    found = asked(
        source,
        refs,
        'SELECT p.id, p.joined, "pay grade", sum(c.inhabitants) AS total, array_agg(p.joined),'
        " cast('nan' AS double precision) AS no_number FROM people p JOIN cities c USING (city)"
        " WHERE p.name LIKE 'p_' AND c.city LIKE '%o%' GROUP BY 1, 2, 3 ORDER BY p.id LIMIT 1",
    )
    assert found.columns == ("id", "joined", "Pay Grade", "total", "array_agg", "no_number")
    assert found.types[:4] == ("int4", "date", "numeric", "numeric")
    assert found.rows == ((1, "2020-02-29", "1.50", 3_000_000, ["2020-02-29"], "nan"),)
    assert not found.more


def test_rows_keep_their_order_and_those_beyond_are_told(source, refs):
    found = asked(source, refs, "SELECT id FROM people ORDER BY id DESC")
    assert (found.rows, found.more) == (tuple((n,) for n in range(300, 290, -1)), True)
    long = of(refs, "SELECT id FROM people ORDER BY id", rows=250)
    found = source.run_statement(long)
    assert (found.rows, found.more) == (tuple((n,) for n in range(1, 251)), True)


def test_every_honest_statement_runs(source, refs):
    for sql in HONEST:
        assert asked(source, refs, sql).columns, sql


def test_what_the_server_says_is_told_so_that_another_statement_can_be_written(source, refs):
    with pytest.raises(SqlFailedError, match="division by zero"):
        asked(source, refs, "SELECT id / 0 FROM people")
    assert asked(source, refs, "SELECT count(*) FROM cities").rows == ((2,),)


@pytest.mark.parametrize(
    ("sql", "keys", "said"),
    [
        ("SELECT count(*) FROM people a, people b, people c, people d", {}, "time"),
        ("SELECT array_agg(name) FROM people", {"size": 500}, "500 bytes together"),
    ],
)
def test_a_statement_ends_at_a_bound(source, refs, sql, keys, said):
    with pytest.raises(SqlStoppedError, match=said):
        source.run_statement(of(refs, sql, **keys))


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case.sql)[:60])
def test_the_role_and_its_session_hold_alone(case, database, source, refs, tmp_path):
    before = state(database)
    file = tmp_path / "file.csv"
    file.write_text(SECRET)
    tmp_path.chmod(0o777)  # the server's own user may write there
    sql = case.sql.format(file=file, folder=tmp_path)
    try:
        reply = source.run_statement(of(refs, sql))
    except SqlStoppedError as error:
        held, said = "bound", str(error)
    except SqlFailedError as error:
        held, said = "engine", str(error)
    else:
        held, said = "nothing", repr(reply)
    assert (held, SECRET in said) == (case.holds[POSTGRES], False), said
    wait_until(lambda: state(database) == before, "something was changed")
    assert [one.name for one in tmp_path.iterdir()] == ["file.csv"]


def test_what_a_session_keeps_ends_with_the_statement(database, source, refs):
    source.run_statement(of(refs, "SELECT pg_advisory_lock(7), pg_backend_pid()"))
    held = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 7"
    wait_until(lambda: not database.run(held), "the lock outlives its statement")


def test_rules_of_privacy_hold_whatever_columns_are_allowed(database, refs):
    everything = ReadTable("people", (*PEOPLE.columns, "email"))
    rules = {"hidden_columns": ["email"]}
    config = database.config("reader", privacy=rules)
    with closing(open_private(config, {VARIABLE: PASSWORD})) as source:
        assert asked(source, refs, "SELECT count(name) FROM people", everything).rows == ((300,),)
        for sql in ("SELECT email FROM people", "SELECT * FROM people WHERE email > ''"):
            with pytest.raises(SqlFailedError, match="left out"):
                asked(source, refs, sql, everything)
        view = ReadTable("emails", ("id", "text"))
        with pytest.raises(SqlFailedError, match="left out") as caught:
            asked(source, refs, "SELECT CAST(text AS integer) FROM emails", view)
        assert SECRET not in str(caught.value)


def test_a_table_that_is_gone_and_a_server_that_is_down_are_told(postgresql_server):
    database = Database(postgresql_server.url)
    database.run("CREATE SCHEMA shop", "CREATE TABLE shop.cities (city text)")
    config = database.config()
    cities = ReadTable("cities", ("city",))
    with closing(GuardedSource(config, database.environ, LimitsConfig())) as source:
        refs = listed(source)
        assert asked(source, refs, "SELECT * FROM cities", cities).rows == ()
        database.run("DROP TABLE shop.cities")
        with pytest.raises(SqlFailedError, match="does not exist"):
            asked(source, refs, "SELECT * FROM cities", cities)
        source.list_tables()
        with pytest.raises(TableReadError, match="it is gone"):
            asked(source, refs, "SELECT * FROM cities", cities)
        postgresql_server.stop()
        with pytest.raises((SourceError, TableReadError), match="cannot be read"):
            asked(source, refs, "SELECT * FROM cities", cities)
