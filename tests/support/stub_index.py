"""A third search engine, in the memory of one process: small, exact, and known to nobody.

It shows what another engine has to bring: a `SearchIndex`, an `EngineKind`, a section, and one call
of `register_engine`. Indexes outlive the objects that open them, by their state folder.
"""

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log1p
from pathlib import Path

import numpy as np

from pneuma_assets.core.config.engines import Engine, register_engine
from pneuma_assets.core.config.secrets import VariableName
from pneuma_assets.core.config.section import Section
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
    TableHit,
    TableScores,
    fields_of,
    is_seen,
    let_through,
)
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.index.registry import IndexPlace, SignIn
from pneuma_assets.core.index.validation import (
    cells_asked,
    check_blocks,
    check_evidence,
    check_facts,
    check_filter,
    check_limit,
    check_lists,
    check_questions,
)
from pneuma_assets.core.tables import (
    Block,
    DocumentKind,
    EmbeddedBlock,
    TableFacts,
    TableTerms,
    Vector,
    source_of,
)
from pneuma_assets.core.terms.fields import PRESENCE, Field, field_entries, query_terms
from pneuma_assets.core.text.analysis import ENGLISH, Analyzer
from tests.support.lucene_bm25 import rounded_length

NAME = "stub"

Blocks = dict[str, tuple[EmbeddedBlock, Counter[str]]]
"""Blocks and their terms, by block id."""


@dataclass(frozen=True, slots=True)
class Kept:
    """One table: its blocks, its evidence, and the terms of the evidence's entries by field."""

    blocks: Blocks
    evidence: TableTerms
    entries: Mapping[Field, Sequence[Counter[str]]]
    facts: TableFacts


@dataclass(slots=True)
class Shelf:
    """What is kept of one index; a table is never changed, only exchanged."""

    identity: Identity
    tables: dict[str, Kept] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


FieldHits = Mapping[Field, Sequence[tuple[TableHit, int]]]
"""The entries that score in each field, and their numbers in their tables."""

Answer = tuple[Sequence[Hit], Sequence[Hit], FieldHits]
"""Hits by words, by meaning, and by the evidence of tables, in no order."""


