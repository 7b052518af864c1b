"""The embedded engine: one SQLite file is the truth, numpy arrays in memory answer.

Both sides are exact: BM25 and cosine are computed for every block of the filter, so nothing is
missed and every block's true score can be had. Why this engine: docs/index-engine.md.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

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
    let_through,
)
from pneuma_assets.core.index.checked import (
    cells_asked,
    check_facts,
    check_filter,
    check_limit,
    check_lists,
    check_questions,
)
from pneuma_assets.core.index.embedded.checkup import Checkup
from pneuma_assets.core.index.embedded.committed import note_committed
from pneuma_assets.core.index.embedded.contents import read_blocks, read_contents, vacuum
from pneuma_assets.core.index.embedded.evidence_rows import read_evidence
from pneuma_assets.core.index.embedded.evidence_view import Asked
from pneuma_assets.core.index.embedded.facts import all_facts, read_facts
from pneuma_assets.core.index.embedded.folder import finish_replacing
from pneuma_assets.core.index.embedded.records import prepare
from pneuma_assets.core.index.embedded.schema import open_file
from pneuma_assets.core.index.embedded.snapshot import Follower
from pneuma_assets.core.index.embedded.sqlite_file import SqliteFile, from_blob, to_blob
from pneuma_assets.core.index.embedded.sums import table_key
from pneuma_assets.core.index.embedded.table_view import Question, TableView
from pneuma_assets.core.index.embedded.tables import read_table, read_tables
from pneuma_assets.core.index.embedded.view import View
from pneuma_assets.core.index.embedded.writer import Writer
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.tables import DocumentKind, EmbeddedBlock, TableFacts, TableTerms, Vector
from pneuma_assets.core.terms.fields import query_terms
from pneuma_assets.core.text.analysis import ENGLISH, Analyzer


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
        self._checkup = Checkup()
        self._opened = self._open()

    def replace_tables(self, tables: Mapping[str, TableContents]) -> None:
        """Make each table's contents exactly these; small tables share a transaction."""
        for group in prepare(tables, self._identity.dimension):
            with self._writer() as writer:
                for table_id, records in group.items():
                    writer.replace(table_id, records)

    def set_facts(self, facts: Mapping[str, TableFacts]) -> None:
        """Tell anew what is known of tables, all of them in one transaction."""
        for table_id, one in facts.items():
            check_facts(table_id, one)
        with self._writer() as writer:
            for table_id, one in facts.items():
                writer.set_facts(table_id, one)

    def facts(self, table_ids: Sequence[str]) -> dict[str, TableFacts]:
        """Return what is known of these tables; unknown ids are left out."""
        keys = {table_id: table_key(to_blob(table_id)) for table_id in table_ids}
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
        terms = [self._terms(query) for query in queries]
        places, vectors = self._vectors(queries)
        with self._view(where.readers) as view:
            eligible = view.eligible(where)
            lexical = [
                view.rank_lexical(one, eligible & view.of_others(query.silent), limit)
                for one, query in zip(terms, queries, strict=True)
            ]
            semantic = view.rank_semantic(vectors, eligible, limit)
            hits = view.to_hits([*lexical, *semantic])
            tables = view.evidence.eligible(where)
            fields = [view.evidence.rank(self._asked(q, where), tables, limit) for q in queries]
        by_place = dict(zip(places, hits[len(queries) :], strict=True))
        return [
            SideHits(hits[place], by_place.get(place, []), fields[place])
            for place in range(len(queries))
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
        vectors = check_questions(queries, self._identity.dimension)
        with self._view(where.readers) as view:
            eligible = view.eligible(where)
            return [
                view.scores(self._terms(query), vector, ids, eligible)
                for query, vector, ids in zip(queries, vectors, block_ids, strict=True)
            ]

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
        vectors = check_questions(queries, self._identity.dimension)
        with self._view(where.readers) as view:
            tables = TableView(view, view.eligible(where), view.evidence.eligible(where))
            return [
                tables.scores(
                    Question(self._terms(query), vector, self._asked(query, where), query.silent),
                    let_through(where, ids),
                )
                for query, vector, ids in zip(queries, vectors, table_ids, strict=True)
            ]

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
        with self._view(where.readers) as view:
            found = view.evidence.holding(terms, view.evidence.eligible(where))
        return {value: found[term] if term else () for value, term in asked.items()}

    def evidence(self, table_ids: Sequence[str]) -> dict[str, TableTerms]:
        """Return the evidence of these tables; unknown ids are left out."""
        with self._current()[0].reading() as connection:
            tables = {i: read_table(connection, i) for i in dict.fromkeys(table_ids)}
            return {
                table_id: read_evidence(connection, table)
                for table_id, table in tables.items()
                if table is not None
            }

    def list_tables(self, readers: Sequence[str] | None = None) -> dict[str, int]:
        """Return every indexed table with its number of blocks, in the order of their ids."""
        with self._current()[0].reading() as connection:
            tables = read_tables(connection)
            if readers is not None:
                seen = set(all_facts(connection).seen_by(readers).tolist())
                tables = [table for table in tables if table.key in seen]
            return {from_blob(table.table_id): table.blocks for table in tables}

    def kinds(self, readers: Sequence[str] | None = None) -> frozenset[DocumentKind]:
        """Return the kinds of documents of which there are blocks."""
        with self._view(readers) as view:
            return view.kinds()

    def contents(
        self, table_ids: Sequence[str] | None = None
    ) -> Iterator[tuple[str, TableContents]]:
        """Yield what is kept, each table as it is when its turn comes."""
        wanted = self.list_tables() if table_ids is None else dict.fromkeys(table_ids)
        for table_id in wanted:
            # Nothing stays open while the caller works: a reader that waits holds up the log.
            with self._current()[0].reading() as connection:
                stored = read_contents(connection, table_id, self._identity.dimension)
            if stored is not None:
                yield table_id, stored

    def blocks(self, table_ids: Sequence[str] | None = None) -> Iterator[EmbeddedBlock]:
        """Yield the stored blocks, table by table."""
        for table_id in self.list_tables() if table_ids is None else dict.fromkeys(table_ids):
            with self._current()[0].reading() as connection:
                stored = read_blocks(connection, table_id, self._identity.dimension)
            yield from stored

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

    @contextmanager
    def _writer(self) -> Iterator[Writer]:
        with self._current()[0].writing() as connection:
            writer = Writer(connection, self._analyzer)
            yield writer
            generation = writer.finish()
        if generation is not None:
            note_committed(self._folder, writer.index_id, generation)

    @contextmanager
    def _view(self, readers: Sequence[str] | None = None) -> Iterator[View]:
        """Give the newest state, of which who asks sees a part; None: all of it."""
        file, follower = self._current()
        with file.reading() as connection:
            yield View(connection, follower.current(connection).seen_by(readers))

    def _terms(self, query: IndexQuery) -> list[str]:
        return [] if query.text is None else self._analyzer.question_terms(query.text)

    def _asked(self, query: IndexQuery, where: IndexFilter) -> Asked:
        """Return what to look up of a question in each field that the filter lets through."""
        fields = fields_of(where)
        if query.evidence is None or not fields:
            return {}
        asked = query_terms(query.evidence, self._analyzer)
        return {name: terms for name, terms in asked.items() if terms and name in fields}

    def _vectors(self, queries: Sequence[IndexQuery]) -> tuple[list[int], Vector]:
        """Return which queries have a vector, and those, shape (with a vector, dimension)."""
        checked = check_questions(queries, self._identity.dimension)
        found = {place: vector for place, vector in enumerate(checked) if vector is not None}
        vectors = np.empty((len(found), self._identity.dimension), np.float32)
        for row, vector in enumerate(found.values()):
            vectors[row] = vector
        return list(found), vectors
