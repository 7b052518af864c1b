"""Where the state is kept: a SQLite file, or a PostgreSQL server that several machines share.

Either way a transaction that writes is alone: all others, also of other machines, wait for it.
"""

import json
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from threading import RLock, local
from typing import Any

from sqlalchemy import ColumnElement, Connection, Executable, Row, Select, select

from pneuma_assets.core.close_once import Closing
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store.schema import delete_by, meta, portions, storable, upsert

BUSY_TIMEOUT_S = 30.0
"""How long a transaction waits for the others."""


class Database(Closing):
    """Transactions that either happen or do not, from any thread.

    Any method raises `StateError` where it cannot be used, `StateDamagedError` where it is damaged.

    Attributes:
        where: Names it in messages: "The state file '/lake/.pneuma/state.db'".
        clock: Its own time in seconds since 1970, the same for all who share it.
        longest_name: How many bytes of a name it can find again; None: any number.
    """

    clock: ColumnElement[float]
    longest_name: int | None = None

    def __init__(self, where: str) -> None:
        self.where = where
        self._lock = RLock()
        self._here = local()
        self._closed = False

    def fits(self, name: str) -> bool:
        """Tell whether a name, such as a table's id, is short enough to be found again."""
        limit = self.longest_name
        return limit is None or len(name.encode("utf-8", "replace")) <= limit

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Run one transaction, or a part of that which this thread is in: all or none happens."""
        with self._lock:
            if self._writing is not None:
                yield self._writing
                return
            self._must_be_open()
            with self._errors(), self._transaction() as connection:
                self._here.writing = connection
                try:
                    yield connection
                finally:
                    self._here.writing = None

    def read(self, statement: Executable, **values: Any) -> Sequence[Row[Any]]:
        """Return all rows of a query, given its parameters; a transaction sees its own."""
        self._must_be_open()
        with self._errors():
            if self._writing is not None:
                return self._writing.execute(statement, values).all()
            return self._read(statement, values)

    def read_by(
        self, statement: Select[Any], column: ColumnElement[Any], wanted: Iterable[Any] | None
    ) -> Iterator[Row[Any]]:
        """Yield rows of a query with one of the wanted values (None: all), ordered by `AT_ONCE`."""
        if wanted is None:
            yield from self.read(statement)
            return
        for some in portions(wanted):
            yield from self.read(statement.where(column.in_(some)))

    def grouped(
        self, statement: Select[Any], column: ColumnElement[Any], wanted: Iterable[str]
    ) -> dict[str, list[Row[Any]]]:
        """Return the rows of a query by the wanted name that they have; each name is there."""
        wanted = list(wanted)
        found: dict[str, list[Row[Any]]] = {storable(one): [] for one in wanted}
        for row in self.read_by(statement, column, wanted):
            found[getattr(row, str(column.key))].append(row)
        return {one: found[storable(one)] for one in wanted}

    def now(self) -> float:
        """Return the time by its own clock, in seconds since 1970."""
        return float(self.read(select(self.clock))[0][0])

    def check(self) -> None:
        """Raise `StateDamagedError` where a file is damaged; a server checks its own pages."""

    def back_up(self) -> None:
        """Copy a file, for when it is damaged; a server is backed up by its own means."""

    def drop_backup(self) -> None:
        """Remove that copy: something that it holds is to be forgotten."""

    def checkpoint(self) -> None:
        """Take what is committed to where no other loss takes it back."""

    def close(self) -> None:
        """Release what is held; further use raises `StateError`."""
        with self._lock:
            self._closed = True
            self._release()

    @abstractmethod
    def mark(self) -> object:
        """Return what is another one after each transaction that wrote anything, by whomever."""

    @property
    def _writing(self) -> Connection | None:
        """The transaction that this thread is in; another thread's is none of its business."""
        return getattr(self._here, "writing", None)

    def _must_be_open(self) -> None:
        if self._closed:
            raise StateError(f"{self.where} is closed; open it again.")

    @abstractmethod
    def _read(self, statement: Executable, values: Mapping[str, Any]) -> Sequence[Row[Any]]:
        """Run a query outside of transactions."""

    @abstractmethod
    def _transaction(self) -> AbstractContextManager[Connection]:
        """Begin alone; commit at the end, or roll back."""

    @abstractmethod
    def _errors(self) -> AbstractContextManager[None]:
        """Turn the driver's errors into `StateError`."""

    @abstractmethod
    def _release(self) -> None:
        """Close files or connections; may be called twice."""


class StorePart:
    """What the store has to do with some of the tables of its database."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def mark(self) -> object:
        """Return what is another one after anything was written, by whomever; takes no time."""
        return self._db.mark()


def get(database: Database, key: str) -> str | None:
    """Return the text under a key; None: there is none. A transaction sees its own."""
    found = database.read(select(meta.c.value).where(meta.c.key == key))
    return str(found[0].value) if found else None


def put(database: Database, key: str, text: str) -> None:
    """Save a text in the place of the one before."""
    with database.write() as connection:
        upsert(connection, meta, [{"key": key, "value": text}])


def get_json(database: Database, key: str) -> Any:
    """Return the plain values under a key; None: there are none."""
    text = get(database, key)
    return None if text is None else json.loads(text)


def put_json(database: Database, key: str, values: Any) -> None:
    """Save plain values, which JSON can spell, in the place of those before."""
    put(database, key, json.dumps(values))


def get_all(database: Database, prefix: str) -> dict[str, str]:
    """Return the texts under all keys that begin so, by the rest of the key."""
    found = database.read(select(meta).where(meta.c.key.startswith(prefix, autoescape=True)))
    return {row.key.removeprefix(prefix): row.value for row in found}


def put_all(
    database: Database, prefix: str, texts: Mapping[str, str], removed: Iterable[str] = ()
) -> None:
    """Save texts under keys that begin so; those that are empty or too long a key are removed."""
    rows = [{"key": prefix + name, "value": text} for name, text in texts.items() if text]
    with database.write() as connection:
        delete_by(connection, meta.c.key, [prefix + name for name in (*texts, *removed)])
        upsert(connection, meta, [row for row in rows if database.fits(row["key"])])
