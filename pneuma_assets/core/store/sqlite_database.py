"""The state in one SQLite file in WAL mode: several processes use it, a killed one leaves it whole.

It holds the project's own state only; users' DuckDB files are never used for it, because a
DuckDB writer locks every other process out.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    Executable,
    Row,
    UpdateBase,
    create_engine,
    event,
    func,
    literal,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random

from pneuma_assets.core.errors import StateDamagedError, StateError
from pneuma_assets.core.sqlite_codes import code_of, errors_in_text, remedy_of
from pneuma_assets.core.store.database import BUSY_TIMEOUT_S, Database
from pneuma_assets.core.store.journal import FILE_NAME, SAID, replay, write_journal
from pneuma_assets.core.store.schema import check_format, create, is_there

_DAMAGE = {
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_ERROR,  # an unreadable schema
    sqlite3.SQLITE_TOOBIG,
    sqlite3.SQLITE_IOERR,
}
_WAIT = "wait for the other process that uses it"
_CONSTRAINTS = {
    sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY,
    sqlite3.SQLITE_CONSTRAINT_ROWID,
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
    """One connection writes, and one reads.

    Both stay connected in SQLAlchemy's sense, too: to connect takes it as long as a query. SQLite's
    own transactions are begun and ended by hand, so it knows of none.
    """

    clock = (func.julianday("now") - literal(2440587.5)) * literal(86400.0)

    def __init__(self, path: Path) -> None:
        """Open or create the file; raises `StateError` where it cannot be used."""
        super().__init__()
        self.path = path
        self.where = f"The state file {str(path)!r}"
        self._journal = path.with_name(FILE_NAME)
        self._journal_is_old = False
        noted = path.with_name(f"{path.name}.made")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            there, known = path.exists(), noted.exists()
            if there and not path.stat().st_size and known:
                raise damaged(path, "it is empty")
            if not there and backup_of(path).exists():
                raise damaged(path, "it is missing; to begin anew, remove its backup")
        except OSError as error:
            raise _cannot_open(path, error) from error
        self._writer = self._engine(self._connect)
        event.listen(self._writer, "after_execute", self._notice)
        self._reader = self._engine(self._connect)
        self._ready = False
        try:
            with self._errors():
                self._changing = self._writer.connect()
                made = is_there(self._changing)
            if not made:  # only then it is written, and others who write are waited for
                with self.write() as connection:
                    if not is_there(connection):
                        create(connection)
                        replay(connection, self._journal)
            self._asking = self._reader.connect()
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
            connection.execute("PRAGMA secure_delete = ON")  # what is hidden leaves the file
        return connection

    def _notice(self, _: Connection, statement: object, *__: object) -> None:
        """Notice a statement that changes what people said, wherever it comes from."""
        if isinstance(statement, UpdateBase) and statement.table in SAID:
            self._journal_is_old = True

    def _check_format(self) -> None:
        try:
            check_format(self._changing, self.where)
        except StateError:
            check_pages(raw_of(self._changing))  # it may be what is damaged
            raise

    def check(self) -> None:
        """Let SQLite look whether all pages hang together, 0.1 s for ten thousand tables."""
        with self._lock, self._errors():
            self._must_be_open()
            check_pages(raw_of(self._asking))

    def back_up(self) -> None:
        """Copy the file as it is to its backup, and what people said where no file says it.

        Others who write wait meanwhile, so that two do not make one backup.
        """
        with self.write() as connection:
            if not self._journal.exists():
                write_journal(connection, self._journal)
            backup = backup_of(self.path)
            fresh = _unfinished(backup)
            try:
                fresh.unlink(missing_ok=True)
                with closing(sqlite3.connect(fresh)) as target:
                    raw_of(self._asking).backup(target)
                fresh.replace(backup)
            except OSError as error:
                raise _cannot_open(backup, error) from error

    def drop_backup(self) -> None:
        """Remove the backup, which holds what is to be forgotten; the next run makes another."""
        backup = backup_of(self.path)
        with self.write():  # not while somebody else makes it
            try:
                for one in (backup, _unfinished(backup)):
                    one.unlink(missing_ok=True)
            except OSError as error:
                raise _cannot_open(backup, error) from error

    def checkpoint(self) -> None:
        """Take what is committed out of the log, whose damage SQLite would not notice.

        A reader that is at it keeps it there; it then goes with the next transactions.
        """
        with self._lock, self._errors(), self._reader.connect() as connection:
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
            self._journal_is_old = False
            yield self._changing
            if self._journal_is_old:  # in turn with others, and told as a failure where it fails
                write_journal(self._changing, self._journal)
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
            remedy = remedy_of(error, self.path)
            if remedy is None and _is_damage(error):
                raise damaged(self.path, str(error)) from error
            raise StateError(
                f"{self.where} failed ({error}); {remedy or _WAIT}, and run again: nothing is lost."
            ) from error

    def _release(self) -> None:
        for engine in (self._reader, self._writer):
            engine.dispose()


def raw_of(connection: Connection) -> sqlite3.Connection:
    """Return SQLite's own connection, in the same transaction."""
    raw = connection.connection.driver_connection
    if not isinstance(raw, sqlite3.Connection):
        raise TypeError("this is no connection to SQLite")
    return raw


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


def check_pages(connection: sqlite3.Connection) -> None:
    """Raise SQLite's error of damage where pages do not hang together."""
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise sqlite3.DatabaseError(" ".join(str(verdict).split()))


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
