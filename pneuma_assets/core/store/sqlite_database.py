"""A database in one SQLite file in WAL mode: several processes use it, a killed one harms nothing.

It holds the project's own state only; users' DuckDB files are never used for it, because a
DuckDB writer locks every other process out.
"""

import sqlite3
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

from sqlalchemy import (
    Connection,
    ExceptionContext,
    Executable,
    Row,
    create_engine,
    event,
    func,
    literal,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from pneuma_assets.core.errors import StateDamagedError, StateError
from pneuma_assets.core.sqlite_codes import code_of, errors_in_text, remedy_of
from pneuma_assets.core.sqlite_wal import SqliteFile, checkpoint
from pneuma_assets.core.store.database import BUSY_TIMEOUT_S, Database
from pneuma_assets.core.store.schema import check_format, create, is_there
from pneuma_assets.core.store.user_edits_journal import (
    FILE_NAME,
    keep,
    replay,
    watch,
    write_journal,
)

_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_DAMAGE_OF_STATE = _DAMAGE | {sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_IOERR}
_SUSPECT = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT}
"""Damage may lie behind these (a table that is missing, a key that is there twice), or a fault of
this program."""


def _stay_connected(context: ExceptionContext) -> None:
    """Let what interrupts a statement end that alone: SQLAlchemy takes it for a lost connection."""
    context.is_disconnect = False


class SqliteDatabase(Database):
    """One connection writes, and one reads; whoever reads waits for nobody who writes.

    Both stay connected in SQLAlchemy's sense, too: to connect takes it as long as a query. SQLite's
    own transactions are begun and ended by hand, so it knows of none.
    """

    clock = (func.julianday("now") - literal(2440587.5)) * literal(86400.0)
    damage = _DAMAGE
    """The kinds of SQLite's errors that damage is told by."""
    remedy = (
        "wait for other processes that use it, see that this user may write it and its folder, and "
        "run again: nothing is lost"
    )

    def __init__(self, path: Path, what: str) -> None:
        """Open or create the file, which messages call `what`; raises `StateError`."""
        super().__init__(f"{what} {str(path)!r}")
        self.path = path
        self._reading = RLock()
        self._engine = create_engine(
            "sqlite://", creator=SqliteFile(path, BUSY_TIMEOUT_S).connect, poolclass=NullPool
        )
        event.listen(self._engine, "handle_error", _stay_connected)
        self._connections: list[Connection] = []
        try:
            with self._errors():
                for _ in range(2):
                    self._connections.append(self._engine.connect())
        except BaseException:
            self.close()
            raise
        self._changing, self._asking = self._connections

    def check(self) -> None:
        """Let SQLite look whether all pages hang together, 0.1 s for ten thousand tables."""
        with self._errors(), self._reading:
            self._must_be_open()
            _check(self._asking, "quick_check")

    def checkpoint(self) -> None:
        """Take what is committed out of the log (`sqlite_wal.checkpoint`)."""
        with self._errors(), self._reading:
            checkpoint(raw_of(self._asking))

    def mark(self) -> object:
        """Return SQLite's own count of changes by other connections than the one that reads."""
        with self._errors(), self._reading:
            self._must_be_open()
            return raw_of(self._asking).execute("PRAGMA data_version").fetchone()[0]

    def _read(self, statement: Executable, values: Mapping[str, Any]) -> Sequence[Row[Any]]:
        with self._reading:
            self._must_be_open()
            return self._asking.execute(statement, values).all()

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        raw = raw_of(self._changing)
        try:
            raw.execute("BEGIN IMMEDIATE")  # a lock that is taken late may be refused
            yield self._changing
            raw.execute("COMMIT")
        except BaseException:
            if raw.in_transaction:  # SQLite ends some by itself (disk full)
                raw.execute("ROLLBACK")
            raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (DBAPIError, sqlite3.Error) as wrapped:
            error = wrapped.orig if isinstance(wrapped, DBAPIError) else wrapped
            if not isinstance(error, sqlite3.Error):
                raise
            raise self._described(error) from error

    def _described(self, error: sqlite3.Error) -> StateError:
        kind = code_of(error) & 0xFF
        remedy = remedy_of(error, self.path)
        suspect = kind in _SUSPECT
        if remedy is None and (kind in self.damage or (suspect and not self._is_whole())):
            return self._damaged(str(error))
        if suspect:
            remedy = "the file is whole: report this as a fault of pneuma-assets"
        told = StateError(f"{self.where} failed ({error}); {remedy or self.remedy}.")
        if kind == sqlite3.SQLITE_READONLY:
            told.saying_elsewhere("This deployment can only be read: nothing is kept of it.")
        return told

    def _is_whole(self) -> bool:
        """Tell whether the file can be opened, and SQLite finds nothing wrong in it."""
        if not self._connections:
            return False
        try:
            with self._lock, errors_in_text():
                _check(self._connections[0], "integrity_check")
        except sqlite3.Error:
            return False
        return True

    @abstractmethod
    def _damaged(self, what: str) -> StateDamagedError:
        """Return the error that names damage, and the remedy."""

    def _release(self) -> None:
        with self._reading:
            for connection in self._connections:
                connection.close()