class StubIndex:
    """Keeps `core.index.base.SearchIndex`."""

    def __init__(self, shelf: Shelf, analyzer: Analyzer = ENGLISH) -> None:
        self._shelf = shelf
        self._analyzer = analyzer

    def replace_tables(self, tables: Mapping[str, TableContents]) -> None:
        fresh = {table_id: self._kept(table_id, contents) for table_id, contents in tables.items()}
        with self._shelf.lock:
            self._shelf.tables.update(fresh)

    def set_facts(self, facts: Mapping[str, TableFacts]) -> None:
        checked = {table_id: check_facts(table_id, one) for table_id, one in facts.items()}
        with self._shelf.lock:
            known = self._shelf.tables
            known.update({i: replace(known[i], facts=checked[i]) for i in checked if i in known})

    def facts(self, table_ids: Sequence[str]) -> dict[str, TableFacts]:
        return {table_id: contents.facts for table_id, contents in self.contents(table_ids)}

    def delete_tables(self, table_ids: Sequence[str]) -> None:
        with self._shelf.lock:
            for table_id in table_ids:
                self._shelf.tables.pop(table_id, None)

    def search(
        self, queries: Sequence[IndexQuery], limit: int, where: IndexFilter = NO_FILTER
    ) -> list[SideHits]:
        check_limit(limit)
        check_filter(where)
        tables = self._seen(where.readers)
        return [
            SideHits(
                _best_blocks(_speaking(lexical, query), limit, where),
                _best_blocks(semantic, limit, where),
                _best_tables(fields, limit, where),
            )
            for query, (lexical, semantic, fields) in zip(
                queries, self._answers(queries, tables), strict=True
            )
        ]

    def scores(
        self,
        queries: Sequence[IndexQuery],
        block_ids: Sequence[Sequence[str]],
        where: IndexFilter = NO_FILTER,
    ) -> list[dict[str, SideScores]]:
        check_filter(where)
        check_lists(queries, block_ids)
        tables = self._seen(where.readers)
        known = {
            block_id
            for kept in tables.values()
            for block_id, (item, _) in kept.blocks.items()
            if _is_let_through(item.block, where)
        }
        found = []
        for (lexical, semantic, _), ids in zip(
            self._answers(queries, tables), block_ids, strict=True
        ):
            sides = [
                {hit.block.block_id: hit.score for hit in side} for side in (lexical, semantic)
            ]
            found.append(
                {i: SideScores(*(side.get(i, 0.0) for side in sides)) for i in ids if i in known}
            )
        return found

    def table_scores(
        self,
        queries: Sequence[IndexQuery],
        table_ids: Sequence[Sequence[str]],
        where: IndexFilter = NO_FILTER,
    ) -> list[dict[str, TableScores]]:
        check_filter(where)
        check_lists(queries, table_ids)
        tables = self._seen(where.readers)
        return [
            {
                table_id: _with_row_of(
                    tables[table_id], _scores_of(answer, query, replace(where, tables=(table_id,)))
                )
                for table_id in let_through(where, ids)
                if table_id in tables
            }
            for query, answer, ids in zip(
                queries, self._answers(queries, tables), table_ids, strict=True
            )
        ]

    def holding(
        self, values: Sequence[str], where: IndexFilter = NO_FILTER
    ) -> dict[str, tuple[str, ...]]:
        check_filter(where)
        asked = cells_asked(values, where)
        tables = self._seen(where.readers)
        cells = {i: kept.entries.get(Field.CELLS, ()) for i, kept in tables.items()}
        return {
            value: tuple(
                table_id
                for table_id in let_through(where, tables)
                if any(term in entry for entry in cells[table_id])
            )
            for value, term in asked.items()
        }

    def evidence(self, table_ids: Sequence[str]) -> dict[str, TableTerms]:
        return {table_id: contents.evidence for table_id, contents in self.contents(table_ids)}

    def list_tables(self, readers: Sequence[str] | None = None) -> dict[str, int]:
        return {table_id: len(kept.blocks) for table_id, kept in self._seen(readers).items()}

    def kinds(self, readers: Sequence[str] | None = None) -> frozenset[DocumentKind]:
        kept = self._seen(readers).values()
        return frozenset(item.block.kind for one in kept for item, _ in one.blocks.values())

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

    def _tables(self) -> dict[str, Kept]:
        with self._shelf.lock:
            return dict(sorted(self._shelf.tables.items()))

    def _seen(self, readers: Sequence[str] | None) -> dict[str, Kept]:
        """Return the tables that are there for who asks."""
        tables = self._tables().items()
        return {table_id: kept for table_id, kept in tables if is_seen(kept.facts, readers)}

    def _kept(self, table_id: str, contents: TableContents) -> Kept:
        checked = check_blocks(table_id, contents.blocks, self._shelf.identity.dimension)
        blocks = {
            block_id: (item, Counter(self._analyzer.terms(item.block.text)))
            for block_id, item in checked.items()
        }
        entries: dict[Field, list[Counter[str]]] = {}
        for entry in field_entries(check_evidence(table_id, contents.evidence), self._analyzer):
            entries.setdefault(entry.field, []).append(Counter(entry.terms))
        return Kept(blocks, contents.evidence, entries, check_facts(table_id, contents.facts))

    def _answers(
        self, queries: Sequence[IndexQuery], tables: Mapping[str, Kept]
    ) -> Iterator[Answer]:
        """Yield what is found for each question in all that there is, whatever its score."""
        vectors = check_questions(queries, self._shelf.identity.dimension)
        kept = [entry for one in tables.values() for entry in one.blocks.values()]
        items, counts = [item for item, _ in kept], [terms for _, terms in kept]
        for query, vector in zip(queries, vectors, strict=True):
            terms = [] if query.text is None else self._analyzer.question_terms(query.text)
            asked = {} if query.evidence is None else query_terms(query.evidence, self._analyzer)
            scored = zip(items, bm25(counts, terms).tolist(), strict=True)
            lexical = [Hit(item.block, score) for item, score in scored if score > 0]
            semantic = [
                Hit(item.block, float(np.dot(item.vector, vector)))
                for item in items
                if vector is not None
            ]
            fields = {one: entries_found(tables, one, words) for one, words in asked.items()}
            yield lexical, semantic, fields


def entries_found(
    tables: Mapping[str, Kept], name: Field, terms: Sequence[str]
) -> list[tuple[TableHit, int]]:
    """Return a field's entries that have any of the terms, and their numbers in their tables."""
    owners = [(t, n) for t, kept in tables.items() for n in range(len(kept.entries.get(name, ())))]
    entries = [entry for kept in tables.values() for entry in kept.entries.get(name, ())]
    scores = bm25(entries, terms, 0.0 if name in PRESENCE else K1).tolist()
    return [
        (TableHit(table_id, score), number)
        for (table_id, number), score in zip(owners, scores, strict=True)
        if score > 0
    ]


