"""What a statement may read of a deployment's tables, and where it runs."""

import re
import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING

import pyarrow as pa

from pneuma_assets.core.answers.attempt import Runner
from pneuma_assets.core.answers.results import AnswerColumn, AnswerTable
from pneuma_assets.core.answers.run_duckdb import CHANGED, Given, RunBounds, run, statement_type
from pneuma_assets.core.answers.statements import Checked, ReadTable
from pneuma_assets.core.close_once import Closing
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.errors import (
    AccessRefusedError,
    ConfigError,
    SourceError,
    TableChangedError,
    TableReadError,
)
from pneuma_assets.core.index.base import IndexFilter, let_through
from pneuma_assets.core.service.describe import hides_names
from pneuma_assets.core.service.state import StateReader
from pneuma_assets.core.service.visible_tables import check_among, seen_tables
from pneuma_assets.core.sources.base import (
    Statement,
    StatementRows,
    StatementTable,
    unread_of,
)
from pneuma_assets.core.sources.files.names import HOLDERS, parse_file_name
from pneuma_assets.core.sources.isolation.source import IsolatedSource
from pneuma_assets.core.sources.names import unescape
from pneuma_assets.core.tables import (
    MISSING,
    Column,
    Description,
    Provenance,
    Table,
    TableRef,
    TableTerms,
    source_of,
)

if TYPE_CHECKING:
    from pneuma_assets.core.store import Store

IN_DUCKDB = "duckdb"
_AT_ONCE = 4
"""Statements; each may hold a process that reads and one that runs it (`RunBounds.memory`)."""

_DAYS = frozenset({"DATE", "TIMESTAMP"})
_ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")


