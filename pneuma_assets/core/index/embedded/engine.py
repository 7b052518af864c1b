"""The embedded engine: one SQLite file is the truth, numpy arrays in memory answer.

Both sides are exact: BM25 and cosine are computed for every block of the filter, so nothing is
missed and every block's true score can be had. Why this engine: docs/index-engine.md.
"""

import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np

from pneuma_assets.core.index.base import (
    NO_FILTER,
    IndexFilter,
    IndexInfo,
    IndexQuery,
    SideHits,
    SideScores,
    TableContents,
    TableScores,
    fields_of,
)
from pneuma_assets.core.index.embedded.file import (
    SqliteFile,
    damaged,
    note_committed,
    open_file,
    read_meta,
)
from pneuma_assets.core.index.embedded.folder import finish_replacing
from pneuma_assets.core.index.embedded.rows import (
    FactsSnapshot,
    TableRow,
    find_tables,
    look_up,
    read_contents,
    read_evidence,
    read_facts,
    read_tables,
    table_key,
)
from pneuma_assets.core.index.embedded.search import Question, View
from pneuma_assets.core.index.embedded.snapshot import Follower
from pneuma_assets.core.index.embedded.stats import CachedIntegrityCheck, vacuum
from pneuma_assets.core.index.embedded.write import Writer, grouped
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.index.validation import (
    cells_asked,
    check_facts,
    check_filter,
    check_limit,
    check_lists,
    check_questions,
)
from pneuma_assets.core.tables import DocumentKind, EmbeddedBlock, TableFacts, TableTerms
from pneuma_assets.core.terms.fields import Field, query_terms
from pneuma_assets.core.text.analysis import ENGLISH, Analyzer

Read = TypeVar("Read")


