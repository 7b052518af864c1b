"""A SQLite file by its URL, opened read-only: `sqlite:///shop.sqlite`."""

import sqlite3
from collections.abc import Set
from functools import partial
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, text

from pneuma_assets.core.sources.bounds import reading_file
from pneuma_assets.core.sources.sql.generic import Generic

_TELLS_SHADOWS = (3, 37)
"""The first version of SQLite that does; distributions still have older ones."""

_SHADOWS = "SELECT name FROM pragma_table_list WHERE schema = :schema AND type = 'shadow'"


class SQLite(Generic):
    """One file; its size and time tell that anything in it has changed."""

    sql: ClassVar[str] = "sqlite"
    check: ClassVar[str] = "check that the path in the source's url is that of a SQLite file"

    def engine(self, url: URL) -> Engine:
        """Return what opens the file, which has to be there, for as long as a call lasts."""
        path = Path(url.database or "")
        opened = partial(_open, path, self.bounds.seconds)
        return create_engine("sqlite://", creator=opened, poolclass=NullPool)

    def prepare(self, cursor: Any) -> None:
        """Let no view write, and no view call what its author could abuse."""
        cursor.execute("PRAGMA query_only = ON")
        cursor.execute("PRAGMA trusted_schema = OFF")

    def signals(self, connection: Connection) -> tuple[str, ...]:
        """Return size and time of the file, and of its log."""
        (found,) = connection.exec_driver_sql("PRAGMA database_list").fetchall()
        path = Path(found[2])
        stamps = [one.stat() for one in (path, Path(f"{path}-wal")) if one.exists()]
        return tuple(f"{stamp.st_size}-{stamp.st_mtime_ns}" for stamp in stamps)

    def shadows(self, connection: Connection, schema: str) -> Set[str]:
        """Return what a full-text or spatial index keeps its words and boxes in, if known."""
        if sqlite3.sqlite_version_info < _TELLS_SHADOWS:
            return frozenset()
        return {*connection.execute(text(_SHADOWS), {"schema": schema}).scalars()}


def _open(path: Path, seconds: float) -> sqlite3.Connection:
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    reading_file(path)
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode=ro", uri=True, timeout=seconds, check_same_thread=False
    )
    connection.text_factory = partial(str, encoding="utf-8", errors="replace")
    return connection