class AnswerSources(Closing, Runner):
    """The deployment's sources, each opened when a statement first reads a table of it.

    A statement about tables of one database that runs statements is run there; of all others the
    tables are read, within the deployment's limits, and DuckDB runs it. Of several threads a few
    run theirs at once, others wait.

    Args:
        loaded: The deployment.
        environ: Holds the secrets that its file names.
    """

    def __init__(self, loaded: LoadedDeployment, environ: Mapping[str, str]) -> None:
        self._loaded, self._environ = loaded, environ
        self._opened: dict[str, IsolatedSource] = {}
        self._state = StateReader(loaded, environ)
        self._lock, self._turns = threading.Lock(), threading.BoundedSemaphore(_AT_ONCE)

    def tables(self, evidence: Mapping[str, TableTerms]) -> dict[str, AnswerTable]:
        """Return what is known of tables, by id.

        Those are left out that are not there any more, or of which rules hide every column.

        Args:
            evidence: What the index keeps of each.
        """
        return self._state.read(lambda store: self._tables(store, evidence), {})

    def _tables(self, store: "Store", evidence: Mapping[str, TableTerms]) -> dict[str, AnswerTable]:
        refs = store.tables.refs(evidence)
        read = [
            table
            for table in store.tables.profiles(refs)
            if source_of(table.table_id) in self._configs
            and not all(column.hidden for column in table.columns)
        ]
        names = plain_names(i.table_id for i in read if self._dialect_of(i.table_id) is None)
        found = (
            self._table(store, one, refs[one.table_id], names.get(one.table_id), evidence)
            for one in read
        )
        return {one.table_id: one for one in found}

    def names(self, table_ids: Iterable[str]) -> dict[str, str]:
        """Return by id what statements about these tables call them; nothing is opened."""
        ids = list(table_ids)
        plain = plain_names(one for one in ids if self._dialect_of(one) is None)
        return {one: plain.get(one, unescape(one.rpartition("/")[2])) for one in ids}

    def seen(self, table_ids: Sequence[str], where: IndexFilter) -> list[str]:
        """Return ids of tables, each once, all of which who asks may see.

        Raises:
            ConfigError: There is no such table for them.
        """
        ids = list(dict.fromkeys(table_ids))
        listed = self._state.read(lambda store: seen_tables(store, where.readers), set[str]())
        seen = set(let_through(where, listed))
        for one in ids:
            check_among(one, seen)
        return ids

    def changed(self, table_ids: Collection[str]) -> set[str]:
        """Return those of some tables that were listed as another than they were indexed as.

        A model is shown what is indexed, and a statement reads what there is now; rows of such a
        table may be of columns that nobody was shown, or contradict the values that were.
        """

        def found(store: "Store") -> set[str]:
            indexed = store.questions.versions(list(table_ids))
            listed = store.tables.refs(table_ids)
            return {one for one, ref in listed.items() if indexed.get(one) != ref.version}

        return self._state.read(found, set())

    def dialect(self, tables: Sequence[AnswerTable]) -> str:
        """Return the dialect of the database in which all of the tables lie, else DuckDB's."""
        is_one = len({source_of(one.table_id) for one in tables}) == 1
        return (self._dialect_of(tables[0].table_id) if is_one else None) or IN_DUCKDB

    def run(self, statement: Checked, tables: Sequence[AnswerTable]) -> StatementRows:
        """Return the rows of a checked statement, as `Runner` has it."""
        read = {one.name for one in statement.tables}
        needed = [one for one in tables if one.read.name in read]
        try:
            with self._turns:
                return self._run(statement, needed)
        except ConfigError as error:  # a secret is missing: other sources may answer
            raise SourceError(str(error)) from error
        except (AccessRefusedError, TableChangedError):
            raise
        except TableReadError as error:
            changed = ", ".join(sorted(self.changed([one.table_id for one in needed])))
            told = f"{changed} {CHANGED}" if changed else f"if it {CHANGED.replace(';', ',')}"
            raise TableReadError(f"{str(error).rstrip('.')}; {told}") from error

    def _run(self, statement: Checked, needed: Sequence[AnswerTable]) -> StatementRows:
        bounds = RunBounds(seconds=self._loaded.deployment.answers.seconds)
        if statement.dialect == IN_DUCKDB:
            return run(statement, [self._given(one, statement) for one in needed], bounds)
        asked = Statement(
            statement.sql,
            tuple(_place(one) for one in needed),
            statement.most_rows,
            bounds.result_bytes,
            bounds.seconds,
        )
        return self._source(source_of(needed[0].table_id)).run_statement(asked)

    def close(self) -> None:
        """End the processes that read; used again, others are started."""
        with self._lock:
            for source in self._opened.values():
                source.close()
            self._opened.clear()
        self._state.close()

    @cached_property
    def _configs(self) -> dict[str, SourceConfig]:
        return {one.name: one for one in self._loaded.deployment.sources}

    def _source(self, name: str) -> IsolatedSource:
        with self._lock:
            if name not in self._opened:
                config = self._configs.get(name)
                if config is None:
                    raise TableReadError(f"source {name!r} is not in the deployment file any more")
                given = config.resolved(self._loaded.base), self._environ
                self._opened[name] = IsolatedSource(*given, self._loaded.deployment.limits)
            return self._opened[name]

    def _given(self, table: AnswerTable, statement: Checked) -> Given:
        """Return a table with the columns alone that the statement reads, or its first one."""
        named = {column for name, column in statement.columns if name == table.read.name}
        columns = tuple(one for one in table.read.columns if one in named)
        read = replace(table.read, columns=columns or table.read.columns[:1])
        types = {one.name: one.type for one in self.columns(table)}
        rows = self._source(source_of(table.table_id)).scan(table.ref)
        return Given(read, rows, types, table.table_id)

    def _table(
        self,
        store: "Store",
        table: Table,
        ref: TableRef,
        name: str | None,
        evidence: Mapping[str, TableTerms],
    ) -> AnswerTable:
        """Return a table by its plain name, or None where a database calls it by its own."""
        said = store.narrations.of_tables([table.table_id])[table.table_id]
        shown = [column for column in table.columns if not column.hidden]
        hides = hides_names(self._loaded.deployment, table.table_id)
        hidden = () if hides else tuple(one.name for one in table.columns if one.hidden)
        schema = ""
        if name is None:
            _, *above, name = table.table_id.split("/")
            schema = above[-1] if above else ""
        own = (unescape(schema), unescape(name))  # A name with signs that no id has is escaped.
        columns = tuple(column.name for column in shown)
        found = AnswerTable(
            table.table_id,
            ref,
            ReadTable(name, columns, schema, hidden, None if own == (schema, name) else own),
            tuple(_column(column, said.get(column.name)) for column in shown),
            table.row_count,
            evidence[table.table_id],
            unread=tuple(f"{table.table_id}: {note}" for note in [unread_of(table.notes)] if note),
        )
        in_place = self._dialect_of(table.table_id) is not None
        return found if in_place else replace(found, columns=self.columns(found))

    def batches(self, table: AnswerTable) -> Iterator[pa.RecordBatch]:
        """Yield a table's rows.

        Raises:
            TableReadError: It cannot be read.
        """
        return self._source(source_of(table.table_id)).scan(table.ref)

    def columns(self, table: AnswerTable) -> tuple[AnswerColumn, ...]:
        """Return a table's columns as DuckDB sees them, wherever it lies."""
        engine = self._configs[source_of(table.table_id)].spells_types
        return tuple(_as_it_runs(table, one, engine) for one in table.columns)

    def _dialect_of(self, table_id: str) -> str | None:
        """Return the dialect in which the source of a table runs statements itself, if it does."""
        config = self._configs.get(source_of(table_id))
        return None if config is None else config.statement_dialect


