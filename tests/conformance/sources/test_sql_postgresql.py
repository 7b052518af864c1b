"""A database of a real PostgreSQL server keeps the contract."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

import pytest
import sqlalchemy
from psycopg import Cursor
from sqlalchemy import make_url

from pneuma_assets.core.sources.kinds.sql import SqlSourceConfig
from tests.conformance.sources.suite import SourceConformance
from tests.conformance.sources.support import Columns, kinds_of
from tests.support.postgresql_server import new_database

pytestmark = pytest.mark.integration

TYPES = {str: "text", int: "bigint", float: "double precision"}


class PostgreSQLLake:
    """One database; it is dropped with all its connections."""

    def __init__(self, url: str, drop) -> None:
        address = make_url(url)
        self.environ: Mapping[str, str] = {"LAKE_PASSWORD": address.password or ""}
        bare = address._replace(drivername="postgresql", password=None)
        self.config = SqlSourceConfig(
            name="s", url=bare.render_as_string(), password_env="LAKE_PASSWORD"
        )
        self._engine = sqlalchemy.create_engine(url, poolclass=sqlalchemy.NullPool)
        self._drop = drop

    @contextmanager
    def _writing(self) -> Iterator[Cursor]:
        """Yield what writes, and let what was counted be seen at once."""
        with self._engine.connect() as connection:
            cursor = connection.connection.cursor()
            yield cursor
            cursor.execute("SELECT pg_stat_force_next_flush()")
            connection.connection.commit()

    def _run(self, *statements: str) -> None:
        with self._writing() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def write(self, name: str, columns: Columns) -> None:
        kinds = kinds_of(columns, TYPES)
        declared = ", ".join(f"{quoted(n)} {k}" for n, k in zip(columns, kinds, strict=True))
        names = ", ".join(map(quoted, columns)).replace("%", "%%")
        arrays = ", ".join(f"%s::{kind}[]" for kind in kinds)
        target = f"{quoted(name).replace('%', '%%')} ({names})"
        with self._writing() as cursor:
            self._delete(cursor, name)
            cursor.execute(f"CREATE TABLE {quoted(name)} ({declared})")
            cursor.execute(
                f"INSERT INTO {target} SELECT * FROM unnest({arrays})",
                [list(column) for column in columns.values()],
            )

    def write_beside(self, name: str) -> None:
        self._run("CREATE SCHEMA x", f"CREATE TABLE x.{quoted(name)} (a int)")

    def describe(self, name: str, text: str) -> None:
        escaped = text.replace("'", "''")
        self._run(f"COMMENT ON TABLE {quoted(name)} IS '{escaped}'")

    def damage(self, name: str) -> None:
        self.delete(name)
        self._run(f"CREATE VIEW {quoted(name)} AS SELECT 1 AS a WHERE 1 / (random() * 0)::int = 1")

    def delete(self, name: str) -> None:
        with self._writing() as cursor:
            self._delete(cursor, name)

    def _delete(self, cursor, name: str) -> None:
        cursor.execute("SELECT relkind FROM pg_class WHERE relname = %s", [name])
        for (kind,) in cursor.fetchall():
            cursor.execute(f"DROP {'VIEW' if kind == 'v' else 'TABLE'} {quoted(name)}")

    def vanish(self) -> None:
        self._drop()


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class TestPostgreSQL(SourceConformance):
    types = TYPES
    longest_name = 63

    @pytest.fixture
    def lake(self, postgresql_url):
        with ExitStack() as database:
            url = database.enter_context(new_database(postgresql_url))
            yield PostgreSQLLake(url, database.close)
