"""The state on a PostgreSQL server: machines that share nothing else work on the same tables."""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    Executable,
    Row,
    Text,
    cast,
    create_engine,
    func,
    inspect,
    make_url,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.schema import CreateSchema
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random_exponential

from pneuma_assets.core.config.secrets import read_secret
from pneuma_assets.core.config.small_sections import StateConfig
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store.database import BUSY_TIMEOUT_S, Database
from pneuma_assets.core.store.schema import SHARED, check_format, create, is_there

CONNECT_TIMEOUT_S = 10
PATIENCE_S = 30.0
"""How long a transaction tries to begin while the server restarts."""
IDLE_S = 15
"""After so long the server ends a transaction whose machine has gone; others, who wait for it, wait
longer than that."""
_KEEPALIVE = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
"""Seconds, and how often, after which a server that vanished without a word is taken as lost."""

_PASSING = ("08", "57P", "53300", "25006", "40")
"""SQLSTATEs (https://www.postgresql.org/docs/current/errcodes-appendix.html) of what passes: no
connection, shutting down, too many clients, a replica, a deadlock."""
_NO_RIGHT = ("42501", "42P01", "3F000")
"""Refused; and, where a schema may not be looked into, its tables are not found."""
_WAITED = "55P03"
_MOST_WORDS = 500

_ENDED = select(cast(func.pg_current_snapshot(), Text))

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class PostgreSQL:
    """Where a state is on a server: an address without a password, and the schema it is in."""

    url: URL
    schema: str = "pneuma"
    password: str | None = field(default=None, repr=False)


class PostgreSQLDatabase(Database):
    """Whoever writes holds one advisory lock of the schema, so that writers take turns.

    A server that does not answer is told at once on opening, and waited for later on.
    """

    clock = func.date_part("epoch", func.clock_timestamp())
    longest_name = 1_000  # a key is at most two of them, and its index takes 2,704 bytes

    def __init__(self, at: PostgreSQL, *, reads_within_s: float | None = None) -> None:
        """Connect, and make the tables where there are none; raises `StateError`.

        Who only reads and makes nothing waits `reads_within_s` for the server, and for a lock.
        """
        super().__init__(f"The state at {at.url.set(query={}).render_as_string()}")
        self._at = at
        self._turn = zlib.crc32(f"pneuma-assets {at.schema}".encode())
        self._engine = _engine_of(at, reads_within_s)
        self._reader = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        self._patience_s = 0.0
        if reads_within_s is not None:
            return
        try:
            if not self.is_made():
                with self._errors(), self._begin() as connection:
                    self._make(connection)
                    connection.commit()
            with self._errors(), self._reader.connect() as connection:
                check_format(connection, self.where)
        except BaseException:
            self.close()
            raise
        self._patience_s = PATIENCE_S

    def is_made(self) -> bool:
        """Tell whether there is a state, of whatever format."""
        with self._errors(), self._reader.connect() as connection:
            return is_there(connection, self._at.schema)

    def mark(self) -> object:
        """Return which transactions have ended, also those of others on this server."""
        return str(self.read(_ENDED)[0][0])

    def _make(self, connection: Connection) -> None:
        schema = self._at.schema
        if not inspect(connection).has_schema(schema):  # who may not make one may use one
            connection.execute(CreateSchema(schema))
        if not is_there(connection, schema):  # another was faster
            create(connection)
            SHARED.create_all(connection)

    def _read(self, statement: Executable, values: Mapping[str, Any]) -> Sequence[Row[Any]]:
        return self._patiently(lambda: self._ask(statement, values))

    def _ask(self, statement: Executable, values: Mapping[str, Any]) -> Sequence[Row[Any]]:
        with self._reader.connect() as connection:
            return connection.execute(statement, values).all()

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        with self._patiently(self._begin) as connection:
            check_format(connection, self.where)  # somebody may have made it anew
            yield connection
            connection.commit()

    def _patiently(self, work: Callable[[], _Result]) -> _Result:
        patient = Retrying(
            retry=retry_if_exception(_passes),
            stop=stop_after_delay(self._patience_s),
            wait=wait_random_exponential(0.2, max=3),
            reraise=True,
        )
        return patient(work)

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
            meaning = _meaning(error, self._at.schema, self._at.url.username)
            raise StateError(f"{self.where} {meaning}") from error

    def _release(self) -> None:
        self._engine.dispose()


