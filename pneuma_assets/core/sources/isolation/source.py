"""A source whose tables are read in another process, within the deployment's limits."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from pneuma_assets.core.config.small_sections import LimitsConfig
from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.errors import PneumaError, SourceError, SqlStoppedError, TableReadError
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
from pneuma_assets.core.sources.filters import granted, without_build_relations
from pneuma_assets.core.sources.isolation.reader_handle import Reader, ReaderError
from pneuma_assets.core.sources.privacy.rules import Rules
from pneuma_assets.core.tables import RowMark, Table, TableRef
from pneuma_assets.core.terms.collect import CollectedTerms

MOST_ROWS = 2**63 - 1
"""What is kept of a number of rows is an integer of 64 bits."""

MOST_READERS = 8
"""Processes that wait for the next table of their source; the one that waits longest is ended."""

_waiting: "dict[Reader, IsolatedSource]" = {}
_lock = threading.Lock()


class IsolatedSource(Source):
    """Forwards every reading to a `Reader` that reads nothing else, started where none waits.

    A source whose listing opens no file (a folder, a bucket) is listed here, any other there.
    """

    def __init__(
        self, config: SourceConfig, environ: Mapping[str, str], limits: LimitsConfig
    ) -> None:
        """Take a source whose paths are resolved; raises `ConfigError` where a secret is missing.

        Args:
            config: Its section of the deployment file.
            environ: Where the variables that hold secrets are looked up.
            limits: What the reading of one table may take.
        """
        self.name = config.name
        self._config = config
        self._settings = (config, environ, limits)
        self._listed_here = config.open(environ) if config.lists_without_reading else None
        if self._listed_here is not None:
            self._listed_here.look_inside = self.names_inside

    @property
    def rules(self) -> Rules:
        """What of it is never kept; the process that reads leaves it out."""
        return Rules(self._config.privacy)

    def list_tables(self, known: KnownIds = NONE_KNOWN) -> Listing:
        """List every table with a cheap version; reads no table."""
        if self._listed_here is not None:
            found = self._listed_here.list_tables(known)
        else:
            found = self._ask(SourceError, f"source {self.name!r}", "list_tables", dict(known))
            found = without_build_relations(found)
        return granted(found, self._config)

    def names_inside(self, ref: TableRef) -> Sequence[str]:
        """Have a file of several tables opened where tables are read."""
        names: Sequence[str] = self._ask_of(ref, "names_inside")
        return names

    def dependencies(self) -> Sequence[Dependency] | None:
        """Return what the engine says of its tables, of a source whose engine is asked."""
        if self._config.dependency_dialect is None:
            return None
        what = f"the view of dependencies of source {self.name!r}"
        found: Sequence[Dependency] | None = self._ask(SourceError, what, "dependencies")
        return None if found is None else checked(found)

    def profile(self, ref: TableRef, kept: Sequence[RowMark] = ()) -> Table:
        """Read the columns and count the rows."""
        table: Table = self._ask_of(ref, "profile", kept)
        if not 0 <= table.row_count <= MOST_ROWS:
            raise TableReadError(
                f"{ref.location} cannot be read: it says that it has {table.row_count:,} rows, "
                "which no table has; write it again"
            )
        return table

    def sample(
        self, ref: TableRef, rows: int, seed: int, kept: Sequence[RowMark] = ()
    ) -> list[SampledRow] | None:
        """Draw up to `rows` rows uniformly, the same ones for the same seed and data."""
        drawn: list[SampledRow] | None = self._ask_of(ref, "sample", rows, seed, kept)
        return drawn

    def evidence(self, ref: TableRef, seed: int) -> CollectedTerms:
        """Read all rows once and return what is collected of them."""
        collected: CollectedTerms = self._ask_of(ref, "evidence", seed)
        return collected

    def contexts(self, ref: TableRef) -> Contexts:
        """Return what people wrote about the table."""
        contexts: Contexts = self._ask_of(ref, "contexts")
        return contexts

    def scan(self, ref: TableRef, batch_rows: int = 10_000) -> Iterator[pa.RecordBatch]:
        """Read the whole table as Arrow batches, as it is now, whatever was read before it."""
        with _explained(TableReadError, ref.location), self._lent(ref.location) as reader:
            for batch in reader.ask("scan", ref, batch_rows):
                if batch is not None:
                    yield batch

    @property
    def statement_dialect(self) -> str | None:
        """What sqlglot calls the SQL of its statements; None: it runs none."""
        return self._config.statement_dialect

    def run_statement(self, statement: Statement) -> StatementRows:
        """Return the rows of a checked statement, which the source runs in that process.

        Beyond a bound (`SqlStoppedError`) the process was ended where it had to be.
        """
        if self.statement_dialect is None:
            return super().run_statement(statement)
        kind: type[PneumaError] = SourceError
        try:
            with self._lent(statement.sql) as reader:
                kind = SqlStoppedError
                (rows,) = reader.ask("run_statement", statement)
        except ReaderError as error:
            raise kind(f"source {self.name!r} does not run it: {error}") from error
        found: StatementRows = rows
        return found

    def close(self) -> None:
        """End the processes that wait; used again, others are started."""
        if self._listed_here is not None:
            self._listed_here.close()
        while (reader := self._taken()) is not None:
            reader.close()

    def _taken(self) -> Reader | None:
        """Return the process of this source that waited last, which waits no more."""
        with _lock:
            mine = (reader for reader, source in reversed(_waiting.items()) if source is self)
            reader = next(mine, None)
            if reader is not None:
                del _waiting[reader]
        return reader

    @contextmanager
    def _lent(self, what: str) -> Iterator[Reader]:
        """Lend a process that waits, or another; it waits again where it can still read."""
        reader = self._taken()
        if reader is not None and (reader.ended or (reader.grown and what != reader.last)):
            reader.close()
            reader = None
        reader = reader or Reader(*self._settings)
        reader.last = what
        try:
            yield reader
        finally:
            over = [reader]
            if reader.idle and not reader.spent:
                with _lock:
                    _waiting[reader] = self
                    over = list(_waiting)[:-MOST_READERS]
                    for one in over:
                        del _waiting[one]
            for one in over:
                one.close()

    def _ask_of(self, ref: TableRef, method: str, *arguments: object) -> Any:
        return self._ask(TableReadError, ref.location, method, ref, *arguments)

    def _ask(self, kind: type[PneumaError], what: str, method: str, *arguments: object) -> Any:
        with _explained(kind, what):
            return self._answer(what, method, *arguments)

    def _answer(self, what: str, method: str, *arguments: object) -> Any:
        """Ask once; once more in an empty process where an earlier table may be to blame."""
        with self._lent(what) as reader:
            begun_empty = not reader.answered
            try:
                (answer,) = reader.ask(method, *arguments)
            except PneumaError:
                if begun_empty or not reader.spent:
                    raise
            else:
                return answer
        return self._answer(what, method, *arguments)


@contextmanager
def _explained(kind: type[PneumaError], what: str) -> Iterator[None]:
    """Name what could not be read; a listing fails by `SourceError` alone, whatever the reader."""
    try:
        yield
    except SourceError:
        raise
    except PneumaError as error:
        if isinstance(error, kind):
            raise
        lead = f"{what} cannot be read"
        told = str(error)
        raise kind(told if told.startswith(lead) else f"{lead}: {told}") from error
