"""Answering from one state of the embedded index: memory for scores, the file for texts."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from pneuma_assets.core.index.base import (
    MOST_HOLDERS,
    REACHED,
    Hit,
    IndexFilter,
    Question,
    SideHits,
    SideScores,
    TableHit,
    TableScores,
)
from pneuma_assets.core.index.cache import key_of
from pneuma_assets.core.index.embedded.bm25 import term_key
from pneuma_assets.core.index.embedded.file import damaged, reading_rows
from pneuma_assets.core.index.embedded.rows import from_blob, table_key, to_blob, to_kind
from pneuma_assets.core.index.embedded.snapshot import Arrays, Snapshot
from pneuma_assets.core.tables import Block, DocumentKind, Vector
from pneuma_assets.core.terms.fields import Field

Mask = npt.NDArray[np.bool_]
Scores = npt.NDArray[np.float32]
Places = npt.NDArray[np.intp]
"""Where blocks, or tables, stand in the snapshot; scores that go with them have the same shape."""
Ranking = list[tuple[int, float]]
"""Blocks' places and their scores, best first."""

_NARROW = 0.25  # below this share of the blocks, copying their vectors beats scoring all
_BLOCKS_AT_ONCE = 4096  # of 384 dimensions: 6 MB, which a batch of questions reads from the cache


