"""The tables and views of one or several databases of a server, by their SQL.

What a listing read of the catalogue is kept, so that a table's profile asks for nothing but the
number of its rows. A table that was dropped, or may not be read any more, says so when it is read.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pyarrow as pa
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from pneuma_assets.core.dictionaries.text import plain_text
from pneuma_assets.core.errors import PneumaError, SourceError, SqlFailedError, TableReadError
from pneuma_assets.core.lineage.engines import Dependency, checked
from pneuma_assets.core.sources.base import (
    NONE_KNOWN,
    Contexts,
    KnownIds,
    Listing,
    SampledRow,
    Source,
    Statement,
    StatementRows,
)
from pneuma_assets.core.sources.bounds import check_width
from pneuma_assets.core.sources.filters import no_match_error, unknown_schema_error
from pneuma_assets.core.sources.names import escape_segment, readable_names, unescape
from pneuma_assets.core.sources.sql.dialect import (
    COLUMN_COMMENT_CHARACTERS,
    COMMENT_CHARACTERS,
    CatalogTable,
)
from pneuma_assets.core.sources.sql.engines import Wanted
from pneuma_assets.core.sources.sql.rows import (
    Counted,
    Draw,
    count,
    is_whole,
    notes_on,
    rows_in,
    some_rows,
)
from pneuma_assets.core.sources.sql.server import Server
from pneuma_assets.core.tables import Column, RowMark, Table, TableRef, comments_on_columns
from pneuma_assets.core.terms.collect import CollectedTerms, TermCollector
from pneuma_assets.core.text.safe import one_line


class SqlSource(Source):
    """One source; ids are `source/schema/table`, with the database before where it has several."""

    def __init__(
        self, name: str, server: Server, wanted: Wanted, locate: Callable[[str], str]
    ) -> None:
        """Take what connects, which tables are wanted, and what says by its id where one is."""
        self.name = name
        self._server = server
        self._dialect = server.dialect
        self._wanted = wanted
        self._locate = locate
        self._listed: dict[str, CatalogTable] = {}
        self._counted: dict[tuple[str, str], Counted] = {}

    def list_tables(self, known: KnownIds = NONE_KNOWN) -> Listing:
        """List all wanted tables from the catalogue; opens none.

        Tables that this user may not read are listed if they are known: what is indexed of them is
        removed when they are read.

        Raises:
            SourceError: It does not answer, or what is wanted lets through none of its tables.
        """
        if self._dialect.kind.sleeps and not self._dialect.bounds.wake:
            raise SourceError(
                f"source {self.name!r} is not listed, since that would wake its warehouse; set "
                "wake: true on it, and dagster.watch_seconds to how often it may be woken"
            )
        ids = set(known.values())
        found = {self._id_of(table): table for table in self._tables(self._wanted)}
        self._check_schemas({table.schema for table in found.values()})
        if not found:
            self._check_wanted(ids)
        self._listed = {key: one for key, one in found.items() if one.readable or key in ids}
        self._counted.clear()
        return Listing([self._reference(key, table) for key, table in self._listed.items()])

    def _check_schemas(self, seen: Collection[str]) -> None:
        """Refuse a wanted schema that no database has, where the engine tells which it has."""
        unseen = [name for name in self._wanted.schemas if name not in seen]
        there: set[str] = set()
        for database in self._server.databases if unseen else ():
            with self._server.reading(database, SourceError, f"source {self.name!r}") as connection:
                names = self._dialect.schema_names(connection)
            if names is None:
                return
            there.update(names)
        for name in unseen:
            if name not in there:
                raise unknown_schema_error(self.name, name, there)

    def _check_wanted(self, ids: Collection[str]) -> None:
        """Refuse keys without which there would be tables that are readable, or known by `ids`."""
        for key, looser in (
            ("exclude", replace(self._wanted, exclude=())),
            ("include", replace(self._wanted, include=(), exclude=())),
            ("schemas", Wanted()),
        ):
            given: tuple[str, ...] = getattr(self._wanted, key)
            names = {
                ".".join(filter(None, (table.database, table.schema, table.name)))
                for table in (self._tables(looser) if given else ())
                if table.readable or self._id_of(table) in ids
            }
            if names:
                raise no_match_error(self.name, key, given, names)

    def profile(self, ref: TableRef, kept: Sequence[RowMark] = ()) -> Table:  # noqa: ARG002
        """Return columns, comments and keys, and count the rows unless that would cost much."""
        with self._reading(ref) as (connection, table):
            counted = self._count(connection, ref, table)
            whole = self._dialect.definition_of(connection, table)
        return Table(
            *(ref.table_id, _described(table), counted.rows, ref.location, table.comment),
            notes=notes_on(self._dialect, table, counted),
            primary_key=whole.primary_key,
            foreign_keys=whole.foreign_keys,
            definition=whole.definition,
        )

    def sample(
        self, ref: TableRef, rows: int, seed: int, kept: Sequence[RowMark] = ()
    ) -> list[SampledRow] | None:
        """Draw rows uniformly, of a large table among those that its engine samples."""
        draw = Draw(rows, seed, kept)
        with self._reading(ref) as (connection, table):
            counted = self._count(connection, ref, table)
            for batch in some_rows(connection, self._dialect, table, counted, seed):
                draw.add(batch)
        return draw.drawn()

    def scan(self, ref: TableRef, batch_rows: int = 10_000) -> Iterator[pa.RecordBatch]:
        """Read the whole table as Arrow batches of at most `batch_rows` rows, cells as text."""
        with self._reading(ref) as (connection, table):
            columns = readable_names([column.name for column in table.columns])
            for batch in rows_in(connection, self._dialect, table, batch_rows):
                yield batch.rename_columns(columns)

    def evidence(self, ref: TableRef, seed: int) -> CollectedTerms:
        """Collect all rows; of a table that is too large, a sample, which makes no sketch."""
        collector = TermCollector(seed)
        with self._reading(ref) as (connection, table):
            counted = self._count(connection, ref, table)
            whole = is_whole(self._dialect, table, counted)
            if whole:
                batches = rows_in(connection, self._dialect, table)
            else:
                batches = some_rows(connection, self._dialect, table, counted, seed)
            for batch in batches:
                collector.add(batch)
        collected = collector.collected()
        return collected if whole else replace(collected, sketch=None)

    def contexts(self, ref: TableRef) -> Contexts:
        """Return the comments on the table and its columns."""
        table = self._table(ref)
        cut = len(table.comment) > COMMENT_CHARACTERS
        texts = (
            plain_text(table.comment[:COMMENT_CHARACTERS], cut=cut) if table.comment else "",
            plain_text(comments_on_columns(_described(table))),
        )
        return Contexts([text for text in texts if text])

    def dependencies(self) -> Sequence[Dependency] | None:
        """Return what each database's own view of dependencies says, by one statement each."""
        statement = self._dialect.dependencies
        if not statement:
            return None
        found: list[Dependency] = []
        for database in self._server.databases:
            what = f"the view of dependencies of source {self.name!r}"
            with self._server.reading(database, SourceError, what) as connection:
                rows = connection.execute(text(statement), {"database": database or None})
                found += checked(map(tuple, rows))
        return found

    @property
    def statement_dialect(self) -> str | None:
        """What sqlglot calls the SQL of its statements; None: its engine runs none."""
        engine = self._dialect.kind
        return engine.sql if engine.statements else None

    def run_statement(self, statement: Statement) -> StatementRows:
        """Return the rows of a checked statement whose tables lie in one database."""
        tables = [(one, self._quotable(one.ref)) for one in statement.tables]
        databases = {table.database for _, table in tables} or {self._server.databases[0]}
        if len(databases) > 1:
            raise SqlFailedError(
                "its tables lie in several databases, and no statement reads more than one; ask "
                "about those of one"
            )
        what = f"source {self.name!r}"
        with self._server.reading(databases.pop(), SourceError, what) as connection:
            try:
                return self._dialect.run_statement(connection, statement, tables)
            except DBAPIError as error:
                raise self._server.failed(error) from None  # its text may hold the password

    def close(self) -> None:
        """End all connections."""
        self._server.close()

    @contextmanager
    def _reading(self, ref: TableRef) -> Iterator[tuple[Connection, CatalogTable]]:
        """Connect to a table's database; raises `TableReadError` for whatever goes wrong."""
        table = self._quotable(ref)
        with self._server.reading(table.database, TableReadError, ref.location) as connection:
            if not table.columns:  # It cannot be bound, and the engine says why; or it has none.
                self._count(connection, ref, table)
            yield connection, table

    def _quotable(self, ref: TableRef) -> CatalogTable:
        """Return a table all of whose names can stand in a statement."""
        table = self._table(ref)
        check_width(len(table.columns))
        names = (table.schema, table.name, *(column.name for column in table.columns))
        if not all(map(self._dialect.can_quote, names)):
            raise TableReadError(
                f"{ref.location} cannot be read: a name in it cannot be quoted; rename it, or read "
                "it through a view"
            )
        return table

    def _count(self, connection: Connection, ref: TableRef, table: CatalogTable) -> Counted:
        """Count a table's rows, once as long as its version stays."""
        key = ref.table_id, ref.version
        if key not in self._counted:
            self._counted[key] = count(connection, self._dialect, table)
        return self._counted[key]

    def _table(self, ref: TableRef) -> CatalogTable:
        """Return what the catalogue says of a table: what was listed, or what it says now."""
        listed = self._listed.get(ref.table_id)
        if listed is None or listed.version != ref.version:
            *database, schema, _ = map(unescape, ref.table_id.split("/")[1:])
            wanted = replace(self._wanted, schemas=(schema,))
            at = database[0] if database else ""
            for table in self._catalog(at, wanted, TableReadError, ref.location):
                self._listed[self._id_of(table)] = table
            listed = self._listed.get(ref.table_id)
        if listed is None:
            raise TableReadError(
                f"{ref.location} cannot be read: it is gone; the next listing will find so"
            )
        return listed

    def _tables(self, wanted: Wanted) -> Iterator[CatalogTable]:
        for database in self._server.databases:
            yield from self._catalog(database, wanted, SourceError, f"source {self.name!r}")

    def _catalog(
        self, database: str, wanted: Wanted, kind: type[PneumaError], what: str
    ) -> Iterator[CatalogTable]:
        with self._server.reading(database, kind, what) as connection:
            yield from self._dialect.catalog(connection, database, wanted)

    def _id_of(self, table: CatalogTable) -> str:
        names = (table.database, table.schema, table.name)
        return "/".join([self.name, *(escape_segment(name) for name in names if name)])

    def _reference(self, table_id: str, table: CatalogTable) -> TableRef:
        return TableRef(
            *(table_id, self.name, self._locate(table_id), table.kind, table.version),
            updated_at=table.updated_at,
            identity=table.identity,
            readers=table.readers,
        )


def _described(table: CatalogTable) -> tuple[Column, ...]:
    """Return the columns with names, types and comments fit for people."""
    readable = readable_names([column.name for column in table.columns])
    return tuple(
        replace(
            column,
            name=name,
            type=one_line(column.type, COLUMN_COMMENT_CHARACTERS),
            comment=one_line(column.comment, COLUMN_COMMENT_CHARACTERS),
        )
        for name, column in zip(readable, table.columns, strict=True)
    )
