"""Statements that a real PostgreSQL runs: what they give, and what its role and session hold."""

import re
from collections.abc import Iterator
from contextlib import closing

import pytest

from pneuma_assets.core.answers.guard import checked
from pneuma_assets.core.answers.statements import Guard, ReadTable
from pneuma_assets.core.config.small_sections import LimitsConfig
from pneuma_assets.core.errors import SourceError, SqlFailedError, SqlStoppedError, TableReadError
from pneuma_assets.core.sources.base import Statement, StatementTable
from pneuma_assets.core.sources.isolation.source import IsolatedSource
from pneuma_assets.core.sources.kinds.folder import FolderSourceConfig
from tests.support.honest_sql import HONEST
from tests.support.hostile_sql import CITIES, HOSTILE, PEOPLE, POSTGRES, SECRET
from tests.support.postgresql_process import Server
from tests.support.postgresql_server import new_database
from tests.support.sql_database import VARIABLE, Database, listed
from tests.support.waiting import wait_until

pytestmark = pytest.mark.integration

PASSWORD = "hunter2"
CASES = [case for case in HOSTILE if POSTGRES in case.holds]
OF_SHOP = re.compile(r"(?i)(\b(?:from|join|into|update|table|copy|truncate)|,) (people|cities)\b")
HIDING = {"privacy": {"hidden_columns": ["email"]}}


@pytest.fixture(scope="module")
def database(postgresql: Server) -> Iterator[Database]:
    """A warehouse whose reader may read `shop`, and not `hr`."""
    with new_database(postgresql.superuser_url) as url:
        database = Database(url)
        database.run(
            f"CREATE ROLE reader LOGIN PASSWORD '{PASSWORD}'",
            "CREATE SCHEMA shop",
            "CREATE SCHEMA hr",
            "GRANT USAGE ON SCHEMA shop TO reader",
            "CREATE TABLE shop.people (id int PRIMARY KEY, name text, city text, joined date,"
            ' "Pay Grade" numeric(6, 2), email text)',
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
    return IsolatedSource(config, {VARIABLE: PASSWORD}, LimitsConfig())


@pytest.fixture(scope="module")
def source(database):
    with closing(opened(database)) as source:
        yield source


@pytest.fixture(scope="module")
def hiding(database):
    with closing(opened(database, **HIDING)) as source:
        yield source


@pytest.fixture(scope="module")
def refs(source):
    return listed(source)


def of(refs, sql, *tables, **keys):
    tables = tables or (PEOPLE, CITIES)
    named = (
        StatementTable(one.name, refs[f"shop/{one.name}"], one.columns, "shop") for one in tables
    )
    return Statement(sql, tuple(named), **{"rows": 10, "seconds": 1.0, **keys})


def asked(source, refs, sql, *tables, **keys):
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
    assert source.statement_dialect == "postgres"
    files = IsolatedSource(FolderSourceConfig(name="s", path=tmp_path), {}, LimitsConfig())
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
    assert found.rows == ((1, "2020-02-29", "1.50", 3_000_000, ["2020-02-29"], "nan"),)
    assert not found.more


def test_rows_keep_their_order_and_those_beyond_are_told(source, refs):
    found = asked(source, refs, "SELECT id FROM people ORDER BY id DESC")
    assert (found.rows, found.more) == (tuple((n,) for n in range(300, 290, -1)), True)
    long = of(refs, "SELECT id FROM shop.people ORDER BY id", rows=250)
    found = source.run_statement(long)
    assert (found.rows, found.more) == (tuple((n,) for n in range(1, 251)), True)
    large = of(refs, "SELECT id FROM shop.people ORDER BY id", rows=250, size=500)
    found = source.run_statement(large)
    assert (found.rows, found.more) == (tuple((n,) for n in range(1, 201)), True)


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
        ("SELECT count(*) FROM {0} a, {0} b, {0} c, {0} d", {}, "time"),
        ("SELECT array_agg(name) FROM {0}", {"size": 500}, "500 bytes together"),
    ],
)
def test_a_statement_ends_at_a_bound(source, refs, sql, keys, said):
    with pytest.raises(SqlStoppedError, match=said):
        source.run_statement(of(refs, sql.format("shop.people"), **keys))


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case.sql)[:60])
def test_the_role_and_its_session_hold_alone(case, database, source, hiding, refs, tmp_path):
    """And, of what the role may read and rules hide, the look at what a statement reads."""
    before = state(database)
    file = tmp_path / "file.csv"
    file.write_text(SECRET)
    tmp_path.chmod(0o777)  # the server's own user may write there
    sql = OF_SHOP.sub(r"\1 shop.\2", case.sql.format(file=file, folder=tmp_path))
    try:
        reply = (hiding if case.guard == Guard.COLUMN else source).run_statement(of(refs, sql))
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