class StateDatabase(SqliteDatabase):
    """The state, with a backup and what people said in files beside it."""

    damage = _DAMAGE_OF_STATE

    def __init__(self, path: Path) -> None:
        """Open or create the file; raises `StateError` where it cannot be used."""
        self._journal = path.with_name(FILE_NAME)
        self._said: list[tuple[str, Sequence[Any]]] = []
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if backup_of(path).exists() and not (path.exists() and path.stat().st_size):
                raise damaged(path, "it is missing or empty; to begin anew, remove its backup")
        except OSError as error:
            raise _cannot_write(path, error) from error
        super().__init__(path, "The state file")
        try:
            with self._errors():
                if not is_there(self._changing):  # only then others who write are waited for
                    with super()._transaction() as connection:
                        if not is_there(connection):
                            create(connection)
                            replay(connection, self._journal)
                self._check_format()
                watch(raw_of(self._changing), lambda table, *row: self._said.append((table, row)))
        except BaseException:
            self.close()
            raise

    def _check_format(self) -> None:
        try:
            check_format(self._changing, self.where)
        except StateError:
            _check(self._changing, "quick_check")  # it may be what is damaged
            raise

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        with super()._transaction() as connection:
            self._check_format()
            self._said.clear()
            yield connection
            if self._said:  # in turn with others, and told as a failure where it fails
                keep(connection, self._journal, self._said)

    def _damaged(self, what: str) -> StateDamagedError:
        return damaged(self.path, what)

    def back_up(self) -> None:
        """Copy the file as it is to its backup, and what people said where no file says it.

        Others who write wait meanwhile, so that two do not make one backup.
        """
        backup = backup_of(self.path)
        fresh = _unfinished(backup)
        with self.write() as connection:
            if not self._journal.exists():
                write_journal(connection, self._journal)
            try:
                fresh.unlink(missing_ok=True)
                with closing(sqlite3.connect(fresh)) as target, self._reading:
                    raw_of(self._asking).backup(target)
                fresh.replace(backup)
            except OSError as error:
                raise _cannot_write(backup, error) from error
        self.checkpoint()  # the log holds what is forgotten since, too

    def drop_backup(self) -> None:
        """Remove the backup, which holds what is to be forgotten; the next run makes another."""
        backup = backup_of(self.path)
        with self.write():  # not while somebody else makes it
            try:
                for one in (backup, _unfinished(backup)):
                    one.unlink(missing_ok=True)
            except OSError as error:
                raise _cannot_write(backup, error) from error


def raw_of(connection: Connection) -> sqlite3.Connection:
    """Return SQLite's own connection, in the same transaction."""
    raw = connection.connection.driver_connection
    if not isinstance(raw, sqlite3.Connection):
        raise TypeError("this is no connection to SQLite")
    return raw


def _check(connection: Connection, how: str) -> None:
    (verdict,) = raw_of(connection).execute(f"PRAGMA {how}(1)").fetchone()
    if verdict != "ok":
        raise sqlite3.DatabaseError(" ".join(str(verdict).split()))


def backup_of(path: Path) -> Path:
    """Return where a state file is backed up."""
    return path.with_name("state.db.backup")


def _unfinished(backup: Path) -> Path:
    return backup.with_name(f"{backup.name}.new")


def damaged(path: Path, what: str) -> StateDamagedError:
    """Return the error that names damage, the backup if there is one, and the remedy."""
    backup = backup_of(path)
    remedy = f"puts its backup {backup.name} in its place" if backup.exists() else "begins anew"
    return StateDamagedError(
        f"The state file {path.name} is damaged ({what}); run `pneuma-assets restore`, which "
        f"{remedy} and keeps what people said."
    )


def _cannot_write(path: Path, error: OSError) -> StateError:
    return StateError(
        f"Cannot write {str(path)!r} ({error}); check that the folder is writable, or choose "
        "another with --home."
    )