def server_of(config: StateConfig, environ: Mapping[str, str]) -> PostgreSQL | None:
    """Return where the state's server is, if any; raises `ConfigError` without its password."""
    if config.url is None:
        return None
    password = None
    if config.password_env is not None:
        password = read_secret(
            environ, config.password_env, "state", "the password of the state's database"
        )
    return PostgreSQL(make_url(config.url), config.schema_name, password)


def is_made(at: PostgreSQL) -> bool:
    """Tell whether there is a state; creates nothing; raises `StateError`."""
    with PostgreSQLDatabase(at, reads_within_s=BUSY_TIMEOUT_S) as database:
        return database.is_made()


def _engine_of(at: PostgreSQL, reads_within_s: float | None) -> Engine:
    patience_s = BUSY_TIMEOUT_S if reads_within_s is None else reads_within_s
    settings = {
        "search_path": at.schema,
        "lock_timeout": int(patience_s * 1000),
        "idle_in_transaction_session_timeout": int(IDLE_S * 1000),
    }
    if reads_within_s is not None:
        settings["default_transaction_read_only"] = "on"
        settings["statement_timeout"] = int(2 * patience_s * 1000)
    url = at.url if at.password is None else at.url.set(password=at.password)
    given = url.query.get("options", "")
    options = given if isinstance(given, str) else " ".join(given)
    return create_engine(
        url.set(drivername="postgresql+psycopg").difference_update_query(["options"]),
        isolation_level="READ COMMITTED",  # whatever the role's own: one looks after its turn came
        pool_pre_ping=True,
        connect_args={
            "connect_timeout": min(CONNECT_TIMEOUT_S, max(2, int(patience_s))),
            "application_name": "pneuma-assets",
            "options": " ".join([options, *(f"-c {k}={v}" for k, v in settings.items())]),
            **_KEEPALIVE,
        },
    )


def _passes(error: BaseException) -> bool:
    """Tell a server that restarts from one that refuses, once it has been reached."""
    if not isinstance(error, DBAPIError):
        return False
    state = _state(error)
    return isinstance(error, OperationalError) if state is None else state.startswith(_PASSING)


def _meaning(error: SQLAlchemyError, schema: str, user: str | None) -> str:
    """Return what is wrong and what to do, as the end of a sentence that begins with the state."""
    said = " ".join(str(getattr(error, "orig", None) or error).split())[:_MOST_WORDS]
    state = _state(error)
    if state in _NO_RIGHT:
        return (
            f"does not let its user in ({said}); let the owner of the database run: "
            f"CREATE SCHEMA IF NOT EXISTS {schema}; GRANT USAGE, CREATE ON SCHEMA {schema} TO "
            f"{_quoted(user)}"
        )
    if state == _WAITED or isinstance(error, PoolTimeoutError):
        return f"is in use by others for too long ({said}); run again, nothing is lost."
    if state is None and isinstance(error, OperationalError):
        return (
            f"cannot be reached ({said}); see that the server runs and takes more connections, "
            "and that address, user and password are right."
        )
    return f"failed ({said}); see to the server, and run again: nothing is lost."


def _state(error: SQLAlchemyError) -> str | None:
    state = getattr(getattr(error, "orig", None), "sqlstate", None)
    return None if state is None else str(state)


def _quoted(user: str | None) -> str:
    return "the user" if user is None else '"{}"'.format(user.replace('"', '""'))