class EmbeddedIndex:
    """A search index in a folder, for any number of threads and processes of one machine.

    The first search loads the blocks (about 2 kB each, see `snapshot`); later ones load what has
    changed since. Not to be used across a fork.

    Args:
        folder: Holds the index and nothing else; created if missing.
        encoder: Name of the encoder whose vectors these are.
        dimension: Length of one vector.
        analyzer: How texts and questions become terms.
        lock_timeout: Seconds to wait while another process writes.

    Raises:
        IndexMismatchError: The index was built with another encoder, dimension or analyzer.
        SearchIndexError: The index cannot be opened or created.
    """

    def __init__(
        self,
        folder: Path,
        encoder: str,
        dimension: int,
        *,
        analyzer: Analyzer = ENGLISH,
        lock_timeout: float = 60.0,
    ) -> None:
        self._folder = folder
        self._analyzer = analyzer
        self._identity = Identity(encoder, dimension, analyzer.name)
        self._lock_timeout = lock_timeout
        self._reopening = threading.Lock()
        self._checkup = CachedIntegrityCheck()
        self._opened = self._open()

    def replace_tables(self, tables: Mapping[str, TableContents]) -> None:
        """Make each table's contents exactly these; small tables share a transaction."""
        for group in grouped(tables, self._identity.dimension):
            with self._writer() as writer:
                for table_id, contents in group.items():
                    writer.replace(table_id, contents)

    def set_facts(self, facts: Mapping[str, TableFacts]) -> None:
        """Replace what is known of tables, all of them in one transaction."""
        for table_id, one in facts.items():
            check_facts(table_id, one)
        with self._writer() as writer:
            writer.set_facts(facts)

    def facts(self, table_ids: Sequence[str]) -> dict[str, TableFacts]:
        """Return what is known of these tables; unknown ids are left out."""
        keys = {table_id: table_key(table_id) for table_id in table_ids}
        with self._current()[0].reading() as connection:
            found = read_facts(connection, list(set(keys.values())))
        return {i: found[key].facts for i, key in keys.items() if key in found}

    def delete_tables(self, table_ids: Sequence[str]) -> None:
        """Remove tables and their blocks; unknown ids are ignored."""
        with self._writer() as writer:
            writer.delete(table_ids)

    def search(
        self, queries: Sequence[IndexQuery], limit: int, where: IndexFilter = NO_FILTER
    ) -> list[SideHits]:
        """Return the `limit` best blocks a side and tables a field, among those of the filter.

        Raises:
            QueryError: The limit is below 1.
        """
        check_limit(limit)
        check_filter(where)
        questions = self._questions(queries, where)
        vectors = [one.vector for one in questions if one.vector is not None]
        with self._view(where) as view:
            lexical = [view.best_by_words(one, limit) for one in questions]
            stacked = np.reshape(np.array(vectors, np.float32), (-1, self._identity.dimension))
            hits = view.to_hits([*lexical, *view.best_by_meaning(stacked, limit)])
            semantic = iter(hits[len(questions) :])
            return [
                SideHits(
                    words,
                    [] if one.vector is None else next(semantic),
                    view.best_tables(one.fields, limit),
                )
                for one, words in zip(questions, hits, strict=False)
            ]

    def scores(
        self,
        queries: Sequence[IndexQuery],
        block_ids: Sequence[Sequence[str]],
        where: IndexFilter = NO_FILTER,
    ) -> list[dict[str, SideScores]]:
        """Return the true scores of each query's blocks; unknown ids are left out."""
        check_filter(where)
        check_lists(queries, block_ids)
        questions = self._questions(queries, where)
        with self._view(where) as view:
            return [view.scores(one, i) for one, i in zip(questions, block_ids, strict=True)]

    def table_scores(
        self,
        queries: Sequence[IndexQuery],
        table_ids: Sequence[Sequence[str]],
        where: IndexFilter = NO_FILTER,
    ) -> list[dict[str, TableScores]]:
        """Return the true scores of each query's tables; unknown ids are left out.

        What `search` computed for the same question just before is not computed again.
        """
        check_filter(where)
        check_lists(queries, table_ids)
        questions = self._questions(queries, where)
        with self._view(where) as view:
            return [view.table_scores(one, i) for one, i in zip(questions, table_ids, strict=True)]

    def holding(
        self, values: Sequence[str], where: IndexFilter = NO_FILTER
    ) -> dict[str, tuple[str, ...]]:
        """Return for each value the tables that have it as a whole cell.

        Raises:
            QueryError: There are too many values.
        """
        check_filter(where)
        asked = cells_asked(values, where)
        terms = list(dict.fromkeys(filter(None, asked.values())))
        with self._view(where) as view:
            found = view.holding(terms)
        return {value: found[term] if term else () for value, term in asked.items()}

    def evidence(self, table_ids: Sequence[str]) -> dict[str, TableTerms]:
        """Return the evidence of these tables; unknown ids are left out."""
        with self._current()[0].reading() as connection:
            tables = find_tables(connection, table_ids, read_meta(connection))
            return {table.table_id: read_evidence(connection, table) for table in tables}

    def list_tables(self, readers: Sequence[str] | None = None) -> dict[str, int]:
        """Return every indexed table with its number of blocks, in the order of their ids."""
        with self._current()[0].reading() as connection:
            tables = read_tables(connection, read_meta(connection))
            if readers is not None:
                facts = FactsSnapshot().followed(connection, ())
                seen = set(facts.seen_by(readers).tolist())
                tables = [table for table in tables if table.key in seen]
            return {table.table_id: table.blocks for table in tables}

    def kinds(self, readers: Sequence[str] | None = None) -> frozenset[DocumentKind]:
        """Return the kinds of documents of which there are blocks."""
        with self._view(IndexFilter(readers=None if readers is None else tuple(readers))) as view:
            return view.kinds()

    def contents(
        self, table_ids: Sequence[str] | None = None
    ) -> Iterator[tuple[str, TableContents]]:
        """Yield what is kept, each table as it is when its turn comes."""

        def read(connection: sqlite3.Connection, table: TableRow) -> TableContents:
            blocks, evidence = read_contents(connection, table, self._identity.dimension)
            facts = read_facts(connection, [table.key])
            if table.key not in facts:
                raise damaged("a table's facts are missing")
            return TableContents(blocks, evidence, facts[table.key].facts)

        return self._each(table_ids, read)

    def blocks(self, table_ids: Sequence[str] | None = None) -> Iterator[EmbeddedBlock]:
        """Yield the stored blocks, table by table."""

        def read(connection: sqlite3.Connection, table: TableRow) -> list[EmbeddedBlock]:
            return read_contents(connection, table, self._identity.dimension)[0]

        for _, blocks in self._each(table_ids, read):
            yield from blocks

    def info(self) -> IndexInfo:
        """Return engine, encoder, counts, size on disk and health; a damaged file says so.

        Every row is checked, unless no file has changed since this object checked them last.
        """
        return self._checkup.info(self._current()[0], self._identity)

    def optimise(self) -> None:
        """Give the space of removed blocks back to the disk and empty the write-ahead log."""
        vacuum(self._current()[0])

    def close(self) -> None:
        """Close the file and forget what was loaded."""
        file, _ = self._opened
        file.close()
        self._opened = file, Follower(self._identity.dimension)

    def _open(self) -> tuple[SqliteFile, Follower]:
        finish_replacing(self._folder)
        file = open_file(self._folder, self._identity, self._lock_timeout)
        return file, Follower(self._identity.dimension)

    def _current(self) -> tuple[SqliteFile, Follower]:
        """Return the open file, opened anew if another process has built the index again."""
        finish_replacing(self._folder)
        if not self._opened[0].is_current():
            with self._reopening:
                file, _ = self._opened
                if not file.is_current():
                    self._opened = self._open()
                    file.close()
        return self._opened

    def _each(
        self, table_ids: Sequence[str] | None, read: Callable[[sqlite3.Connection, TableRow], Read]
    ) -> Iterator[tuple[str, Read]]:
        """Yield what is read of each of these tables (all if None) that exists.

        Nothing stays open while the caller works: a reader that waits holds up the log.
        """
        with self._current()[0].reading() as connection:
            meta = read_meta(connection)
            if table_ids is None:
                tables = read_tables(connection, meta)
            else:
                tables = find_tables(connection, table_ids, meta)
        for table_id in [table.table_id for table in tables]:
            with self._current()[0].reading() as connection:
                table = look_up(connection, table_id)
                found = None if table is None else read(connection, table)
            if found is not None:
                yield table_id, found

    @contextmanager
    def _writer(self) -> Iterator[Writer]:
        with self._current()[0].writing() as connection:
            writer = Writer(connection, self._analyzer)
            yield writer
            generation = writer.finish()
        if generation is not None:
            note_committed(self._folder, writer.index_id, generation)

    @contextmanager
    def _view(self, where: IndexFilter) -> Iterator[View]:
        """Give the newest state, of which who asks sees a part."""
        file, follower = self._current()
        with file.reading() as connection:
            yield View(connection, follower.current(connection).seen_by(where.readers), where)

    def _questions(self, queries: Sequence[IndexQuery], where: IndexFilter) -> list[Question]:
        """Return what to look up of each question, in the fields that the filter lets through."""
        vectors = check_questions(queries, self._identity.dimension)
        return [
            Question(
                [] if query.text is None else self._analyzer.question_terms(query.text),
                vector,
                self._fields(query.evidence, where),
                query.silent,
            )
            for query, vector in zip(queries, vectors, strict=True)
        ]

    def _fields(self, evidence: str | None, where: IndexFilter) -> dict[Field, Sequence[str]]:
        fields = fields_of(where)
        if evidence is None or not fields:
            return {}
        asked = query_terms(evidence, self._analyzer)
        return {name: terms for name, terms in asked.items() if terms and name in fields}