def bm25(counts: Sequence[Counter[str]], terms: Sequence[str], k1: float = K1) -> Vector:
    """Return the BM25 of every entry, shape (entries,); see `embedded.bm25`."""
    exact = [one.total() for one in counts]
    living = np.count_nonzero(exact)
    mean = sum(exact) / living if living else 1.0
    lengths = np.array([rounded_length(length) for length in exact], np.float64)
    saturation = k1 * (1 - B + B * lengths / mean)
    scores = np.zeros(len(counts))
    for term, repeated in Counter(terms).items():
        frequency = np.array([one[term] for one in counts], np.float64)
        found = np.flatnonzero(frequency)
        frequency = frequency[found]
        rarity = log1p((living - len(found) + 0.5) / (len(found) + 0.5))
        scores[found] += repeated * rarity * frequency / (frequency + saturation[found])
    return scores.astype(np.float32)


def _speaking(hits: Sequence[Hit], query: IndexQuery) -> list[Hit]:
    return [hit for hit in hits if hit.block.kind not in query.silent]


def _best_blocks(hits: Sequence[Hit], limit: int, where: IndexFilter) -> list[Hit]:
    passing = [hit for hit in hits if _is_let_through(hit.block, where)]
    return sorted(passing, key=lambda hit: (-hit.score, hit.block.block_id))[:limit]


def _best_tables(
    found: FieldHits, limit: int, where: IndexFilter
) -> dict[Field, Sequence[TableHit]]:
    best = {}
    for name in fields_of(where) & found.keys():
        tables: dict[str, float] = {}
        for hit, _ in found[name]:
            if _passes(hit.table_id, where):
                tables[hit.table_id] = max(hit.score, tables.get(hit.table_id, 0.0))
        hits = [TableHit(table_id, score) for table_id, score in tables.items()]
        best[name] = sorted(hits, key=lambda hit: (-hit.score, hit.table_id))[:limit]
    return {name: hits for name, hits in best.items() if hits}


def _scores_of(answer: Answer, query: IndexQuery, where: IndexFilter) -> TableScores:
    """Return the scores of the one table that the filter lets through."""
    lexical, semantic, fields = answer
    best = {name: hits[0].score for name, hits in _best_tables(fields, 1, where).items()}
    rows = [
        number
        for hit, number in fields.get(Field.ROWS, ())
        if hit.table_id in where.tables and hit.score == best.get(Field.ROWS)
    ]
    return TableScores(
        lexical=next(iter(_best_blocks(_speaking(lexical, query), 1, where)), None),
        semantic=next(iter(_best_blocks(semantic, 1, where)), None),
        fields=best,
        row=min(rows, default=None),
    )


def _with_row_of(kept: Kept, scores: TableScores) -> TableScores:
    """Return the scores without a row where the table has none."""
    return scores if kept.evidence.rows else replace(scores, row=None)


def contents_of(kept: Kept) -> TableContents:
    """Return one table's contents as they were given."""
    blocks = [item for item, _ in kept.blocks.values()]
    return TableContents(blocks, kept.evidence, kept.facts)


def info_of(shelf: Shelf) -> IndexInfo:
    blocks = [item for kept in shelf.tables.values() for item, _ in kept.blocks.values()]
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


def _is_let_through(block: Block, where: IndexFilter) -> bool:
    return _passes(block.table_id, where) and (not where.kinds or block.kind in where.kinds)


def _passes(table_id: str, where: IndexFilter) -> bool:
    return (not where.tables or table_id in where.tables) and (
        not where.sources or source_of(table_id) in where.sources
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
        for table_id, kept in SHELVES[_key(place)].tables.items():
            index.replace_tables({table_id: contents_of(kept)})
        SHELVES[_key(place)] = fresh

    def inspect(self, place: IndexPlace[StubSection]) -> IndexInfo | None:
        return info_of(SHELVES[_key(place)]) if self.exists(place) else None

    def begin_rebuild(self, place: IndexPlace[StubSection], wanted: Identity) -> None:
        SHELVES[_key(place)] = Shelf(wanted)

    def publish(self, place: IndexPlace[StubSection], built: Identity, tables: int) -> bool:
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
