"""Every promise of the store is kept by a SQLite file and by a PostgreSQL server."""

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, make_url, text

from pneuma_assets.core.store import Store
from pneuma_assets.core.store.postgresql_database import PostgreSQL
from tests.support.postgresql_process import autocommitting

BACKENDS = ["sqlite", pytest.param("postgresql", marks=pytest.mark.integration)]


class ServerState:
    """One state on the server for all tests: to empty it takes a tenth of making another."""

    def __init__(self, url: str, connection: Connection) -> None:
        self._connection = connection
        address = make_url(url)
        self.at = PostgreSQL(address, f"test_{secrets.token_hex(6)}", address.password)
        Store(self.at).close()
        found = "SELECT tablename FROM pg_tables WHERE schemaname = :schema"
        names = connection.scalars(text(found), {"schema": self.at.schema}).all()
        self._tables = [f'"{self.at.schema}"."{name}"' for name in names]
        self._kept = [one for one in self._tables if self._run(f"SELECT count(*) FROM {one}")]
        for number, table in enumerate(self._kept):
            self._run(f"CREATE TEMP TABLE new_{number} AS TABLE {table}")
        self._run("SET lock_timeout = '60s'")

    def empty(self) -> None:
        """Let it hold what a new one does."""
        self._run(f"TRUNCATE {', '.join(self._tables)} RESTART IDENTITY")
        for number, table in enumerate(self._kept):
            self._run(f"INSERT INTO {table} TABLE new_{number}")

    def drop(self) -> None:
        self._run(f'DROP SCHEMA "{self.at.schema}" CASCADE')

    def _run(self, statement: str) -> object:
        done = self._connection.execute(text(statement))
        return done.scalar() if done.returns_rows else None


@pytest.fixture(scope="session")
def _server_state(postgresql_url: str) -> Iterator[ServerState]:
    with autocommitting(make_url(postgresql_url)) as connection:
        state = ServerState(postgresql_url, connection)
        yield state
        state.drop()


@pytest.fixture(params=BACKENDS)
def state(request, tmp_path) -> Path | PostgreSQL:
    """Where a state is, or will be."""
    if request.param == "sqlite":
        return tmp_path / "state.db"
    server_state = request.getfixturevalue("_server_state")
    server_state.empty()
    return server_state.at


@pytest.fixture
def open_store(state) -> Callable[[], Store]:
    """Open one and the same state, as often as it is called."""
    return lambda: Store(state)


@pytest.fixture
def store(open_store) -> Iterator[Store]:
    """An empty state."""
    with open_store() as opened:
        yield opened
