"""The state in one SQLite file in WAL mode: several processes use it, a killed one leaves it whole.

It holds the project's own state only; users' DuckDB files are never used for it, because a
DuckDB writer locks every other process out.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Executable, Row, create_engine, func, literal
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random

from pneuma_assets.core.errors import StateError
from pneuma_assets.core.sqlite_codes import code_of, errors_in_text, remedy_of
from pneuma_assets.core.store import row_sums
from pneuma_assets.core.store.database import BUSY_TIMEOUT_S, Database
from pneuma_assets.core.store.format import check_format, create, is_there
from pneuma_assets.core.store.row_sums import damaged
from pneuma_assets.core.store.schema import corrections, user_contexts

PRECIOUS = (user_contexts.name, corrections.name)
"""The tables that nothing brings back but a backup."""

_DAMAGE = {
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_ERROR,  # an unreadable schema, or `row_sums` refused a row
    sqlite3.SQLITE_TOOBIG,
    sqlite3.SQLITE_IOERR,
}
_WAIT = "wait for the other process that uses it"
_CONSTRAINTS = {
    sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY,
    sqlite3.SQLITE_CONSTRAINT_ROWID,
    sqlite3.SQLITE_CONSTRAINT_TRIGGER,
    sqlite3.SQLITE_CONSTRAINT_UNIQUE,
}


def _is_busy(error: BaseException) -> bool:
    return isinstance(error, sqlite3.Error) and code_of(error) & 0xFF == sqlite3.SQLITE_BUSY


_WAITING = Retrying(
    retry=retry_if_exception(_is_busy),
    stop=stop_after_delay(BUSY_TIMEOUT_S),
    wait=wait_random(max=0.05),
    reraise=True,
)
"""Where two change a new file to WAL at once, SQLite waits for neither, whatever its timeout."""


class SqliteDatabase(Database):
    """One connection writes, and one reads through views that refuse damaged rows.

    Both stay connected in SQLAlchemy's sense, too: to connect takes it as long as a query. SQLite's
    own transactions are begun and ended by hand, so it knows of none.
    """

    clock = (func.julianday("now") - literal(2440587.5)) * literal(86400.0)

    def __init__(self, path: Path) -> None:
        """Open or create the file; raises `StateError` where it cannot be used."""
        super().__init__()
        self.path = path
        self.where = f"The state file {str(path)!r}"
        noted = path.with_name(f"{path.name}.made")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lost = path.exists() and not path.stat().st_size and noted.exists()
        except OSError as error:
            raise _cannot_open(path, error) from error
        if lost:
            raise damaged("it is empty")
        self._writer = self._engine(self._connect)
        self._covered = self._writer
        self._ready = False
        try:
            with self._errors():
                self._changing = self._writer.connect()
                made = is_there(self._changing)
            if not made:  # only then it is written, and others who write are waited for
                with self.write() as connection:
                    if not is_there(connection):
                        create(connection)
                        row_sums.install(raw_of(connection))
            self._covered = self._engine(self._connect_covered)
            self._asking = self._covered.connect()
            self._look()
            with self._errors():
                self._check_format()
            _note(noted)
        except BaseException:
            self.close()
            raise
        self._ready = True

    @staticmethod
    def _engine(connect: Callable[[], sqlite3.Connection]) -> Engine:
        return create_engine("sqlite://", creator=connect, poolclass=StaticPool)

    def _connect(self) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(
                self.path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
        except sqlite3.OperationalError as error:
            raise _cannot_open(self.path, error) from error
        with errors_in_text():
            _WAITING.copy()(connection.execute, "PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            row_sums.prepare(connection)
        return connection

    def _connect_covered(self) -> sqlite3.Connection:
        connection = self._connect()
        row_sums.cover(connection)
        return connection

    def _check_format(self) -> None:
        try:
            check_format(self._changing, self.where)
        except StateError:
            row_sums.check_everything(raw_of(self._changing))  # it may be what is damaged
            raise

    def _look(self) -> None:
        """Notice what is missing, and damage to what only people know."""
        with self._snapshot() as connection:
            row_sums.check_shape(connection)
            columns = row_sums.tables_of(connection)
            for name in PRECIOUS:
                row_sums.check_table(connection, name, columns[name])

    def check(self) -> None:
        """Compare every row with what was written, about 5 us a row."""
        with self._snapshot() as connection:
            row_sums.check_everything(connection)

    def settle(self) -> None:
        """Take what is committed out of the log, whose damage SQLite would not notice.

        A reader that is at it keeps it there; it then goes with the next transactions.
        """
        with self._lock, self._errors(), self._covered.connect() as connection:
            raw_of(connection).execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def _read(self, statement: Executable, values: Mapping[str, Any]) -> Sequence[Row[Any]]:
        with self._lock:
            self._must_be_open()
            return self._asking.execute(statement, values).all()

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        raw = raw_of(self._changing)
        raw.execute("BEGIN IMMEDIATE")  # a lock that is taken late may be refused
        try:
            if self._ready:
                self._check_format()
            yield self._changing
            raw.execute("COMMIT")
        except BaseException:
            if raw.in_transaction:  # SQLite ends some by itself (disk full)
                raw.execute("ROLLBACK")
            raise

    @contextmanager
    def _snapshot(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._errors(), self._covered.connect() as connection:
            raw = raw_of(connection)
            raw.execute("BEGIN")
            try:
                yield raw
            finally:
                raw.execute("ROLLBACK")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (DBAPIError, sqlite3.Error) as wrapped:
            error = wrapped.orig if isinstance(wrapped, DBAPIError) else wrapped
            if not isinstance(error, sqlite3.Error):
                raise
            if str(error) == row_sums.RAISED:
                raise self._what_raised(error) from None  # SQLite's words say nothing of it
            remedy = remedy_of(error, self.path)
            if remedy is None and _is_damage(error):
                raise damaged(str(error)) from error
            raise StateError(
                f"{self.where} failed ({error}); {remedy or _WAIT}, and run again: nothing is lost."
            ) from error

    def _what_raised(self, error: sqlite3.Error) -> BaseException:
        """Tell Ctrl-C inside a checksum from a value that no checksum can be made of."""
        interruption = row_sums.interruption()
        if interruption is not None:
            return interruption
        try:
            with self._covered.connect() as connection:
                row_sums.check_everything(raw_of(connection))
        except (DBAPIError, sqlite3.Error, StateError):
            return damaged(str(error))
        return KeyboardInterrupt()

    def _release(self) -> None:
        for engine in (self._covered, self._writer):
            engine.dispose()


def raw_of(connection: Connection) -> sqlite3.Connection:
    """Return SQLite's own connection, in the same transaction."""
    raw = connection.connection.driver_connection
    if not isinstance(raw, sqlite3.Connection):
        raise TypeError("this is no connection to SQLite")
    return raw


def _note(made: Path) -> None:
    """Note that there is a state file, so that an empty one is not taken for a new one."""
    try:
        if not made.exists():
            made.touch()
    except OSError as error:
        raise _cannot_open(made, error) from error


def _cannot_open(path: Path, error: Exception) -> StateError:
    return StateError(
        f"Cannot open the state file {str(path)!r} ({error}); check that the folder is "
        "writable, or choose another with --home."
    )


def _is_damage(error: sqlite3.Error) -> bool:
    """Tell damage from a full disk, a lock, or a closed file."""
    code = code_of(error)
    return code in _CONSTRAINTS or code & 0xFF in _DAMAGE