def _place(table: AnswerTable) -> StatementTable:
    schema, name = table.read.place
    return StatementTable(name, table.ref, table.read.columns, schema)


def _column(column: Column, said: Description | None) -> AnswerColumn:
    """Return a column with what people or a model say of it; values tell it anyway."""
    told = said is not None and said.provenance is not Provenance.PROFILE
    return AnswerColumn(column.name, column.type, said.text if said is not None and told else "")


def _as_it_runs(table: AnswerTable, column: AnswerColumn, engine: str | None) -> AnswerColumn:
    """Return a column of the type that DuckDB sees: days in another order stay text.

    Args:
        table: Of which it is.
        column: As its source spells it.
        engine: Which spells it (`SourceConfig.spells_types`).
    """
    kind = statement_type(column.type, engine) if engine else column.type
    if kind in _DAYS:
        days = table.spellings(column.name).difference(MISSING)
        kind = kind if all(map(_ISO_DAY.match, days)) else "VARCHAR"
    return replace(column, type=kind)


_NO_NAME = re.compile(r"\W+")


def plain_names(table_ids: Iterable[str]) -> dict[str, str]:
    """Return by id what tables are called.

    A table is called by the last part of its id, without the ending that a file has where several
    share a name, and with that of the file before it where it is one of a file's tables. Of those
    that are then called alike the parts stay in which their ids differ: `lake/2019/sales` and
    `lake/2020/sales` are `sales_2019` and `sales_2020`.
    """
    alike: dict[str, list[tuple[str, str, Sequence[str]]]] = defaultdict(list)
    for table_id in dict.fromkeys(table_ids):
        name, parts = _taken_apart(table_id)
        alike[name.casefold()].append((table_id, name, parts))
    found = {}
    for same in alike.values():
        kept = _different([parts for _, _, parts in same])
        for (table_id, name, _), parts in zip(same, kept, strict=True):
            found[table_id] = "_".join((name, *(_plain(part) for part in parts if part)))
    return found


def may_be_called(table_id: str, name: str) -> bool:
    """Return whether `plain_names` calls a table so beside some others that have its name."""
    own, parts = _taken_apart(table_id)
    longer = "_".join(_plain(part) for part in parts if part)
    return name.startswith(f"{own}_") and f"_{name[len(own) + 1 :]}_" in f"_{longer}_"


def _taken_apart(table_id: str) -> tuple[str, Sequence[str]]:
    """Return what a table is called, and the other parts of its id, its file's ending last."""
    *above, last = table_id.split("/")
    parsed = parse_file_name(last)
    name = _plain(last if parsed is None else parsed.stem)
    ending = "" if parsed is None else last[len(parsed.stem) :]
    holder = parse_file_name(above[-1]) if above else None
    if holder is not None and holder.format in HOLDERS:
        name = _plain(f"{holder.stem}_{name}")
    return name, (*above, ending)


def _different(paths: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return paths without the parts with which all of them begin and end."""
    first = _alike(paths)
    last = _alike([path[first:][::-1] for path in paths])
    return [path[first : len(path) - last] for path in paths]


def _alike(paths: Iterable[Sequence[str]]) -> int:
    """Return with how many parts that are the same all paths begin."""
    columns = zip(*paths, strict=False)
    return sum(1 for _ in takewhile(lambda parts: len(set(parts)) == 1, columns))


def _plain(name: str) -> str:
    return _NO_NAME.sub("_", name).strip("_") or "data"
