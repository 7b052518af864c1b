"""A third search engine, in the memory of one process: small, exact, and known to nobody.

It shows what another engine has to bring: a `SearchIndex`, an `EngineKind`, a section, and one call
of `register_engine`. Indexes outlive the objects that open them, by their state folder.
"""

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log1p
from pathlib import Path

import numpy as np

from pneuma_assets.core.config.engines import Engine, register_engine
from pneuma_assets.core.config.section import Section
from pneuma_assets.core.config.values import VariableName
from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.base import (
    K1,
    NO_FILTER,
    B,
    Hit,
    IndexFilter,
    IndexInfo,
    IndexQuery,
    SideHits,
    SideScores,
    TableContents,
)
from pneuma_assets.core.index.checked import (
    check_blocks,
    check_filter,
    check_limit,
    check_lists,
    check_questions,
)
from pneuma_assets.core.index.credentials import SignIn
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.index.kind import IndexPlace
from pneuma_assets.core.tables import DocumentKind, EmbeddedBlock, Vector, source_of
from pneuma_assets.core.text.analysis import ENGLISH, Analyzer

NAME = "stub"

Entries = dict[str, tuple[EmbeddedBlock, Counter[str]]]
"""One table's blocks and their terms, by block id."""


@dataclass(slots=True)
class Shelf:
    """What is kept of one index; a table's entries are never changed, only exchanged."""

    identity: Identity
    tables: dict[str, Entries] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


class StubIndex:
    """Keeps `core.index.base.SearchIndex`."""

    def __init__(self, shelf: Shelf, analyzer: Analyzer = ENGLISH) -> None:
        self._shelf = shelf
        self._analyzer = analyzer

    def replace_tables(self, tables: Mapping[str, TableContents]) -> None:
        dimension = self._shelf.identity.dimension
        fresh = {
            table_id: {
                block_id: (item, Counter(self._analyzer.terms(item.block.text)))
                for block_id, item in check_blocks(table_id, contents.blocks, dimension).items()
            }
            for table_id, contents in tables.items()
        }
        with self._shelf.lock:
            self._shelf.tables.update(fresh)

    def delete_tables(self, table_ids: Sequence[str]) -> None:
        with self._shelf.lock:
            for table_id in table_ids:
                self._shelf.tables.pop(table_id, None)

    def search(
        self, queries: Sequence[IndexQuery], limit: int, where: IndexFilter = NO_FILTER
    ) -> list[SideHits]:
        check_limit(limit)
        check_filter(where)
        entries = self._entries()
        passing = [_passes(item, where) for item, _ in entries.values()]
        blocks = [item.block for item, _ in entries.values()]

        def best(scores: Vector, bound: float) -> list[Hit]:
            rows = zip(blocks, scores.tolist(), passing, strict=True)
            hits = [Hit(block, score) for block, score, passed in rows if passed and score > bound]
            return sorted(hits, key=lambda hit: (-hit.score, hit.block.block_id))[:limit]

        return [
            SideHits(best(lexical, 0.0), [] if query.vector is None else best(semantic, -np.inf))
            for query, (lexical, semantic) in zip(
                queries, self._scores(queries, entries), strict=True
            )
        ]

    def scores(
        self, queries: Sequence[IndexQuery], block_ids: Sequence[Sequence[str]]
    ) -> list[dict[str, SideScores]]:
        check_lists(queries, block_ids)
        entries = self._entries()
        places = {block_id: place for place, block_id in enumerate(entries)}
        return [
            {
                i: SideScores(float(lexical[places[i]]), float(semantic[places[i]]))
                for i in ids
                if i in places
            }
            for (lexical, semantic), ids in zip(
                self._scores(queries, entries), block_ids, strict=True
            )
        ]

    def list_tables(self) -> dict[str, int]:
        return {table_id: len(entries) for table_id, entries in self._tables().items()}

    def kinds(self) -> frozenset[DocumentKind]:
        return frozenset(item.block.kind for item, _ in self._entries().values())

    def contents(
        self, table_ids: Sequence[str] | None = None
    ) -> Iterator[tuple[str, TableContents]]:
        tables = self._tables()
        for table_id in tables if table_ids is None else dict.fromkeys(table_ids):
            if table_id in tables:
                yield table_id, contents_of(tables[table_id])

    def blocks(self, table_ids: Sequence[str] | None = None) -> Iterator[EmbeddedBlock]:
        for _, contents in self.contents(table_ids):
            yield from contents.blocks

    def info(self) -> IndexInfo:
        return info_of(self._shelf)

    def optimise(self) -> None:
        """Nothing is ever left over."""

    def close(self) -> None:
        """The shelf stays."""

    def _tables(self) -> dict[str, Entries]:
        with self._shelf.lock:
            return dict(sorted(self._shelf.tables.items()))

    def _entries(self) -> Entries:
        return {i: entry for table in self._tables().values() for i, entry in table.items()}

    def _scores(
        self, queries: Sequence[IndexQuery], entries: Entries
    ) -> Iterator[tuple[Vector, Vector]]:
        """Yield each question's scores of all entries: BM25 and cosine, shape (entries,)."""
        vectors = check_questions(queries, self._shelf.identity.dimension)
        counts = [terms for _, terms in entries.values()]
        for query, vector in zip(queries, vectors, strict=True):
            terms = [] if query.text is None else self._analyzer.question_terms(query.text)
            semantic = np.zeros(len(entries), np.float32)
            if vector is not None:
                for row, (item, _) in enumerate(entries.values()):
                    semantic[row] = np.dot(item.vector, vector)
            yield bm25(counts, terms), semantic


