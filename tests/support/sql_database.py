"""A PostgreSQL database of a test's own, and the source that reads it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from sqlalchemy import make_url

from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.sources.kinds.sql import SqlSourceConfig
from pneuma_assets.core.tables import TableRef

VARIABLE = "SHOP_PASSWORD"


class Database:
    """One database as its owner sees it."""

    def __init__(self, url: str) -> None:
        self.url = make_url(url)

    def run(self, *statements: str) -> list[Any]:
        """Run statements as one transaction, counted at once; return what the last one found."""
        with self.connected() as connection:
            for statement in statements:
                cursor = connection.execute(statement)
            found = cursor.fetchall() if cursor.description else []
            connection.execute("SELECT pg_stat_force_next_flush()")
            return found

    def run_bytes(self, *statements: bytes) -> None:
        """Run statements as they are, in a database that takes any bytes for text."""
        with self.connected() as connection:
            connection.execute("SET client_encoding = 'SQL_ASCII'")
            for statement in statements:
                connection.execute(statement)
            connection.execute("SELECT pg_stat_force_next_flush()")

    def maintain(self, statement: str) -> None:
        """Run what no transaction may hold."""
        with psycopg.connect(self._address, autocommit=True) as connection:
            connection.execute(statement)

    @contextmanager
    def connected(self) -> Iterator[psycopg.Connection]:
        with psycopg.connect(self._address) as connection:
            yield connection

    @property
    def _address(self) -> str:
        return self.url.set(drivername="postgresql").render_as_string(hide_password=False)

    @property
    def environ(self) -> dict[str, str]:
        return {VARIABLE: self.url.password or ""}

    def config(self, user: str | None = None, **keys: Any) -> SqlSourceConfig:
        """A source called `shop` that reads it, as its owner or as somebody else."""
        url = self.url._replace(drivername="postgresql", password=None)
        if user is not None:
            url = url.set(username=user)
        given = {"password_env": VARIABLE, **keys}
        return SqlSourceConfig(name="shop", url=url.render_as_string(), **given)


def listed(source: Source) -> dict[str, TableRef]:
    """Tables by id, without the source's name."""
    return {ref.table_id.partition("/")[2]: ref for ref in source.list_tables().tables}
