"""Connections to one server, and what goes wrong with them in one line, without the password."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from sqlalchemy import URL, Connection, Engine, event
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from pneuma_assets.core.errors import (
    AccessRefusedError,
    PneumaError,
    SourceError,
    SqlFailedError,
    SqlStoppedError,
    TableReadError,
)
from pneuma_assets.core.sources.sql.dialect import Dialect
from pneuma_assets.core.text.safe import one_line


class Server:
    """Connects to the databases of one source, each when first needed.

    Args:
        url: Of the source, with its password.
        dialect: Of its engine.
        password: Never to be shown.
        databases: Several of them; none: that of the URL, whose name is then empty.
    """

    def __init__(
        self, url: URL, dialect: Dialect, password: str | None, databases: tuple[str, ...] = ()
    ) -> None:
        self.url = url
        self.dialect = dialect
        self._password = password
        self._urls = {name: url.set(database=name) for name in databases} or {"": url}
        self._engines: dict[str, Engine] = {}
        self._check = dialect.check
        if databases:
            self._check = f"{dialect.check}, and the names of its databases"

    @property
    def databases(self) -> list[str]:
        """Their names; one that is empty where the source has but that of its URL."""
        return list(self._urls)

    @contextmanager
    def reading(self, database: str, kind: type[PneumaError], what: str) -> Iterator[Connection]:
        """Connect for one call; what was begun is ended, and an error is explained in one line.

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
        """End all connections; used again, it connects anew."""
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


_GRANT = "grant its user SELECT on it and USAGE on its schema, or exclude it"
_TOO_SLOW = (
    "make it smaller or simpler, exclude it, or raise statement_timeout_seconds on its source"
)
_LOST = "see that the server runs, and run again: tables that failed are read anew"
_AGAIN = "the next listing tells whether it is still there; correct it if it is a view"
