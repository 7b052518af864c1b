"""A source of any kind, behind rules: what they hide never leaves the process that reads."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol, runtime_checkable

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
    OpensFiles,
    RunsStatements,
    SampledRow,
    Source,
    Statement,
    StatementRows,
    StatementTable,
    TellsDependencies,
    gather,
)
from pneuma_assets.core.sources.privacy.redact import (
    Redaction,
    redact_batch,
    redact_error,
    redact_rows,
    redact_table,
)
from pneuma_assets.core.sources.privacy.rules import Rules
from pneuma_assets.core.sources.privacy.statements import check_reads
from pneuma_assets.core.tables import Column, RowMark, Table, TableRef, TableTerms
from pneuma_assets.core.terms.collect import CollectedTerms, TermCollector, hide_columns

_REMEMBERED = 10_000
"""Tables of which it is kept which columns are hidden; of others it is asked again."""


@runtime_checkable
class HasRules(Protocol):
    """A source that keeps rules."""

    @property
    def rules(self) -> Rules:
        """What it hides."""
        ...


def rules_of(source: Source) -> Rules:
    """Return the rules that a source keeps; none for one that keeps none."""
    return source.rules if isinstance(source, HasRules) else Rules()


def open_private(config: SourceConfig, environ: Mapping[str, str]) -> Source:
    """Open a source so that it keeps the rules of its entry.

    Raises:
        ConfigError: A secret is missing.
    """
    source, rules = config.open(environ), Rules(config.privacy)
    return PrivateSource(source, rules) if rules.hide_anything else source


class PrivateSource:
    """Reads by another source, and leaves out what rules hide.

    Listing reads no table, and documents beside a table are what people wrote: both are passed on.
    Rows of a table with a hidden column are drawn anew whenever the table was written, since a row
    that is still there is known by the hash of all its cells, which is not kept.
    """

    def __init__(self, source: Source, rules: Rules) -> None:
        self._source = source
        self._rules = rules
        self._seen: OrderedDict[tuple[str, str], Redaction] = OrderedDict()

    @property
    def name(self) -> str:
        """The first part of every table id of this source."""
        return self._source.name

    @property
    def rules(self) -> Rules:
        """What it hides."""
        return self._rules

    def list_tables(self, known: KnownIds = NONE_KNOWN) -> Listing:
        """List every table with a cheap version; reads no table."""
        return self._source.list_tables(known)

    def names_inside(self, ref: TableRef) -> Sequence[str]:
        """Return the names of the tables in a file that holds several, as `OpensFiles` promises."""
        with self._without_quotes(ref):
            return self._source.names_inside(ref) if isinstance(self._source, OpensFiles) else ()

    def dependencies(self) -> Sequence[Dependency] | None:
        """Return what the engine says of its tables, as `TellsDependencies` promises."""
        return self._source.dependencies() if isinstance(self._source, TellsDependencies) else None

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
            seen = self._look(ref)
            if seen.nothing_shown:
                return []
            if not seen.hidden:
                return self._source.sample(ref, rows, seed, kept)
            drawn = self._source.sample(ref, rows, seed) or []
            if any(len(row.cells) != seen.width for row in drawn):
                raise TableReadError(_changed(ref))
            veiled = redact_rows(drawn, seen.hidden)
            same = bool(kept) and [row.mark for row in veiled] == list(kept)
            return None if same else veiled

    def evidence(self, ref: TableRef, seed: int) -> CollectedTerms:
        """Read all rows once and return what is kept of them; hidden cells are None.

        The sketch tells hidden columns from no others, so their changes are not measured.
        """
        with self._without_quotes(ref):
            seen = self._look(ref)
            if seen.nothing_shown:
                return CollectedTerms(TableTerms(), None)
            with hide_columns(seen.hidden, seen.width) as asked:
                found = gather(self._source, ref, seed)
            if asked.asked or not seen.hidden:
                return found
            gatherer = TermCollector(seed)  # the source gathers in a way that leaves nothing out
            for batch in self._batches(ref, seen, 10_000):
                gatherer.add(batch)
            return gatherer.collected()

    def scan(self, ref: TableRef, batch_rows: int = 10_000) -> Iterator[pa.RecordBatch]:
        """Read the whole table as Arrow batches; hidden columns have no value in any row."""
        with self._without_quotes(ref):
            yield from self._batches(ref, self._look(ref), batch_rows)

    def contexts(self, ref: TableRef) -> Contexts:
        """Return what people wrote about the table, without names that are hidden, too."""
        with self._without_quotes(ref):
            found = self._source.contexts(ref)
            if not self._rules.config.hide_names:
                return found
            columns = self._source.profile(ref).columns
            hidden = [columns[at].name for at in self._rules.hidden(ref.table_id, columns)]
        texts, of_folder = (
            [_without_lines_on(text, hidden) for text in some]
            for some in (found.texts, found.of_folder)
        )
        return replace(found, texts=texts, of_folder=of_folder)

    @property
    def statement_dialect(self) -> str | None:
        """What sqlglot calls the SQL of its statements; None: it runs none."""
        return self._source.statement_dialect if isinstance(self._source, RunsStatements) else None

    def run_statement(self, statement: Statement) -> StatementRows:
        """Run a checked statement that reads no hidden column, whatever whoever asks allows it.

        Where a table hides some, or is a view, which may read tables that do, the engine's own
        words are left out of an error: they may quote a cell.

        Raises:
            SqlFailedError: It is not run.
            SqlStoppedError: It is beyond a bound.
            SourceError: The source does not answer.
            TableReadError: A table of it cannot be read (any more).
        """
        if not isinstance(self._source, RunsStatements):
            raise SqlFailedError(
                f"source {self.name!r} runs no statements; read its tables instead"
            )
        tables = tuple(map(self._shown, statement.tables))
        if self._rules.hide_anything:
            check_reads(statement.sql, self.statement_dialect or "", tables)
        try:
            return self._source.run_statement(replace(statement, tables=tables))
        except SqlStoppedError:
            raise
        except SqlFailedError:
            seen = [self._look(one.ref).hidden for one in tables]
            if not any(seen) and not any("view" in one.ref.format for one in tables):
                raise
            raise SqlFailedError(
                "its database does not run it; what it said is left out, since it may quote hidden "
                "values (privacy)"
            ) from None

    def _shown(self, table: StatementTable) -> StatementTable:
        """Return a table with those of its columns that are known and not hidden."""
        with self._without_quotes(table.ref):
            columns = self._source.profile(table.ref).columns
            hidden = self._rules.hidden(table.ref.table_id, columns)
            shown = {one.name for at, one in enumerate(columns) if at not in hidden}
        return replace(table, columns=tuple(one for one in table.columns if one in shown))

    def close(self) -> None:
        """Let go of connections and temporary files."""
        self._source.close()

    def _batches(self, ref: TableRef, seen: Redaction, rows: int) -> Iterator[pa.RecordBatch]:
        for batch in self._source.scan(ref, rows):
            if batch.num_columns != seen.width:
                raise TableReadError(_changed(ref))
            named = [Column(name, "") for name in batch.schema.names]
            by_name = self._rules.hidden(ref.table_id, named)
            yield redact_batch(batch, seen.hidden | by_name)

    def _look(self, ref: TableRef) -> Redaction:
        """Return which columns of a table are hidden; read them, where nobody has."""
        seen = self._seen.get(_key(ref))
        if seen is None:
            seen = self._note(ref, self._source.profile(ref))
        return seen

    def _note(self, ref: TableRef, table: Table) -> Redaction:
        """Keep in mind what is hidden: all, where a hidden cell may stand in another column."""
        hidden = self._rules.hidden(ref.table_id, table.columns)
        if hidden and UNALIGNED in table.notes:
            hidden = frozenset(range(len(table.columns)))
        seen = self._seen[_key(ref)] = Redaction(len(table.columns), hidden)
        if len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
        return seen

    @contextmanager
    def _without_quotes(self, ref: TableRef) -> Iterator[None]:
        """Let no error out that may quote a hidden cell.

        A table of which it is known that no column is hidden may say what it likes, but no view: it
        may read tables that hide some.
        """
        try:
            yield
        except (MemoryError, GeneratorExit):
            raise
        except Exception as error:
            seen = self._seen.get(_key(ref))
            if seen is not None and not seen.hidden and "view" not in ref.format:
                raise
            said = redact_error(error, ref.location)
            if said is error:
                raise
            raise said from None


def _key(ref: TableRef) -> tuple[str, str]:
    return ref.table_id, ref.version


def _changed(ref: TableRef) -> str:
    return f"{ref.location} changed while it was read; the next run reads it again."


def _without_lines_on(text: str, hidden: Sequence[str]) -> str:
    """Leave out the lines that a source made of comments on these columns."""
    starts = tuple(f"{name}:" for name in hidden)
    return "\n".join(line for line in text.splitlines() if not line.startswith(starts))
