"""Connections to one server, and what goes wrong with them in one line, without the password."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from typing import Any

from sqlalchemy import URL, Connection, Engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from pneuma_assets.core.errors import (
    AccessRefusedError,
    ConfigError,
    PneumaError,
    SourceError,
    SqlFailedError,
    SqlStoppedError,
    TableReadError,
    TableTooSlowError,
)
from pneuma_assets.core.extras import needs_extra
from pneuma_assets.core.sources.sql.dialect import Dialect
from pneuma_assets.core.sources.sql.engines import ENGINES, SqlBounds, SqlEngine
from pneuma_assets.core.text.safe import one_line
from pneuma_assets.core.text.suggest import nearest


class Server:
    """Connects to the databases of one source, each when first needed.

    Args:
        name: Of the source.
        engine: What answers there.
        bounds: How much it may be asked for.
        url: Of the source, without its password.
        password: Never to be shown; None: the driver looks for one by itself.
        databases: Several of them; none: that of the URL, whose name is then empty.

    Raises:
        ConfigError: Its driver is not installed, or its URL is none that SQLAlchemy takes.
    """

    def __init__(
        self,
        name: str,
        engine: SqlEngine,
        bounds: SqlBounds,
        url: str,
        password: str | None = None,
        databases: tuple[str, ...] = (),
    ) -> None:
        at = _url(name, engine, url, password)
        module, _, kind = engine.dialect.partition(":")
        try:
            dialect = getattr(import_module(f"{__package__}.{module}"), kind)
            at.get_dialect().import_dbapi()
        except (ImportError, NoSuchModuleError) as error:
            raise ConfigError(_missing(name, engine, error)) from error
        self.dialect: Dialect = dialect(engine, bounds)
        self._password = password
        self._urls = {one: at.set(database=one) for one in databases} or {"": at}
        self._engines: dict[str, Engine] = {}
        self._check = self.dialect.check
        if databases:
            self._check = f"{self._check}, and the names of its databases"

    @property
    def databases(self) -> list[str]:
        """Their names; one that is empty where the source has but that of its URL."""
        return list(self._urls)

    @contextmanager
    def reading(self, database: str, kind: type[PneumaError], what: str) -> Iterator[Connection]:
        """Connect for one call; an error is explained in one line.

        Args:
            database: One of `databases`.
            kind: What an error is raised as.
            what: What is read, as people name it.
        """
        try:
            with self._connected(database, kind, what) as connection:
                yield connection
        except SQLAlchemyError as error:
            raise self.explained(error, kind, what) from None  # its text may hold the password
        except (OSError, ValueError, LookupError) as error:
            # Drivers raise what they like while they connect: of a file, a key, an address.
            raise self._unreached(error, self._clean(str(error)), kind, what) from None

    def _connected(self, database: str, kind: type[PneumaError], what: str) -> Connection:
        try:
            return self._engine(database).connect()
        except TableReadError as error:  # of a file, with its remedy
            raise kind(f"{what} cannot be read: {error}") from None
        except DBAPIError as error:
            if self.dialect.refused(error):
                raise
            cause = self._clean(self.dialect.reason(error))
            raise self._unreached(error, cause, kind, what) from None

    def _unreached(
        self, error: Exception, cause: str, kind: type[PneumaError], what: str
    ) -> PneumaError:
        """Return the error of a server that lets nobody in, at the first table or the last."""
        code = f"the database cannot be reached ({_code(error)}); {self._check}"
        return kind(f"{what} cannot be read: {cause}; {self._check}").saying(code)

    def explained(self, error: SQLAlchemyError, kind: type[PneumaError], what: str) -> PneumaError:
        """Return the error that says in one line what went wrong and what to do."""
        if not isinstance(error, DBAPIError):
            return kind(f"{what} cannot be read: {self._clean(str(error))}; {self._check}")
        cause = self._clean(self.dialect.reason(error))
        if self.dialect.timed_out(error):
            happened, remedy = "it took longer than it may", _TOO_SLOW
            kind = TableTooSlowError if kind is TableReadError else kind
        elif self.dialect.refused(error):
            happened, remedy = "its user may not read it", _GRANT
            kind = AccessRefusedError if kind is TableReadError else kind
        elif error.connection_invalidated:
            happened, remedy = "the connection was lost", _LOST
            cause = f"{cause} ({happened})"
        else:
            return kind(
                f"{what} cannot be read: {cause}; {self._check if kind is SourceError else _AGAIN}"
            )
        unquoted = f"{happened} ({_code(error)}); {remedy}"
        return kind(f"{what} cannot be read: {cause}; {remedy}").saying(unquoted)

    def failed(self, error: DBAPIError) -> PneumaError:
        """Return the error of a statement that the engine does not run, in its own words."""
        if self.dialect.timed_out(error):
            return SqlStoppedError("it takes more time than it may; ask for less")
        return SqlFailedError(self._clean(self.dialect.reason(error)))

    def close(self) -> None:
        """End all connections; used again, it connects again."""
        for engine in self._engines.values():
            engine.dispose()
        self._engines.clear()

    def _clean(self, message: str) -> str:
        hidden = message.replace(self._password, "***") if self._password else message
        return one_line(hidden, 300).rstrip(".,;: ")

    def _engine(self, database: str) -> Engine:
        if database not in self._engines:
            engine = self.dialect.engine(self._urls[database])
            event.listen(engine, "connect", self._prepare)
            self._engines[database] = engine
        return self._engines[database]

    def _prepare(self, connection: Any, _: object) -> None:
        with closing(connection.cursor()) as cursor:
            self.dialect.prepare(cursor)
        connection.commit()


def _code(error: Exception) -> str:
    """Return what kind of error it is, as its driver names it: that quotes nothing."""
    return type(getattr(error, "orig", None) or error).__name__


def _url(source: str, engine: SqlEngine, address: str, password: str | None) -> URL:
    try:
        url = make_url(address)
    except ArgumentError as error:
        raise ConfigError(
            f"source {source!r}: its url is none that SQLAlchemy takes; write it as "
            "dialect://user@host:port/database"
        ) from error
    if engine.driver and "+" not in url.drivername:
        url = url.set(drivername=engine.driver)
    return url if password is None else url.set(password=password)


def _missing(source: str, engine: SqlEngine, error: Exception) -> str:
    """Return what to do where SQLAlchemy has no such dialect, or a driver is not installed."""
    known = {one.kind for one in ENGINES.values()}
    if engine.kind not in known and (meant := nearest(engine.kind, known, most=1, alike=0.75)):
        return (
            f"source {source!r}: SQLAlchemy has no dialect {engine.kind!r}, with which its url "
            f"begins; did you mean {meant[0]}?"
        )
    remedy = "install the package that brings this dialect of SQLAlchemy and its driver"
    if engine.extra:
        remedy = needs_extra("it", engine.extra)
    return f"source {source!r} cannot be read without its driver ({error}); {remedy}"


_GRANT = "grant its user SELECT on it and USAGE on its schema, or exclude it"
_TOO_SLOW = (
    "make it smaller or simpler, exclude it, or raise statement_timeout_seconds on its source"
)
_LOST = "see that the server runs, and run again: tables that failed are read again"
_AGAIN = "the next listing tells whether it is still there; correct it if it is a view"
