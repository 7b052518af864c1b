"""What differs from one engine to another, behind one small interface."""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from typing import Any, ClassVar

from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Engine,
    Text,
    cast,
    create_engine,
    func,
)
from sqlalchemy.exc import DBAPIError

from pneuma_assets.core.errors import SourceError, SqlFailedError
from pneuma_assets.core.sources.base import Statement, StatementRows, StatementTable
from pneuma_assets.core.sources.sql.bounds import SqlBounds
from pneuma_assets.core.sources.sql.catalog import CatalogTable, Wanted

_REFUSED = re.compile(
    "permission|denied|not authori[sz]ed|insufficient.privilege|forbidden", re.IGNORECASE
)


class Dialect(ABC):
    """One engine: how it is connected to, what its catalogue says, how its rows are read.

    SQL is made of names that SQLAlchemy quotes and of numbers; nothing that others wrote ever
    stands in it, and values are bound.
    """

    sql: ClassVar[str] = ""
    """What sqlglot calls its SQL."""

    dependencies: ClassVar[str] = ""
    """Asks its view of dependencies (`lineage.dependency_views`); empty: it has none."""

    check: ClassVar[str] = "check that the server runs, and the source's url, user and password"
    """What to do where it cannot be reached."""

    runs_statements: ClassVar[bool] = False
    """Whether `run_statement` runs any."""

    def __init__(self, bounds: SqlBounds) -> None:
        self.bounds = bounds

    def engine(self, url: URL) -> Engine:
        """Return what connects to a database, at most a few times at once."""
        return create_engine(
            url,
            pool_size=1,
            max_overflow=4,
            pool_pre_ping=True,
            connect_args=self.connect_arguments(),
            hide_parameters=True,
        )

    def connect_arguments(self) -> dict[str, Any]:
        """Return what its driver is told besides the URL."""
        return {}

    @abstractmethod
    def prepare(self, cursor: Any) -> None:
        """Make a new connection read-only, its statements bounded in time, its texts the same.

        Args:
            cursor: Of the driver; what it executes holds for the whole connection.
        """

    def databases(self, url: URL, names: Sequence[str]) -> list[tuple[str, URL]]:
        """Return each database with the URL that reaches it; none named: the URL's own, unnamed."""
        return [(name, url.set(database=name)) for name in names] or [("", url)]

    def check_awake(self, url: URL) -> None:  # noqa: B027 (most engines do not sleep)
        """Find out, without waking it, whether the engine is awake.

        Raises:
            SourceError: It sleeps, and this source must not wake it.
        """

    def check_statements(self, number: int) -> None:
        """Refuse a listing that would send more statements than it may.

        Raises:
            SourceError: It would.
        """
        if number > self.bounds.statements:
            raise SourceError(
                f"a listing would take {number:,} statements, more than "
                f"{self.bounds.statements:,}; name fewer schemas or databases, or raise "
                "statements_per_listing on its source"
            )

    @abstractmethod
    def catalog(
        self, connection: Connection, database: str, wanted: Wanted
    ) -> Iterator[CatalogTable]:
        """Yield all wanted tables, by a number of statements that does not grow with theirs."""

    def schema_names(self, connection: Connection) -> Collection[str] | None:  # noqa: ARG002
        """Return all schemas, those without tables, too; None: this engine is not asked."""
        return None

    def can_quote(self, name: str) -> bool:  # noqa: ARG002
        """Tell whether a name can stand in this engine's SQL, as SQLAlchemy quotes it."""
        return True

    def definition_of(self, connection: Connection, table: CatalogTable) -> CatalogTable:  # noqa: ARG002
        """Return the table with its query, for engines that do not tell it in the catalogue."""
        return table

    def estimate(self, connection: Connection, table: CatalogTable) -> int | None:  # noqa: ARG002
        """Return about how many rows a table has; None: the engine cannot tell."""
        return table.rows

    def cell(self, column: ColumnElement[Any], kind: str) -> ColumnElement[Any]:  # noqa: ARG002
        """Return a column as text, as the engine spells it."""
        return cast(column, Text)

    def cut(self, text: ColumnElement[Any], characters: int) -> ColumnElement[Any]:
        """Return the beginning of a text."""
        return func.substr(text, 1, characters)

    def sampling(self, table: CatalogTable, share: float, seed: int) -> str | None:  # noqa: ARG002
        """Return what stands after a table's name to read about this share of its rows.

        None where the engine has no such thing for this kind of table.
        """
        return None

    def hashed(
        self,
        cells: Sequence[ColumnElement[Any]],  # noqa: ARG002
        one_of: int,  # noqa: ARG002
        seed: int,  # noqa: ARG002
    ) -> ColumnElement[bool] | None:
        """Return a condition that holds for one of so many rows, by a hash of their cells.

        None where the engine has no hash.
        """
        return None

    def run_statement(
        self,
        connection: Connection,  # noqa: ARG002
        statement: Statement,  # noqa: ARG002
        tables: Sequence[tuple[StatementTable, CatalogTable]],  # noqa: ARG002
    ) -> StatementRows:
        """Return the rows of a checked statement; an engine that runs any says how.

        Args:
            connection: Of this call alone, on which nothing was done yet; not used afterwards.
            statement: What to run.
            tables: What it names, and what the catalogue says of these.

        Raises:
            SqlFailedError: This engine runs none.
            SqlStoppedError: It is beyond a bound of time or size.
            DBAPIError: The engine does not run it.
        """
        raise SqlFailedError(
            f"no statement is run in {self.sql or 'this engine'} itself; read its tables instead"
        )

    def refused(self, error: DBAPIError) -> bool:
        """Tell whether the engine says that we may not read something."""
        return _REFUSED.search(str(error.orig)) is not None

    def timed_out(self, error: DBAPIError) -> bool:
        """Tell whether a statement took longer than it may."""
        return "timeout" in str(error.orig).lower() or "timed out" in str(error.orig).lower()

    def lost(self, error: DBAPIError) -> bool:
        """Tell whether the connection ended, as it does when a server is restarted."""
        return error.connection_invalidated

    def reason(self, error: DBAPIError) -> str:
        """Return what the driver says, to the end: a password that is cut is not recognised."""
        return str(error.orig or error)
