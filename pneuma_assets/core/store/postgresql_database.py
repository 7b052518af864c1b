"""The state on a PostgreSQL server: machines that share nothing else work on the same tables."""

import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, func, text
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.schema import CreateSchema
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random_exponential

from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store.database import BUSY_TIMEOUT_S, Database
from pneuma_assets.core.store.upgrade import HEAD, REVISIONS, create, revision_of, upgrade

CONNECT_TIMEOUT_S = 10
PATIENCE_S = 30.0
"""How long a transaction tries to begin while the server restarts."""
_IDLE_S = 60
"""After so long the server ends a transaction whose machine has gone; others wait for it."""
_PASSING = ("08", "57P", "53300", "25006", "40")
"""SQLSTATE classes that pass: no connection, shutting down, too many clients, a replica."""


@dataclass(frozen=True, slots=True)
class PostgreSQL:
    """Where a state is on a server: an address without a password, and the schema it is in.

    A schema's name is of lower-case letters, digits and underscores (`StateConfig`).
    """

    url: URL
    schema: str = "pneuma"
    password: str | None = field(default=None, repr=False)


class PostgreSQLDatabase(Database):
    """Whoever writes holds one advisory lock of the schema, so that writers take turns."""

    clock = func.date_part("epoch", func.clock_timestamp())

    def __init__(self, at: PostgreSQL) -> None:
        """Connect, and make the tables where there are none; raises `StateError`."""
        super().__init__()
        self.where = _where(at)
        self._turn = zlib.crc32(f"pneuma-assets {at.schema}".encode())
        self._engine = _engine(at)
        try:
            with self.write() as connection:
                self._prepare(connection, at.schema)
        except BaseException:
            self.close()
            raise

    def _prepare(self, connection: Connection, schema: str) -> None:
        connection.execute(CreateSchema(schema, if_not_exists=True))
        found = revision_of(connection, schema)
        if found is None:
            create(connection)
        elif found not in REVISIONS:
            raise StateError(
                f"{self.where} was written by a newer version of pneuma-assets (format {found}, "
                f"this one reads up to {HEAD}); upgrade pneuma-assets here, too."
            )
        elif found != HEAD:
            upgrade(connection)

    @property
    def _reader(self) -> Engine:
        return self._engine

    def _reading_lock(self) -> AbstractContextManager[Any]:
        return nullcontext()  # the pool has a connection for each thread

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        patient = Retrying(
            retry=retry_if_exception(_passes),
            stop=stop_after_delay(PATIENCE_S),
            wait=wait_random_exponential(0.2, max=3),
            reraise=True,
        )
        connection = patient(self._begin)
        with connection:
            yield connection
            connection.commit()

    def _begin(self) -> Connection:
        connection = self._engine.connect()
        try:
            connection.execute(text("SELECT pg_advisory_xact_lock(:turn)"), {"turn": self._turn})
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            raise _failed(self.where, error) from error

    def check(self) -> None:
        """Do nothing: the server checks its own pages (initdb --data-checksums)."""

    def settle(self) -> None:
        """Do nothing: what the server has committed is settled."""

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


def is_made(at: PostgreSQL) -> bool:
    """Tell whether there is a state; creates nothing.

    Raises:
        StateError: The server cannot be asked.
    """
    engine = _engine(at)
    try:
        with engine.connect() as connection:
            return revision_of(connection, at.schema) is not None
    except SQLAlchemyError as error:
        raise _failed(_where(at), error) from error
    finally:
        engine.dispose()


def _engine(at: PostgreSQL) -> Engine:
    url = at.url if at.password is None else at.url.set(password=at.password)
    return create_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_pre_ping=True,
        connect_args={
            "connect_timeout": CONNECT_TIMEOUT_S,
            "application_name": "pneuma-assets",
            "options": f"-c search_path={at.schema}"
            f" -c lock_timeout={int(BUSY_TIMEOUT_S * 1000)}"
            f" -c idle_in_transaction_session_timeout={_IDLE_S * 1000}",
        },
    )


def _where(at: PostgreSQL) -> str:
    return f"The state at {at.url.render_as_string(hide_password=True)}"


def _failed(where: str, error: SQLAlchemyError) -> StateError:
    said = " ".join(str(getattr(error, "orig", None) or error).split())
    return StateError(
        f"{where} failed ({said}); see that the server runs, that the user may use the schema, "
        "and run again: nothing is lost."
    )


def _passes(error: BaseException) -> bool:
    """Tell a server that restarts from one that refuses."""
    if not isinstance(error, DBAPIError):
        return False
    state = getattr(error.orig, "sqlstate", None)
    if state is None:
        return isinstance(error, OperationalError)
    return str(state).startswith(_PASSING)