HIDDEN = [
    'SELECT "people"."email" FROM "shop"."people"',
    'SELECT "people"."name" FROM "shop"."people" WHERE "people"."email" > \'\'',
    'SELECT "people"."name" FROM "shop"."people" ORDER BY "email"',
    'SELECT "people"."name" FROM "shop"."people" ORDER BY LOWER("email")',
    'SELECT COUNT(*) AS "email" FROM "shop"."people" GROUP BY "email"',
    'SELECT * FROM "shop"."people"',
    'SELECT "p".* FROM "shop"."people" AS "p"',
    'SELECT COUNT("p".*) FROM "shop"."people" AS "p"',
    'SELECT "p" FROM "shop"."people" AS "p"',
    'SELECT ("p")."email" FROM "shop"."people" AS "p"',
    'SELECT "q"."f" FROM "shop"."people" AS "q"("a", "b", "c", "d", "e", "f")',
    'SELECT "a"."id" FROM "shop"."people" AS "a" JOIN "shop"."people" AS "b" USING ("email")',
    'SELECT "a"."id" FROM "shop"."people" AS "a" NATURAL JOIN "shop"."people" AS "b"',
    'SELECT P.email FROM "shop"."people" AS "p"',
    'SELECT "u"."x" FROM "shop"."people" AS "p", '
    """UNNEST(STRING_TO_ARRAY("p"."email", '@')) AS "u"("x")""",
    'SELECT "emails"."text" FROM "shop"."emails"',
    'SELECT "people"."id" FROM "shop"."people"; SELECT 1',
]
SHOWN = [
    'SELECT "p"."id" FROM "shop"."people" AS "p" ORDER BY "id" DESC',
    'SELECT * FROM (SELECT "p"."id" AS "email" FROM "shop"."people" AS "p") AS "q"',
    'WITH "q" AS (SELECT "people"."id" FROM "shop"."people") SELECT * FROM "q"',
    'SELECT COUNT(*) FROM "shop"."people"',
    'SELECT "g"."n", "p"."id" FROM GENERATE_SERIES(1, 3) AS "g"("n") '
    'JOIN "shop"."people" AS "p" ON "p"."id" = "g"."n"',
    'SELECT "u"."x" FROM "shop"."people" AS "p", '
    """UNNEST(STRING_TO_ARRAY("p"."name", ' ')) AS "u"("x")""",
]


@pytest.mark.parametrize("sql", HIDDEN)
def test_rules_of_privacy_hold_whatever_columns_are_allowed(hiding, refs, sql):
    everything = ReadTable("people", (*PEOPLE.columns, "email"))
    with pytest.raises(SqlFailedError, match="rules of privacy hide"):
        hiding.run_statement(of(refs, sql, everything))


@pytest.mark.parametrize("sql", SHOWN)
def test_what_rules_do_not_hide_is_read(hiding, refs, sql):
    assert hiding.run_statement(of(refs, sql)).rows


def test_what_an_engine_says_of_hidden_cells_is_left_out(hiding, refs):
    view = ReadTable("emails", ("id", "text"), "shop")
    with pytest.raises(SqlFailedError, match="left out") as caught:
        asked(hiding, refs, "SELECT CAST(text AS integer) FROM emails", view)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        # Faults of a guard that put its own LIMIT, and subqueries in the place of tables.
        ("SELECT id, name FROM people GROUP BY people.id ORDER BY id LIMIT 1", ((1, "p1"),)),
        (
            "SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY id % 18 ORDER BY id DESC)"
            " AS n FROM people) AS q WHERE n = 1 ORDER BY id LIMIT 9 OFFSET 9",
            tuple((n,) for n in range(292, 301)),
        ),
        ("SELECT inhabitants / 1000 FROM cities ORDER BY city LIMIT 50", ((None,), (3000,))),
    ],
)
def test_a_statement_means_what_it_says(source, refs, sql, rows):
    assert asked(source, refs, sql).rows == rows


def test_a_table_that_is_gone_and_a_server_that_is_down_are_told(postgresql_server):
    database = Database(postgresql_server.url)
    database.run("CREATE SCHEMA shop", "CREATE TABLE shop.cities (city text)")
    config = database.config()
    cities = ReadTable("cities", ("city",), "shop")
    with closing(IsolatedSource(config, database.environ, LimitsConfig())) as source:
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


def test_a_whole_number_too_long_for_python_comes_as_text(source, refs):
    sql = "SELECT CAST(REPEAT('9', 5000) AS DECIMAL) AS long, CAST('-12' AS DECIMAL) AS short"
    found = source.run_statement(of(refs, f"{sql} FROM shop.people AS p LIMIT 1"))
    assert found.rows == (("9" * 5000, -12),)
