"""Answering from one state of the embedded index: memory for scores, the file for texts."""

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pneuma_assets.core.index.base import Hit, IndexFilter, SideScores
from pneuma_assets.core.index.embedded.evidence_view import EvidenceView
from pneuma_assets.core.index.embedded.ranking import best, cosines
from pneuma_assets.core.index.embedded.recent import key_of
from pneuma_assets.core.index.embedded.snapshot import Snapshot
from pneuma_assets.core.index.embedded.sqlite_file import from_blob, select_in, to_blob, to_kind
from pneuma_assets.core.index.embedded.sums import damaged, reading_rows, table_key
from pneuma_assets.core.index.embedded.tables import tables_by_key
from pneuma_assets.core.tables import Block, DocumentKind, Vector, source_of

Mask = npt.NDArray[np.bool_]
Ranking = list[tuple[int, float]]
"""Rows and their scores, best first."""

_NARROW = 0.25  # below this share of the rows, copying their vectors beats scoring all


@dataclass(frozen=True, slots=True)
class View:
    """A connection inside a read transaction, and the snapshot of exactly what it sees."""

    connection: sqlite3.Connection
    snapshot: Snapshot

    @property
    def evidence(self) -> EvidenceView:
        """What the tables' evidence answers."""
        return EvidenceView(self.snapshot.evidence, self.snapshot.recent)

    def eligible(self, where: IndexFilter) -> Mask:
        """Return which rows the filter lets through, shape (rows,)."""
        mask = self.snapshot.alive
        if where.tables:
            keys = [table_key(to_blob(table_id)) for table_id in where.tables]
            mask = mask & np.isin(self.snapshot.records["table_key"], keys)
        if where.sources:
            mask = mask & self._of_sources(set(where.sources))
        if where.kinds:
            mask = mask & self._of_kinds(where.kinds)
        return mask

    def of_others(self, kinds: Sequence[DocumentKind]) -> Mask:
        """Return which rows are of other kinds than these, shape (rows,)."""
        return ~self._of_kinds(kinds)

    def _of_kinds(self, kinds: Sequence[DocumentKind]) -> Mask:
        known = self.snapshot.kinds
        numbers = [known[kind] for kind in map(to_blob, kinds) if kind in known]
        return np.isin(self.snapshot.records["kind"], numbers)

    def kinds(self) -> frozenset[DocumentKind]:
        """Return the kinds of all living rows."""
        names = list(self.snapshot.kinds)  # a kind's number is its place; later ones may follow
        numbers = np.unique(self.snapshot.records["kind"][self.snapshot.alive])
        return frozenset(to_kind(from_blob(names[number])) for number in numbers)

    def rank_lexical(self, terms: Sequence[str], eligible: Mask, limit: int) -> Ranking:
        """Return the best rows of one question's terms."""
        if not terms:
            return []
        scores = self.lexical(terms)
        return self._best(scores, eligible & (scores > 0), limit)

    def rank_semantic(self, queries: Vector, eligible: Mask, limit: int) -> list[Ranking]:
        """Return the best rows of each question's vector, shape (questions, dimension)."""
        scores = np.zeros((len(queries), len(eligible)), np.float32)
        if np.count_nonzero(eligible) < _NARROW * len(eligible):
            rows = np.flatnonzero(eligible)
            scores[:, rows] = cosines(self.snapshot.vectors[rows], queries)
        else:
            scores = cosines(self.snapshot.vectors, queries)
        return [self._best(one, eligible, limit) for one in scores]

    def scores(
        self,
        terms: Sequence[str],
        vector: Vector | None,
        block_ids: Sequence[str],
        eligible: Mask,
    ) -> dict[str, SideScores]:
        """Return one question's true scores of those blocks that exist and are let through."""
        found = self._rows_of(block_ids)
        rows = {block_id: row for block_id, row in found.items() if eligible[row]}
        places = np.fromiter(rows.values(), np.intp, len(rows))
        lexical = np.zeros(len(places), np.float32)
        semantic = np.zeros(len(places), np.float32)
        if terms and len(places):
            lexical = self.lexical(terms)[places]
        if vector is not None:
            semantic = cosines(self.snapshot.vectors[places], vector[None, :])[0]
        return {
            block_id: SideScores(float(lexical[i]), float(semantic[i]))
            for i, block_id in enumerate(rows)
        }

    def lexical(self, terms: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return every row's BM25 in float32, as Lucene: the order of the sums breaks no tie."""
        (scores,) = self.snapshot.recent.get(
            key_of("", terms), lambda: (self.snapshot.bm25.score(terms).astype(np.float32),)
        )
        return scores

    def to_hits(self, rankings: Iterable[Ranking]) -> list[list[Hit]]:
        """Return the rankings with their blocks, whose texts are read from the file."""
        rankings = list(rankings)
        rows = sorted({row for ranking in rankings for row, _ in ranking})
        blocks = dict(zip(rows, self._blocks(rows), strict=True))
        return [[Hit(blocks[row], score) for row, score in ranking] for ranking in rankings]

    def _rows_of(self, block_ids: Sequence[str]) -> dict[str, int]:
        """Return the rows of those blocks that exist."""
        found = select_in(
            self.connection,
            "SELECT seq FROM blocks WHERE block_id IN ({values})",
            [to_blob(block_id) for block_id in block_ids],
        )
        with reading_rows("its list of block ids"):
            rows = self.snapshot.rows_of(sorted(seq for (seq,) in found))
        rows = rows[self.snapshot.alive[rows]]
        ids = self.snapshot.records["block_id"]
        by_id = {from_blob(bytes(ids[row])): int(row) for row in rows}
        missing = [block_id for block_id in block_ids if block_id not in by_id]
        if missing and np.any(np.isin(ids[self.snapshot.alive], list(map(to_blob, missing)))):
            raise damaged("its list of block ids is not complete")
        wanted = set(block_ids)
        return {block_id: row for block_id, row in by_id.items() if block_id in wanted}

    def _blocks(self, rows: Sequence[int]) -> list[Block]:
        """Return the blocks of rows, those that were read a moment ago from memory."""
        seqs = self.snapshot.records["seq"][list(rows)].tolist()
        return self.snapshot.texts.many(seqs, lambda new: self._read([rows[at] for at in new]))

    def _read(self, rows: Sequence[int]) -> list[Block]:
        """Return the blocks of rows, each checked by its id, which is a hash of its parts."""
        records = self.snapshot.records[list(rows)]
        keys, seqs = records["table_key"].tolist(), records["seq"].tolist()
        texts = select_in(
            self.connection, "SELECT seq, text FROM blocks WHERE seq IN ({values})", seqs
        )
        table_ids = self._table_ids(keys)
        kinds = [to_kind(from_blob(kind)) for kind in self.snapshot.kinds]
        with reading_rows("a text"):
            stored: dict[int, bytes] = dict(texts)
            blocks = [
                Block(table_ids[key], kinds[kind], from_blob(stored[seq]))
                for key, kind, seq in zip(keys, records["kind"].tolist(), seqs, strict=True)
            ]
        if [to_blob(block.block_id) for block in blocks] != records["block_id"].tolist():
            raise damaged("a text is not as it was written")
        return blocks

    def _table_ids(self, keys: Sequence[int]) -> Mapping[int, str]:
        """Return the ids of at least these tables, by their keys."""
        known = self.snapshot.table_ids
        new = tables_by_key(self.connection, list({key for key in keys if key not in known}))
        known.update((key, from_blob(table.table_id)) for key, table in new.items())
        return known

    def _of_sources(self, wanted: Collection[str]) -> Mask:
        """Return which of the living rows belong to these sources, shape (rows,)."""
        keys = self.snapshot.table_keys.tolist()
        ids = self._table_ids(keys)
        tables = np.fromiter((source_of(ids[key]) in wanted for key in keys), np.bool_, len(keys))
        mask: Mask = tables[self.snapshot.table_places] if keys else self.snapshot.alive
        return mask

    def _best(self, scores: npt.NDArray[np.floating[Any]], eligible: Mask, limit: int) -> Ranking:
        rows = best(scores, eligible, self.snapshot.records["block_id"], limit)
        return [(int(row), float(scores[row])) for row in rows]
