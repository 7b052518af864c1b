"""A source of any kind, behind rules: what they hide never leaves the process that reads."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pyarrow as pa

from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.errors import SqlFailedError, SqlStoppedError, TableReadError
from pneuma_assets.core.lineage.engines import Dependency
from pneuma_assets.core.sources.base import (
    NONE_KNOWN,
    UNALIGNED,
    Contexts,
    KnownIds,
    Listing,
    SampledRow,
    Source,
    Statement,
    StatementRows,
    StatementTable,
)
from pneuma_assets.core.sources.privacy.redact import (
    redact_batch,
    redact_error,
    redact_row,
    redact_table,
)
from pneuma_assets.core.sources.privacy.rules import Rules
from pneuma_assets.core.sources.privacy.statements import check_reads
from pneuma_assets.core.tables import Column, RowMark, Table, TableRef, TableTerms
from pneuma_assets.core.terms.collect import CollectedTerms, TermCollector, hide_columns

_REMEMBERED = 10_000
"""Tables of which it is remembered which columns are hidden; others are profiled again."""


def open_private(config: SourceConfig, environ: Mapping[str, str]) -> Source:
    """Open a source so that it keeps the rules of its entry.

    Raises:
        ConfigError: A secret is missing.
    """
    source, rules = config.open(environ), Rules(config.privacy)
    return PrivateSource(source, rules) if rules.hide_anything else source


@dataclass(frozen=True, slots=True)
class _Redaction:
    """How many columns a table has, and which of them are hidden."""

    width: int
    hidden: frozenset[int]

    @property
    def hides_all(self) -> bool:
        """Whether no cell may be kept, so that no row need be read."""
        return len(self.hidden) == self.width


class PrivateSource(Source):
    """Reads by another source, and leaves out what rules hide.

    Listing reads no table, and documents beside a table are what people wrote: both are passed on.
    Rows of a table with a hidden column are drawn again whenever the table was written, since a row
    that is still there is known by the hash of all its cells, which is not kept.
    """

    def __init__(self, source: Source, rules: Rules) -> None:
        self.name = source.name
        self._source = source
        self._rules = rules
        self._seen: dict[tuple[str, str], _Redaction] = {}

    @property
    def rules(self) -> Rules:
        """What it hides."""
        return self._rules

    def list_tables(self, known: KnownIds = NONE_KNOWN) -> Listing:
        """List every table with a cheap version; reads no table."""
        return self._source.list_tables(known)

    def names_inside(self, ref: TableRef) -> Sequence[str]:
        """Return the names of the tables in a file that holds several."""
        with self._without_quotes(ref):
            return self._source.names_inside(ref)

    def dependencies(self) -> Sequence[Dependency] | None:
        """Return what the engine says of its tables."""
        return self._source.dependencies()

    def profile(self, ref: TableRef, kept: Sequence[RowMark] = ()) -> Table:
        """Read the columns and count the rows; hidden columns are marked."""
        with self._without_quotes(ref):
            table = self._source.profile(ref, kept)
            return redact_table(table, self._note(ref, table).hidden, self._rules)

    def sample(
        self, ref: TableRef, rows: int, seed: int, kept: Sequence[RowMark] = ()
    ) -> list[SampledRow] | None:
        """Draw up to `rows` rows uniformly; hidden cells are None."""
        with self._without_quotes(ref):
            seen = self._redaction(ref)
            if seen.hides_all:
                return []
            if not seen.hidden:
                return self._source.sample(ref, rows, seed, kept)
            drawn = self._source.sample(ref, rows, seed) or []
            if any(len(row.cells) != seen.width for row in drawn):
                raise TableReadError(_changed(ref))
            redacted = [redact_row(row, seen.hidden) for row in drawn]
            same = bool(kept) and [row.mark for row in redacted] == list(kept)
            return None if same else redacted

    def evidence(self, ref: TableRef, seed: int) -> CollectedTerms:
        """Read all rows once and return what is collected of them; hidden cells are None.

        The sketch leaves hidden columns out, so their changes are not measured.
        """
        with self._without_quotes(ref):
            seen = self._redaction(ref)
            if seen.hides_all:
                return CollectedTerms(TableTerms(), None)
            with hide_columns(seen.hidden, seen.width) as hiding:
                found = self._source.evidence(ref, seed)
            if hiding.asked or not seen.hidden:
                return found
            # The source collects in a way that hides nothing.
            with hide_columns(seen.hidden, seen.width):
                collector = TermCollector(seed)
            for batch in self._batches(ref, seen, 10_000):
                collector.add(batch)
            return collector.collected()

    def scan(self, ref: TableRef, batch_rows: int = 10_000) -> Iterator[pa.RecordBatch]:
        """Read the whole table as Arrow batches; hidden columns have no value in any row."""
        with self._without_quotes(ref):
            yield from self._batches(ref, self._redaction(ref), batch_rows)

    def contexts(self, ref: TableRef) -> Contexts:
        """Return what people wrote about the table, without names that are hidden, too."""
        with self._without_quotes(ref):
            found = self._source.contexts(ref)
            if not self._rules.config.hide_names:
                return found
            columns = self._source.profile(ref).columns
        hidden = [columns[at].name for at in self._rules.hidden(ref.table_id, columns)]
        return replace(
            found,
            texts=[_without_lines_on(text, hidden) for text in found.texts],
            of_folder=[_without_lines_on(text, hidden) for text in found.of_folder],
        )

    @property
    def statement_dialect(self) -> str | None:
        """What sqlglot calls the SQL of its statements; None: it runs none."""
        return self._source.statement_dialect

    def run_statement(self, statement: Statement) -> StatementRows:
        """Run a checked statement that reads no hidden column, whatever whoever asks allows it.

        Where a table hides some, or is a view, which may read tables that do, the engine's own
        words are left out of an error: they may quote a cell.
        """
        tables = tuple(map(self._shown, statement.tables))
        if self._rules.hide_anything:
            check_reads(statement.sql, self.statement_dialect or "", tables)
        try:
            return self._source.run_statement(replace(statement, tables=tables))
        except SqlStoppedError:
            raise
        except SqlFailedError:
            seen = [self._redaction(one.ref).hidden for one in tables]
            if not any(seen) and not any("view" in one.ref.format for one in tables):
                raise
            raise SqlFailedError(
                "its database does not run it; what it said is left out, since it may quote hidden "
                "values (privacy)"
            ) from None

    def close(self) -> None:
        """Release connections and temporary files."""
        self._source.close()

    def _shown(self, table: StatementTable) -> StatementTable:
        """Return a table with those of its columns that are known and not hidden."""
        with self._without_quotes(table.ref):
            columns = self._source.profile(table.ref).columns
        hidden = self._rules.hidden(table.ref.table_id, columns)
        shown = {one.name for at, one in enumerate(columns) if at not in hidden}
        return replace(table, columns=tuple(one for one in table.columns if one in shown))

    def _batches(self, ref: TableRef, seen: _Redaction, rows: int) -> Iterator[pa.RecordBatch]:
        for batch in self._source.scan(ref, rows):
            if batch.num_columns != seen.width:
                raise TableReadError(_changed(ref))
            named = [Column(name, "") for name in batch.schema.names]
            yield redact_batch(batch, seen.hidden | self._rules.hidden(ref.table_id, named))

    def _redaction(self, ref: TableRef) -> _Redaction:
        """Return which columns of a table are hidden; profile it where nobody has."""
        seen = self._seen.get((ref.table_id, ref.version))
        return seen or self._note(ref, self._source.profile(ref))

    def _note(self, ref: TableRef, table: Table) -> _Redaction:
        """Remember what is hidden: all, where a hidden cell may stand in another column."""
        hidden = self._rules.hidden(ref.table_id, table.columns)
        if hidden and UNALIGNED in table.notes:
            hidden = frozenset(range(len(table.columns)))
        seen = self._seen[ref.table_id, ref.version] = _Redaction(len(table.columns), hidden)
        if len(self._seen) > _REMEMBERED:
            del self._seen[next(iter(self._seen))]
        return seen

    @contextmanager
    def _without_quotes(self, ref: TableRef) -> Iterator[None]:
        """Redact errors that may quote a hidden cell.

        An error of a table without hidden columns stays as it is, but not that of a view: it may
        read tables that hide some.
        """
        try:
            yield
        except (MemoryError, GeneratorExit):
            raise
        except Exception as error:
            seen = self._seen.get((ref.table_id, ref.version))
            if seen is not None and not seen.hidden and "view" not in ref.format:
                raise
            redacted = redact_error(error, ref.location)
            if redacted is error:
                raise
            raise redacted from None


def _changed(ref: TableRef) -> str:
    return f"{ref.location} changed while it was read; the next run reads it again."


def _without_lines_on(text: str, hidden: Sequence[str]) -> str:
    """Leave out the lines that a source made of comments on these columns."""
    starts = tuple(f"{name}:" for name in hidden)
    return "\n".join(line for line in text.splitlines() if not line.startswith(starts))