def bm25(counts: Sequence[Counter[str]], terms: Sequence[str]) -> Vector:
    """Return the textbook's BM25 of every block, shape (blocks,); see `embedded.bm25`."""
    lengths = np.array([sum(one.values()) for one in counts], np.float64)
    living = np.count_nonzero(lengths)
    saturation = K1 * (1 - B + B * lengths / (lengths.sum() / living if living else 1.0))
    scores = np.zeros(len(counts))
    for term, repeated in Counter(terms).items():
        frequency = np.array([one[term] for one in counts], np.float64)
        containing = np.count_nonzero(frequency)
        rarity = log1p((living - containing + 0.5) / (containing + 0.5))
        scores += repeated * rarity * frequency / (frequency + saturation)
    return scores.astype(np.float32)


def contents_of(entries: Entries) -> TableContents:
    """Return one table's contents as they were given."""
    return TableContents([item for item, _ in entries.values()])


def info_of(shelf: Shelf) -> IndexInfo:
    blocks = [item for table in shelf.tables.values() for item, _ in table.values()]
    return IndexInfo(
        engine=NAME,
        encoder=shelf.identity.encoder,
        dimension=shelf.identity.dimension,
        tables=len(shelf.tables),
        blocks=len(blocks),
        size_bytes=sum(item.vector.nbytes + len(item.block.text) for item in blocks),
        health="green",
        details={"analyzer": shelf.identity.analyzer},
    )


def _passes(item: EmbeddedBlock, where: IndexFilter) -> bool:
    block = item.block
    return (
        (not where.tables or block.table_id in where.tables)
        and (not where.sources or source_of(block.table_id) in where.sources)
        and (not where.kinds or block.kind in where.kinds)
    )


class StubSection(Section):
    """Several indexes may stand beside one state folder; a key may guard them."""

    shelf: str = "first"
    api_key_env: VariableName | None = None


SHELVES: dict[tuple[Path, str], Shelf] = {}
"""Every index of this process."""


class StubKind:
    """Keeps `core.index.kind.EngineKind`."""

    technologies = frozenset({"python"})

    def sign_in(self, settings: StubSection) -> SignIn:
        return SignIn(settings.api_key_env)

    def exists(self, place: IndexPlace[StubSection]) -> bool:
        return _key(place) in SHELVES

    def open(
        self, place: IndexPlace[StubSection], wanted: Identity, *, building: bool
    ) -> StubIndex:
        if place.settings.api_key_env is not None and not place.credentials.api_key:
            raise SearchIndexError("The shelf is locked; give the key.")
        if building:
            SHELVES.setdefault(_key(place), Shelf(wanted))
        shelf = SHELVES.get(_key(place))
        if shelf is None:
            raise SearchIndexError("There is no such shelf yet: run 'pneuma-assets index'.")
        shelf.identity.check(wanted, place.settings.shelf)
        return StubIndex(shelf, place.analyzer)

    def renew(self, place: IndexPlace[StubSection], found: Identity) -> None:
        fresh = Shelf(Identity(found.encoder, found.dimension, place.analyzer.name))
        index = StubIndex(fresh, place.analyzer)
        for table_id, entries in SHELVES[_key(place)].tables.items():
            index.replace_tables({table_id: contents_of(entries)})
        SHELVES[_key(place)] = fresh

    def inspect(self, place: IndexPlace[StubSection]) -> IndexInfo | None:
        return info_of(SHELVES[_key(place)]) if self.exists(place) else None

    def begin_rebuild(self, place: IndexPlace[StubSection], wanted: Identity) -> None:
        SHELVES[_key(place)] = Shelf(wanted)

    def publish(self, place: IndexPlace[StubSection]) -> bool:
        return False

    def reindex(self, place: IndexPlace[StubSection]) -> None:
        if not self.exists(place):
            raise SearchIndexError("There is no such shelf yet: run 'pneuma-assets index'.")
        self.renew(place, SHELVES[_key(place)].identity)


def _key(place: IndexPlace[StubSection]) -> tuple[Path, str]:
    return place.home, place.settings.shelf


ENGINE = Engine(NAME, "tests.support.stub_index:StubKind", StubSection, of_one_machine=True)


def register_stub() -> None:
    """Let deployment files name this engine."""
    register_engine(ENGINE)
