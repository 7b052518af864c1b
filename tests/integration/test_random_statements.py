"""Whatever names collide in a statement, it gives what it gives where hidden columns are not."""

from contextlib import ExitStack

import pytest
from sqlalchemy import Connection, make_url
from sqlalchemy.exc import DBAPIError

from pneuma_assets.core.answers.guard import checked
from pneuma_assets.core.answers.statements import ReadTable
from pneuma_assets.core.errors import SqlRefusedError
from tests.support.postgresql_process import Server, autocommitting
from tests.support.postgresql_server import new_database
from tests.support.random_sql import HIDDEN, VISIBLE, RandomSql

pytestmark = [pytest.mark.integration, pytest.mark.slow]

TABLES = [ReadTable(one, columns, "", HIDDEN[one]) for one, columns in VISIBLE.items()]
ROWS = {
    "people": [("1", "Ann", "Rome", "canary1", "canary2"), ("2", "Bo", None, "canary3", "canary4")],
    "cities": [("Rome", "Italy", "canary5"), ("a", None, "canary6")],
}


def filled(connection: Connection, hidden: bool) -> Connection:
    for table, rows in ROWS.items():
        columns = VISIBLE[table] + (HIDDEN[table] if hidden else ())
        connection.exec_driver_sql(f"CREATE TABLE {table} ({' text, '.join(columns)} text)")
        for row in rows:
            marks = ", ".join("%s" for _ in columns)
            connection.exec_driver_sql(f"INSERT INTO {table} VALUES ({marks})", row[: len(columns)])
    return connection


def rows_of(connection: Connection, sql: str) -> list[str] | None:
    """Return the rows in any order; None where the statement does not run."""
    try:
        return sorted(map(repr, connection.exec_driver_sql(sql)))
    except DBAPIError:
        return None


def test_hidden_columns_change_nothing(postgresql: Server) -> None:
    same = 0
    with ExitStack() as stack:
        bare, whole = (
            filled(stack.enter_context(autocommitting(make_url(url))), hidden)
            for hidden in (False, True)
            for url in [stack.enter_context(new_database(postgresql.superuser_url))]
        )
        for sql in RandomSql(1).statements(3_000):
            try:
                found = checked(sql, TABLES, "postgres", 1_000).sql
            except SqlRefusedError:
                continue
            given, wanted = rows_of(whole, found), rows_of(bare, sql)
            assert "canary" not in str(given), sql
            assert wanted is None or given == wanted, sql
            same += wanted is not None
    assert same > 500