@dataclass(frozen=True)
class View:
    """A connection in a read transaction, the snapshot of exactly what it sees, and a filter.

    It is the engine's `Searcher`. Scores of whole questions are remembered with the snapshot, since
    a question is asked twice: for what it proposes, then for the scores of what others proposed.
    """

    connection: sqlite3.Connection
    snapshot: Snapshot
    where: IndexFilter

    def search(self, questions: Sequence[Question], limit: int) -> list[SideHits]:
        """Return the `limit` best blocks a side and tables a field."""
        lexical = [self._best_by_words(one, limit) for one in questions]
        eligible = np.flatnonzero(self._blocks)
        asked = [one.vector for one in questions if one.vector is not None]
        semantic = [
            self._best(eligible, scores, limit) for scores in self._cosines(asked, eligible)
        ]
        hits = self._to_hits([*lexical, *semantic])
        nearest = iter(hits[len(questions) :])
        return [
            SideHits(
                words,
                [] if one.vector is None else next(nearest),
                self._best_tables(one.fields, limit),
                self._holders(one),
                self._reach(one),
            )
            for one, words in zip(questions, hits, strict=False)
        ]

    def scores(
        self, questions: Sequence[Question], block_ids: Sequence[Sequence[str]]
    ) -> list[dict[str, SideScores]]:
        """Return the true scores of each question's blocks."""
        return [self._scores(one, ids) for one, ids in zip(questions, block_ids, strict=True)]

    def table_scores(
        self, questions: Sequence[Question], table_ids: Sequence[Sequence[str]]
    ) -> list[dict[str, TableScores]]:
        """Return the true scores of each question's tables."""
        return [self._table_scores(one, ids) for one, ids in zip(questions, table_ids, strict=True)]

    def holding(self, terms: Sequence[str]) -> dict[str, list[str]]:
        """Return the tables that have each of these terms as a whole cell.

        Postings alone are read, whatever their number of tables; nothing is scored.
        """
        found: dict[str, list[str]] = {term: [] for term in terms}
        for place, tables in self._tables_with(Field.CELLS, terms):
            found[terms[place]].extend(map(self.snapshot.table_ids.__getitem__, tables.tolist()))
        return found

    def members(self, families: Sequence[str]) -> dict[str, list[str]]:
        """Return the tables of each of these families."""
        ids, known = self.snapshot.table_ids, self.snapshot.families
        return {
            family: [ids[place] for place in known.get(family, ()) if self._tables[place]]
            for family in families
        }

    def _holders(self, question: Question) -> dict[str, list[str]]:
        """Return of each word sought that at most `MOST_HOLDERS` tables hold all of these."""
        asked: dict[Field | None, list[tuple[str, str]]] = {}
        for word, places in question.sought.items():
            for field, term in places:
                asked.setdefault(field, []).append((word, term))
        found: dict[str, set[int]] = {word: set() for word in question.sought}
        for field, pairs in asked.items():
            terms = [term for _, term in pairs]
            for place, tables in self._tables_with(field, terms, question.silent):
                found[pairs[place][0]].update(np.unique(tables)[: MOST_HOLDERS + 1].tolist())
        ids = self.snapshot.table_ids
        return {
            word: sorted(ids[table] for table in tables)
            for word, tables in found.items()
            if 0 < len(tables) <= MOST_HOLDERS
        }

    def _reach(self, question: Question) -> dict[Field | None, float]:
        words, snapshot = question.words, self.snapshot
        return {
            field: (snapshot.bm25 if field is None else snapshot.fields[field]).reach(words)
            for field in REACHED
        }

    def _tables_with(
        self, field: Field | None, terms: Sequence[str], silent: Sequence[DocumentKind] = ()
    ) -> Iterator[tuple[int, npt.NDArray[np.int32]]]:
        """Yield the places of those terms that occur in a field, or in blocks, and their tables.

        Several terms that are joined by spaces occur in one entry, or in one block not `silent`.
        """
        postings, owners = self.snapshot.postings, self.snapshot.blocks["table"]
        if field is not None:
            postings, owners = (one := self.snapshot.entries[field]).postings, one.owners
        asked = [one for some in terms for one in some.split(" ")]
        keys = np.fromiter(map(term_key, asked), np.uint64, len(asked))
        for part in postings:
            found, last = part.find(keys), 0
            for place, some in enumerate(terms):
                first, last = last, last + 1 + some.count(" ")
                if not all(map(found.__contains__, range(first, last))):
                    continue
                rows = reduce(np.intersect1d, (found[number][0] for number in range(first, last)))
                if field is None:
                    rows = rows[self._blocks[rows]]
                    rows = rows[~self._of_kinds(silent)[rows]] if last > first + 1 else rows
                tables = owners[rows]
                yield place, tables[self._tables[tables]]

    def kinds(self) -> frozenset[DocumentKind]:
        """Return the kinds of all living blocks."""
        names = list(self.snapshot.kinds)  # a kind's number is its place; later ones may follow
        numbers = np.unique(self.snapshot.blocks["kind"][self.snapshot.alive_blocks])
        return frozenset(to_kind(names[number]) for number in numbers)

    @cached_property
    def _tables(self) -> Mask:
        """Which tables the filter's tables and sources let through."""
        mask = self.snapshot.alive
        if self.where.tables:
            keys = [table_key(table_id) for table_id in self.where.tables]
            mask = mask & np.isin(self.snapshot.tables["key"], keys)
        if self.where.sources:
            wanted, sources = set(self.where.sources), self.snapshot.sources
            mask = mask & np.fromiter((one in wanted for one in sources), np.bool_, len(sources))
        if self.where.but_families:
            mask = mask.copy()
            for family in self.where.but_families:
                mask[list(self.snapshot.families.get(family, ()))] = False
        return mask

    @cached_property
    def _blocks(self) -> Mask:
        """Which blocks the filter lets through."""
        mask = self.snapshot.alive_blocks
        if self._tables is not self.snapshot.alive:
            mask = self._tables[self.snapshot.blocks["table"]]
        return mask & self._of_kinds(self.where.kinds) if self.where.kinds else mask

    def _of_kinds(self, kinds: Sequence[DocumentKind]) -> Mask:
        known = dict(self.snapshot.kinds)  # others may add to it
        wanted = np.zeros(len(known) + 1, np.bool_)
        wanted[[known[kind] for kind in map(to_blob, kinds) if kind in known]] = True
        found: Mask = wanted[self.snapshot.blocks["kind"]]
        return found

    def _bm25(self, question: Question) -> Scores:
        """Return every block's BM25 in float32, as Lucene: the order of the sums breaks no tie.

        Blocks of kinds whose words the question leaves out score 0.
        """

        def computed() -> Arrays:
            scores = self.snapshot.bm25.score(question.terms).astype(np.float32)
            if question.silent:
                scores[self._of_kinds(question.silent)] = 0.0
            return (scores,)

        return self.snapshot.recent.get((key_of("", question.terms), question.silent), computed)[0]

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

    def _cosines(self, queries: Sequence[Vector], places: Places) -> Sequence[Scores]:
        """Return the cosine of each question and of these blocks."""
        vectors, recent = self.snapshot.vectors, self.snapshot.recent
        if len(places) < _NARROW * len(vectors):
            return list(cosines(vectors[places], queries))

        def computed(missing: Sequence[int]) -> list[Arrays]:
            return [(one,) for one in cosines(vectors, [queries[at] for at in missing])]

        found = recent.many([query.tobytes() for query in queries], computed)
        return [scores[places] for (scores,) in found]

    def _best_by_words(self, question: Question, limit: int) -> Ranking:
        if not question.terms:
            return []
        scores = self._bm25(question)
        places = np.flatnonzero(self._blocks & (scores > 0))
        return self._best(places, scores[places], limit)

    def _best(self, places: Places, scores: Scores, limit: int) -> Ranking:
        """Return up to `limit` blocks, best score first, equal scores by block id."""
        kept = _highest(scores, limit)
        places, scores = places[kept], scores[kept]
        order = np.lexsort((self.snapshot.blocks["block_id"][places], -scores))[:limit]
        return list(zip(places[order].tolist(), scores[order].tolist(), strict=True))

    def _best_tables(
        self, fields: Mapping[Field, Sequence[str]], limit: int
    ) -> dict[Field, list[TableHit]]:
        """Return the best tables of each field in which any has a term of the question."""
        ids = self.snapshot.table_ids
        ranked = {}
        for name, terms in fields.items():
            scores = self._field_scores(name, terms)[0]
            places = np.flatnonzero(self._tables & (scores > 0))
            places = places[_highest(scores[places], limit)]
            best = places[np.lexsort((self.snapshot.by_id[places], -scores[places]))[:limit]]
            found = zip(best.tolist(), scores[best].tolist(), strict=True)
            ranked[name] = [TableHit(ids[place], score) for place, score in found]
        return {name: hits for name, hits in ranked.items() if hits}

    def _scores(self, question: Question, block_ids: Sequence[str]) -> dict[str, SideScores]:
        """Return one question's true scores of those blocks that exist and are let through."""
        found = {i: place for i, place in self._places_of(block_ids).items() if self._blocks[place]}
        places = np.fromiter(found.values(), np.intp, len(found))
        lexical = semantic = np.zeros(len(places), np.float32)
        if question.terms:
            lexical = self._bm25(replace(question, silent=()))[places]
        if question.vector is not None:
            (semantic,) = self._cosines([question.vector], places)
        sides = zip(lexical.tolist(), semantic.tolist(), strict=True)
        return {i: SideScores(*both) for i, both in zip(found, sides, strict=True)}

    def _places_of(self, block_ids: Sequence[str]) -> dict[str, int]:
        """Return the places of those living blocks that exist."""
        ordered = self.snapshot.by_block_id
        known = self.snapshot.blocks["block_id"][ordered]
        if not len(known):
            return {}
        wanted = np.array([to_blob(one)[:33] for one in block_ids], "S33")
        at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        found = zip(block_ids, ordered[at].tolist(), (known[at] == wanted).tolist(), strict=True)
        return {block_id: place for block_id, place, exists in found if exists}

    def _table_scores(self, question: Question, table_ids: Sequence[str]) -> dict[str, TableScores]:
        """Return one question's true scores of those tables that exist and are let through."""
        by_key = self.snapshot.by_key
        places = {i: by_key.get(table_key(i), -1) for i in table_ids}
        known = {i: place for i, place in places.items() if place >= 0 and self._tables[place]}
        tables = np.fromiter(known.values(), np.int32, len(known))
        lexical, semantic = self._best_of_tables(question, tables)
        fields: dict[int, dict[Field, float]] = {place: {} for place in known.values()}
        rows: dict[int, int] = {}
        for name, terms in question.fields.items():
            scores, entries = self._field_scores(name, terms)
            found = tables[scores[tables] > 0]
            for place, score in zip(found.tolist(), scores[found].tolist(), strict=True):
                fields[place][name] = score
            if name is Field.ROWS:
                found = found[self.snapshot.tables["rows"][found] > 0]
                rows = dict(zip(found.tolist(), self._best_rows(entries, found), strict=True))
        headers = self._headers(question, tables)
        return {
            i: TableScores(
                lexical.get(at), semantic.get(at), fields[at], rows.get(at), headers.get(at, {})
            )
            for i, at in known.items()
        }

    def _headers(
        self, question: Question, tables: npt.NDArray[np.int32]
    ) -> dict[int, dict[str, float]]:
        """Return the words of a question that each of these tables has in a name, with shares."""
        wanted = np.zeros(len(self.snapshot.alive), bool)
        wanted[tables] = True
        shares = [*question.headers.values()]
        found: dict[int, dict[str, float]] = {}
        for place, having in self._tables_with(Field.HEADERS, [*question.headers]):
            word, share = shares[place]
            for at in having[wanted[having]].tolist():
                found.setdefault(at, {})[word] = share
        return found

    def _best_rows(self, scores: Scores, tables: npt.NDArray[np.int32]) -> list[int]:
        """Return the number of each table's best row, the first of equals."""
        owners = self.snapshot.entries[Field.ROWS].owners
        starts, stops = (np.searchsorted(owners, tables, side) for side in ("left", "right"))
        spans = zip(starts.tolist(), stops.tolist(), strict=True)
        return [int(scores[start:stop].argmax()) for start, stop in spans]

    def _best_of_tables(
        self, question: Question, tables: npt.NDArray[np.int32]
    ) -> list[dict[int, Hit]]:
        """Return the best block of each of these tables by words, and by meaning."""
        wanted = np.zeros(len(self.snapshot.alive), bool)
        wanted[tables] = True
        places = np.flatnonzero(self._blocks & wanted[self.snapshot.blocks["table"]])
        found: list[Ranking] = [[], []]
        if question.terms and len(places):
            scores = self._bm25(question)[places]
            found[0] = self._first(places[scores > 0], scores[scores > 0])
        if question.vector is not None and len(places):
            found[1] = self._first(places, *self._cosines([question.vector], places))
        owners = self.snapshot.blocks["table"]
        return [
            {int(owners[place]): hit for (place, _), hit in zip(ranking, hits, strict=True)}
            for ranking, hits in zip(found, self._to_hits(found), strict=True)
        ]

    def _first(self, places: Places, scores: Scores) -> Ranking:
        """Return each table's best block, equal scores by block id."""
        blocks = self.snapshot.blocks[places]
        order = np.lexsort((blocks["block_id"], -scores, blocks["table"]))
        best = order[np.unique(blocks["table"][order], return_index=True)[1]]
        return list(zip(places[best].tolist(), scores[best].tolist(), strict=True))

    def _to_hits(self, rankings: Sequence[Ranking]) -> list[list[Hit]]:
        """Return the rankings with their blocks, whose texts are read from the file."""
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
        parts = records[["table", "kind", "start", "size"]].tolist()
        found = []
        for seq, (table, kind, start, size) in zip(seqs, parts, strict=True):
            with reading_rows("a text"):
                ((text,),) = self.connection.execute(
                    "SELECT coalesce(substr(texts, ?, ?), x'') FROM contents WHERE seq = ?",
                    (start + 1, size, seq),
                )
                found.append(Block(self.snapshot.table_ids[table], kinds[kind], from_blob(text)))
        if [to_blob(block.block_id) for block in found] != records["block_id"].tolist():
            raise damaged("a text is not as it was written")
        return found


def cosines(vectors: Vector, queries: Sequence[Vector] | Vector) -> Vector:
    """Return the cosine of every question and block, shape (queries, blocks).

    Both hold unit vectors, shapes (blocks, dimension) and (queries, dimension). Each score is one
    dot product on its own (`vecdot`), so it does not depend on the block's place or on the other
    questions: equal blocks tie exactly, and a block's score is the same however it is asked for.
    A matrix product promises neither, and where other work keeps the cores busy its threads wait
    for each other: 12 ms against 1.5 ms for 30,000 blocks.
    """
    scores = np.empty((len(queries), len(vectors)), np.float32)
    if not len(queries):
        return scores
    stacked = np.asarray(queries, np.float32)[:, None, :]
    for start in range(0, len(vectors), _BLOCKS_AT_ONCE):
        some = slice(start, start + _BLOCKS_AT_ONCE)
        np.vecdot(stacked, vectors[None, some, :], out=scores[:, some])
    return scores


def _highest(scores: npt.NDArray[np.floating[Any]], limit: int) -> Places | slice:
    """Return where the scores are that may be among the `limit` best, ties included."""
    if len(scores) <= limit:
        return slice(None)
    threshold = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    found: Places = np.flatnonzero(scores >= threshold)
    return found
