"""What a catalogue tells of a table, and what differs from one engine to another."""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sqlalchemy import URL, ColumnElement, Connection, Engine, Text, cast, create_engine, func
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.functions import Function

from pneuma_assets.core.errors import SqlFailedError
from pneuma_assets.core.sources.base import Statement, StatementRows, StatementTable
from pneuma_assets.core.sources.sql.engines import SqlBounds, SqlEngine, Wanted
from pneuma_assets.core.tables import Column, Definition, ForeignKey, content_hash

CELL_CHARACTERS = 1000
"""A cell is cut here: nobody reads more, and the memory of rows is bounded."""

COMMENT_CHARACTERS = 20_000
"""Of a table's comment; a listing holds those of all tables at once."""

COLUMN_COMMENT_CHARACTERS = 1_000

_UNQUOTABLE = frozenset('`"\\\n\r')
_TEXT_TYPES = ("char", "varchar", "text", "string", "nvarchar")


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """One table or view, as its engine's catalogue describes it; nothing of it has been read.

    Attributes:
        database: Empty where the engine, or the source, has but one.
        schema: As the engine spells it, like all names.
        name: Of the table.
        kind: `table`, `view`, `materialized view`, `foreign table`.
        columns: In order, names as the engine has them.
        signals: What moves where the data or the query may have changed, and under maintenance
            as little as the engine lets it.
        comment: What people wrote about the table.
        rows: About how many; None: unknown.
        size: About how many bytes; None: unknown.
        readable: Whether we may read it.
        limited: Whether row-level security may hide some of its rows from us.

    The others are as in `TableRef` and `Table`.
    """

    database: str
    schema: str
    name: str
    kind: str
    columns: tuple[Column, ...]
    signals: tuple[str, ...] = ()
    comment: str = ""
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    definition: Definition | None = None
    rows: int | None = None
    size: int | None = None
    identity: str | None = None
    readers: tuple[str, ...] | None = None
    updated_at: float | None = None
    readable: bool = True
    limited: bool = False

    @property
    def version(self) -> str:
        """Changes with its data, schema, query and comments, and with whether we may read it."""
        columns = (
            part for c in self.columns for part in (c.identity, c.name, c.type, c.comment, "")
        )
        keys = ("|".join(self.primary_key), repr(self.foreign_keys), repr(self.definition))
        return content_hash(
            self.kind, self.comment, str(self.readable), *keys, *self.signals, *columns
        )


Bound = Sequence[tuple[StatementTable, CatalogTable]]
"""The tables of a statement, with what the catalogue says of them."""


_REFUSED = re.compile(
    "permission|denied|not authori[sz]ed|insufficient.privilege|forbidden", re.IGNORECASE
)


class Dialect(ABC):
    """One engine: how it is connected to, what its catalogue says, how its rows are read.

    SQL is made of names that SQLAlchemy quotes and of numbers; values are bound.
    """

    dependencies: ClassVar[str] = ""
    """Asks its view of dependencies (`lineage.dependency_views`); empty: it has none."""

    check: ClassVar[str] = "check that the server runs, and the source's url, user and password"
    """What to do where it cannot be reached."""

    def __init__(self, engine: SqlEngine, bounds: SqlBounds = SqlBounds()) -> None:  # noqa: B008 (frozen)
        self.kind = engine
        self.bounds = bounds

    def engine(self, url: URL) -> Engine:
        """Return what connects to a database, at most a few times at once."""
        options = {
            name: one.format(size=self.bounds.size) for name, one in self.kind.options.items()
        }
        return create_engine(
            url.update_query_dict(options),
            pool_size=1,
            max_overflow=4,
            pool_pre_ping=True,
            connect_args=self.connect_arguments(),
            hide_parameters=True,
        )

    def connect_arguments(self) -> dict[str, Any]:
        """Return what its driver takes besides the URL."""
        return {}

    def prepare(self, cursor: Any) -> None:  # noqa: B027 (no statement does it in every engine)
        """Make a new connection read-only, its statements bounded in time, its texts the same.

        What the driver's cursor executes holds for the whole connection.
        """

    @abstractmethod
    def catalog(
        self, connection: Connection, database: str, wanted: Wanted
    ) -> Iterator[CatalogTable]:
        """Yield all wanted tables; opens none."""

    def schema_names(self, connection: Connection) -> Collection[str] | None:  # noqa: ARG002
        """Return all schemas, those without tables, too; None: this engine is not asked."""
        return None

    def can_quote(self, name: str) -> bool:
        """Tell whether a name can stand in SQL; untried dialects might mistake where it ends."""
        return self.kind.tried or not _UNQUOTABLE & set(name)

    def definition_of(self, connection: Connection, table: CatalogTable) -> CatalogTable:  # noqa: ARG002
        """Return the table with its query, for engines that do not tell it in the catalogue."""
        return table

    def estimate(self, connection: Connection, table: CatalogTable) -> int | None:  # noqa: ARG002
        """Return about how many rows a table has; None: the engine cannot tell."""
        return table.rows

    def cell(self, column: ColumnElement[Any], kind: str) -> ColumnElement[Any]:
        """Return the beginning of a column's text, as the engine spells it.

        Not every engine casts every type to text: of one that is untried only texts are cut, and
        other values come as its driver has them.
        """
        if self.kind.tried:
            return func.substr(cast(column, Text), 1, CELL_CHARACTERS)
        is_text = kind.lower().startswith(_TEXT_TYPES)
        return func.substr(column, 1, CELL_CHARACTERS) if is_text else column

    def sampling(self, table: CatalogTable, share: float) -> Function[Any] | None:  # noqa: ARG002
        """Return what TABLESAMPLE takes to read about this share of a table's rows.

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
        tables: Bound,  # noqa: ARG002
    ) -> StatementRows:
        """Return the rows of a checked statement; an engine that runs any says how.

        The connection is of this call alone: nothing was done on it, and it is not used afterwards.

        Raises:
            SqlFailedError: This engine runs none.
            SqlStoppedError: It is beyond a bound of time or size.
            DBAPIError: The engine does not run it.
        """
        raise SqlFailedError(
            f"no statement is run in {self.kind.kind} itself; read its tables instead"
        )

    def refused(self, error: DBAPIError) -> bool:
        """Tell whether the engine says that we may not read something."""
        return _REFUSED.search(str(error.orig)) is not None

    def timed_out(self, error: DBAPIError) -> bool:
        """Tell whether a statement took longer than it may."""
        return "timeout" in str(error.orig).lower() or "timed out" in str(error.orig).lower()

    def reason(self, error: DBAPIError) -> str:
        """Return what the driver says, to the end: a password that is cut is not recognised."""
        return str(error.orig or error)
