"""Whatever names collide in a statement, it gives what it gives where hidden columns are not."""

import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

import pytest
from sqlalchemy import Connection, make_url
from sqlalchemy.exc import DBAPIError

from pneuma_assets.core.answers.guard import checked
from pneuma_assets.core.answers.statements import ReadTable
from pneuma_assets.core.errors import SqlRefusedError
from tests.support.postgresql_process import Server, autocommitting
from tests.support.postgresql_server import new_database

pytestmark = [pytest.mark.integration, pytest.mark.slow]
VISIBLE = {"people": ("id", "name", "city"), "cities": ("city", "country")}
HIDDEN = {"people": ("email", "pay"), "cities": ("mayor",)}
_CALLED = ("p", "q", "people", "email")
_RESULTS = ("n", "q", "name", "email", "pay", "mayor", "people")

_Sources = Sequence[tuple[str, Sequence[str]]]
"""What a query selects from: names, and their columns."""


class RandomSql:
    """Writes queries of up to two levels below their own."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def statements(self, number: int) -> Iterator[str]:
        """Yield statements; most of them mean something."""
        for _ in range(number):
            yield self._query(2, ())[0]

    def _one(self, *of: str) -> str:
        return self._random.choice(of)

    def _often(self, share: float) -> bool:
        return self._random.random() < share

    def _source(self, depth: int, outer: _Sources) -> tuple[str, str, Sequence[str]]:
        name = self._one(*_CALLED)
        if depth and self._often(0.4):
            sql, columns = self._query(depth - 1, outer)
            return f"({sql}) AS {name}", name, columns
        table = self._one(*VISIBLE)
        renamed = self._often(0.5)
        return (
            f"{table} AS {name}" if renamed else table,
            name if renamed else table,
            VISIBLE[table],
        )

    def _column(self, sources: _Sources, outer: _Sources) -> str:
        known = [*sources, *(outer if self._often(0.4) else ())]
        name, columns = self._random.choice(known)
        column = self._one(*columns, *(("email",) if self._often(0.05) else ()))
        return f"{name}.{column}" if self._often(0.4) else column

    def _result(self, sources: _Sources, outer: _Sources, depth: int) -> tuple[str, str]:
        column = self._column(sources, outer)
        if depth and self._often(0.2):
            inner = self._query(depth - 1, (*sources, *outer))[0]
            column = f"(SELECT count(*) FROM ({inner}) AS {self._one(*_CALLED)})"
        elif self._often(0.3):
            column = f"upper(cast({column} AS text))"
        if column.isidentifier() and self._often(0.5):
            return column, column
        name = self._one(*_RESULTS)
        return f"{column} AS {name}", name

    def _query(self, depth: int, outer: _Sources) -> tuple[str, Sequence[str]]:
        first, name, columns = self._source(depth, outer)
        sources, joined = [(name, columns)], first
        if self._often(0.4):
            other, name, more = self._source(depth, outer)
            sources.append((name, more))
            equal = f"ON {self._column(sources, ())} = {self._column(sources, ())}"
            joined += f" {self._one('', 'LEFT', 'FULL')} JOIN {other} "
            joined += self._one(equal, "USING (city)")
        made = [self._result(sources, outer, depth) for _ in range(self._random.randint(1, 3))]
        results, names = (", ".join(sql for sql, _ in made), [name for _, name in made])
        if self._often(0.15):
            results, names = "*", [one for _, columns in sources for one in columns]
        sql = f"SELECT {results} FROM {joined}"
        if depth and self._often(0.3):
            inner = self._query(depth - 1, (*sources, *outer))[0]
            sql += f" WHERE EXISTS ({inner})"
        elif self._often(0.3):
            sql += f" WHERE {self._column(sources, outer)} IS NOT NULL"
        if results != "*" and self._often(0.2):
            sql += f" GROUP BY {', '.join(names)}"
        if self._often(0.3):
            sql += f" ORDER BY {self._one(*names, 'lower(cast(email AS text))')}"
        return sql, names


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
