"""Answering from one state of the embedded index: memory for scores, the file for texts."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pneuma_assets.core.index.base import Hit, IndexFilter, SideScores, TableHit, TableScores
from pneuma_assets.core.index.cache import key_of
from pneuma_assets.core.index.embedded.bm25 import term_key
from pneuma_assets.core.index.embedded.file import damaged, reading_rows
from pneuma_assets.core.index.embedded.rows import from_blob, table_key, to_blob, to_kind
from pneuma_assets.core.index.embedded.snapshot import Arrays, Snapshot
from pneuma_assets.core.tables import Block, DocumentKind, Vector
from pneuma_assets.core.terms.fields import Field

Mask = npt.NDArray[np.bool_]
Scores = npt.NDArray[np.float32]
Ranking = list[tuple[int, float]]
"""Blocks and their scores, best first."""

_NARROW = 0.25  # below this share of the blocks, copying their vectors beats scoring all
_BLOCKS_AT_ONCE = 4096  # of 384 dimensions: 6 MB, which a batch of questions reads from the cache


@dataclass(frozen=True, slots=True)
class Question:
    """What one question looks up on each side; nothing on a side that it leaves out."""

    terms: Sequence[str]
    vector: Vector | None
    fields: Mapping[Field, Sequence[str]]
    silent: Sequence[DocumentKind] = ()


@dataclass(frozen=True)
class View:
    """A connection in a read transaction, the snapshot of exactly what it sees, and a filter."""

    connection: sqlite3.Connection
    snapshot: Snapshot
    where: IndexFilter

    @cached_property
    def tables(self) -> Mask:
        """Which tables the filter's tables and sources let through."""
        mask = self.snapshot.alive
        if self.where.tables:
            keys = [table_key(table_id) for table_id in self.where.tables]
            mask = mask & np.isin(self.snapshot.tables["key"], keys)
        if self.where.sources:
            wanted, sources = set(self.where.sources), self.snapshot.sources
            mask = mask & np.fromiter((one in wanted for one in sources), np.bool_, len(sources))
        return mask

    @cached_property
    def blocks(self) -> Mask:
        """Which blocks the filter lets through."""
        if self.tables is self.snapshot.alive:
            mask = self.snapshot.alive_blocks
        else:
            mask = self.tables[self.snapshot.blocks["table"]]
        return mask & self._of_kinds(self.where.kinds) if self.where.kinds else mask

    def kinds(self) -> frozenset[DocumentKind]:
        """Return the kinds of all living blocks."""
        names = list(self.snapshot.kinds)  # a kind's number is its place; later ones may follow
        numbers = np.unique(self.snapshot.blocks["kind"][self.snapshot.alive_blocks])
        return frozenset(to_kind(names[number]) for number in numbers)

    def best_by_words(self, question: Question, limit: int) -> Ranking:
        """Return the best blocks of one question's terms."""
        if not question.terms:
            return []
        scores = self._bm25(question.terms)
        eligible = self.blocks & (scores > 0)
        return self._best(scores, eligible & ~self._of_kinds(question.silent), limit)

    def best_by_meaning(self, queries: Vector, limit: int) -> list[Ranking]:
        """Return the best blocks of each question's vector, shape (questions, dimension)."""
        eligible = self.blocks
        scores = np.zeros((len(queries), len(eligible)), np.float32)
        if np.count_nonzero(eligible) < _NARROW * len(eligible):
            places = np.flatnonzero(eligible)
            scores[:, places] = cosines(self.snapshot.vectors[places], queries)
        else:
            scores = cosines(self.snapshot.vectors, queries)
        return [self._best(one, eligible, limit) for one in scores]

    def best_tables(
        self, fields: Mapping[Field, Sequence[str]], limit: int
    ) -> dict[Field, list[TableHit]]:
        """Return the best tables of each field in which any has a term of the question."""
        ranked = {}
        for name, terms in fields.items():
            scores = self._field_scores(name, terms)[0]
            places = _candidates(scores, np.flatnonzero(self.tables & (scores > 0)), limit)
            ids = self.snapshot.table_ids
            hits = [TableHit(ids[place], float(scores[place])) for place in places.tolist()]
            ranked[name] = sorted(hits, key=lambda hit: (-hit.score, hit.table_id))[:limit]
        return {name: hits for name, hits in ranked.items() if hits}

    def holding(self, terms: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the tables that have each of these terms as a whole cell, by table id.

        Postings alone are read, whatever their number of tables; nothing is scored.
        """
        entries = self.snapshot.entries[Field.CELLS]
        keys = np.fromiter(map(term_key, terms), np.uint64, len(terms))
        found: dict[str, list[str]] = {term: [] for term in terms}
        for part in entries.postings:
            for place, (rows, _) in part.find(keys).items():
                owners = entries.owners[rows]
                ids = map(self.snapshot.table_ids.__getitem__, owners[self.tables[owners]].tolist())
                found[terms[place]].extend(ids)
        return {term: tuple(sorted(ids)) for term, ids in found.items()}

    def scores(self, question: Question, block_ids: Sequence[str]) -> dict[str, SideScores]:
        """Return one question's true scores of those blocks that exist and are let through."""
        found = {i: place for i, place in self._places_of(block_ids).items() if self.blocks[place]}
        places = np.fromiter(found.values(), np.intp, len(found))
        lexical = semantic = np.zeros(len(places), np.float32)
        if question.terms and len(places):
            lexical = self._bm25(question.terms)[places]
        if question.vector is not None:
            semantic = cosines(self.snapshot.vectors[places], question.vector[None, :])[0]
        return {
            block_id: SideScores(float(lexical[at]), float(semantic[at]))
            for at, block_id in enumerate(found)
        }

    def table_scores(self, question: Question, table_ids: Sequence[str]) -> dict[str, TableScores]:
        """Return one question's true scores of those tables that exist and are let through."""
        by_key = self.snapshot.by_key
        places = {i: by_key.get(table_key(i), -1) for i in table_ids}
        known = {i: place for i, place in places.items() if place >= 0 and self.tables[place]}
        tables = np.fromiter(known.values(), np.int32, len(known))
        lexical, semantic = self._hits(self._best_blocks(question, tables))
        fields: dict[int, dict[Field, float]] = {place: {} for place in known.values()}
        rows: dict[int, int] = {}
        for name, terms in question.fields.items():
            scores, entries = self._field_scores(name, terms)
            found = tables[scores[tables] > 0]
            for place in found.tolist():
                fields[place][name] = float(scores[place])
            if name is Field.ROWS:
                found = found[self.snapshot.tables["rows"][found] > 0]
                rows = dict(zip(found.tolist(), self._best_rows(entries, found), strict=True))
        return {
            i: TableScores(lexical.get(at), semantic.get(at), fields[at], rows.get(at))
            for i, at in known.items()
        }

    def to_hits(self, rankings: Iterable[Ranking]) -> list[list[Hit]]:
        """Return the rankings with their blocks, whose texts are read from the file."""
        rankings = list(rankings)
        places = sorted({place for ranking in rankings for place, _ in ranking})
        records = self.snapshot.blocks[places]
        seqs = self.snapshot.tables["seq"][records["table"]].tolist()
        names = list(zip(seqs, records["block_id"].tolist(), strict=True))
        found = self.snapshot.texts.many(
            names, lambda new: self._read([seqs[at] for at in new], records[list(new)])
        )
        blocks = dict(zip(places, found, strict=True))
        return [[Hit(blocks[place], score) for place, score in ranking] for ranking in rankings]

    def _read(self, seqs: Sequence[int], records: npt.NDArray[np.void]) -> list[Block]:
        """Return blocks, each checked by its id, which is a hash of its parts."""
        kinds = [to_kind(kind) for kind in self.snapshot.kinds]
        parts = ("table", "kind", "start", "size")
        found = []
        for seq, (table, kind, start, size) in zip(
            seqs, records[list(parts)].tolist(), strict=True
        ):
            with reading_rows("a text"):
                ((text,),) = self.connection.execute(
                    "SELECT coalesce(substr(texts, ?, ?), x'') FROM contents WHERE seq = ?",
                    (start + 1, size, seq),
                )
                found.append(Block(self.snapshot.table_ids[table], kinds[kind], from_blob(text)))
        if [to_blob(block.block_id) for block in found] != records["block_id"].tolist():
            raise damaged("a text is not as it was written")
        return found

    def _of_kinds(self, kinds: Sequence[DocumentKind]) -> Mask:
        known = self.snapshot.kinds
        numbers = [known[kind] for kind in map(to_blob, kinds) if kind in known]
        return np.isin(self.snapshot.blocks["kind"], numbers)

    def _bm25(self, terms: Sequence[str]) -> Scores:
        """Return every block's BM25 in float32, as Lucene: the order of the sums breaks no tie."""
        (scores,) = self.snapshot.recent.get(
            key_of("", terms), lambda: (self.snapshot.bm25.score(terms).astype(np.float32),)
        )
        return scores

    def _field_scores(self, name: Field, terms: Sequence[str]) -> Arrays:
        """Return each table's BM25 in a field, shape (tables,), and each entry's, (entries,)."""

        def computed() -> Arrays:
            entries = self.snapshot.fields[name].score(terms).astype(np.float32)
            tables = np.zeros(len(self.snapshot.alive), np.float32)
            starts = self.snapshot.first_entries[name]
            if len(starts):
                owners = self.snapshot.entries[name].owners[starts]
                tables[owners] = np.maximum.reduceat(entries, starts)
            return tables, entries

        return self.snapshot.recent.get(key_of(name, terms), computed)

    def _best_rows(self, scores: Scores, tables: npt.NDArray[np.int32]) -> list[int]:
        """Return the number of each table's best row, the first of equals."""
        owners = self.snapshot.entries[Field.ROWS].owners
        starts, stops = (np.searchsorted(owners, tables, side) for side in ("left", "right"))
        spans = zip(starts.tolist(), stops.tolist(), strict=True)
        return [int(scores[start:stop].argmax()) for start, stop in spans]

    def _best_blocks(self, question: Question, tables: npt.NDArray[np.int32]) -> list[Ranking]:
        """Return the best block of each of these tables, by words and by meaning."""
        wanted = np.zeros(len(self.snapshot.alive), bool)
        wanted[tables] = True
        places = np.flatnonzero(self.blocks & wanted[self.snapshot.blocks["table"]])
        found: list[Ranking] = [[], []]
        if question.terms and len(places):
            scores = self._bm25(question.terms)[places]
            some = (scores > 0) & ~self._of_kinds(question.silent)[places]
            found[0] = self._first(places[some], scores[some])
        if question.vector is not None and len(places):
            vectors = self.snapshot.vectors[places]
            found[1] = self._first(places, cosines(vectors, question.vector[None, :])[0])
        return found

    def _first(self, places: npt.NDArray[np.intp], scores: Scores) -> Ranking:
        """Return each table's best block, equal scores by block id."""
        blocks = self.snapshot.blocks[places]
        order = np.lexsort((blocks["block_id"], -scores, blocks["table"]))
        best = order[np.unique(blocks["table"][order], return_index=True)[1]]
        return list(zip(places[best].tolist(), scores[best].tolist(), strict=True))

    def _hits(self, rankings: Sequence[Ranking]) -> list[dict[int, Hit]]:
        """Return the hits of each ranking by the place of their table."""
        tables = self.snapshot.blocks["table"]
        return [
            {int(tables[place]): hit for (place, _), hit in zip(ranking, hits, strict=True)}
            for ranking, hits in zip(rankings, self.to_hits(rankings), strict=True)
        ]

    def _places_of(self, block_ids: Sequence[str]) -> dict[str, int]:
        """Return the places of those living blocks that exist."""
        ordered = self.snapshot.by_block_id
        known = self.snapshot.blocks["block_id"][ordered]
        wanted = np.array([to_blob(one)[:33] for one in block_ids], "S33")
        at = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
        if not len(known):
            return {}
        there = known[at] == wanted
        found = zip(block_ids, ordered[at].tolist(), there.tolist(), strict=True)
        return {block_id: place for block_id, place, exists in found if exists}

    def _best(self, scores: npt.NDArray[np.floating[Any]], eligible: Mask, limit: int) -> Ranking:
        """Return up to `limit` eligible blocks, best score first, equal scores by block id."""
        places = _candidates(scores, np.flatnonzero(eligible), limit)
        ids = self.snapshot.blocks["block_id"][places]
        order = np.lexsort((ids, -scores[places]))[:limit]
        return [(int(place), float(scores[place])) for place in places[order]]


def cosines(vectors: Vector, queries: Vector) -> Vector:
    """Return the cosine of every question and block, shape (queries, blocks).

    Both hold unit vectors, shapes (blocks, dimension) and (queries, dimension). Each score is one
    dot product on its own (`vecdot`), so it does not depend on the block's place or on the other
    questions: equal blocks tie exactly, and a block's score is the same however it is asked for.
    A matrix product promises neither, and where other work keeps the cores busy its threads wait
    for each other: 12 ms against 1.5 ms for 30,000 blocks.
    """
    scores = np.empty((len(queries), len(vectors)), np.float32)
    for start in range(0, len(vectors), _BLOCKS_AT_ONCE):
        some = slice(start, start + _BLOCKS_AT_ONCE)
        np.vecdot(queries[:, None, :], vectors[None, some, :], out=scores[:, some])
    return scores


def _candidates(
    scores: npt.NDArray[np.floating[Any]], places: npt.NDArray[np.intp], limit: int
) -> npt.NDArray[np.intp]:
    """Return those of these places that may be among the `limit` best, ties included."""
    if len(places) <= limit:
        return places
    candidates = scores[places]
    threshold = np.partition(candidates, len(places) - limit)[len(places) - limit]
    found: npt.NDArray[np.intp] = places[candidates >= threshold]
    return found
