"""Answering from the evidence of one state of the embedded index, in memory alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pneuma_assets.core.index.base import IndexFilter, TableHit
from pneuma_assets.core.index.embedded.bm25 import term_key
from pneuma_assets.core.index.embedded.evidence_snapshot import Arrays, EvidenceSnapshot
from pneuma_assets.core.index.embedded.recent import Recent, key_of
from pneuma_assets.core.index.embedded.sqlite_file import to_blob
from pneuma_assets.core.index.embedded.sums import table_key
from pneuma_assets.core.terms.fields import Field

Asked = Mapping[Field, Sequence[str]]
"""The terms to look up in each field that the filter lets through."""
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class EvidenceView:
    """A state's evidence, and the scores that were computed of it last."""

    evidence: EvidenceSnapshot
    recent: Recent[Arrays]

    def eligible(self, where: IndexFilter) -> Mask:
        """Return which tables' evidence the filter's tables and sources let through."""
        mask = self.evidence.alive
        if where.tables:
            keys = [table_key(to_blob(table_id)) for table_id in where.tables]
            mask = mask & np.isin(self.evidence.records["table_key"], keys)
        if where.sources:
            wanted, sources = set(where.sources), self.evidence.sources
            mask = mask & np.fromiter((one in wanted for one in sources), np.bool_, len(sources))
        return mask

    def rank(self, asked: Asked, eligible: Mask, limit: int) -> dict[Field, list[TableHit]]:
        """Return the best tables of each field in which any has a term of the question."""
        ranked = {
            name: self._best(self._scores(name, terms)[0], eligible, limit)
            for name, terms in asked.items()
        }
        return {name: hits for name, hits in ranked.items() if hits}

    def holding(self, terms: Sequence[str], eligible: Mask) -> dict[str, tuple[str, ...]]:
        """Return the tables that have each of these terms as a whole cell, by table id.

        Postings alone are read, whatever their number of tables; nothing is scored.
        """
        entries = self.evidence.entries[Field.CELLS]
        keys = np.fromiter(map(term_key, terms), np.uint64, len(terms))
        found: dict[str, list[str]] = {term: [] for term in terms}
        for part in entries.postings:
            for place, (rows, _) in part.find(keys).items():
                owners = entries.owners[rows]
                ids = map(self.evidence.table_ids.__getitem__, owners[eligible[owners]].tolist())
                found[terms[place]].extend(ids)
        return {term: tuple(sorted(ids)) for term, ids in found.items()}

    def scores(
        self, asked: Asked, eligible: Mask, keys: Sequence[int]
    ) -> list[tuple[dict[Field, float], int | None]]:
        """Return the true scores of the tables of these keys, and the number of the best row."""
        by_key = self.evidence.by_key
        numbers = [at for at, key in enumerate(keys) if key in by_key and eligible[by_key[key]]]
        places = np.array([by_key[keys[at]] for at in numbers], np.int32)
        fields: list[dict[Field, float]] = [{} for _ in keys]
        rows: list[int | None] = [None] * len(keys)
        for name, terms in asked.items():
            tables, entries = self._scores(name, terms)
            found = np.flatnonzero(tables[places] > 0).tolist()
            for at, score in zip(found, tables[places[found]].tolist(), strict=True):
                fields[numbers[at]][name] = score
            if name is Field.ROWS:
                for at, row in zip(found, self._best_rows(entries, places[found]), strict=True):
                    rows[numbers[at]] = row
        return list(zip(fields, rows, strict=True))

    def _scores(self, name: Field, terms: Sequence[str]) -> Arrays:
        """Return each table's BM25 in a field, shape (tables,), and each entry's, (entries,)."""
        return self.recent.get(key_of(name, terms), lambda: self._computed(name, terms))

    def _computed(self, name: Field, terms: Sequence[str]) -> Arrays:
        entries = self.evidence.bm25[name].score(terms).astype(np.float32)
        tables = np.zeros(len(self.evidence.alive), np.float32)
        starts = self.evidence.starts[name]
        if len(starts):
            owners = self.evidence.entries[name].owners[starts]
            tables[owners] = np.maximum.reduceat(entries, starts)
        return tables, entries

    def _best_rows(
        self, scores: npt.NDArray[np.float32], places: npt.NDArray[np.int32]
    ) -> list[int]:
        """Return the number of each table's best row, the first of equals."""
        owners = self.evidence.entries[Field.ROWS].owners
        starts, stops = (np.searchsorted(owners, places, side) for side in ("left", "right"))
        spans = zip(starts.tolist(), stops.tolist(), strict=True)
        return [int(scores[start:stop].argmax()) for start, stop in spans]

    def _best(self, scores: npt.NDArray[np.float32], eligible: Mask, limit: int) -> list[TableHit]:
        places = np.flatnonzero(eligible & (scores > 0))
        if len(places) > limit:
            candidates = scores[places]
            threshold = np.partition(candidates, len(places) - limit)[len(places) - limit]
            places = places[candidates >= threshold]
        ids = self.evidence.table_ids
        hits = [TableHit(ids[place], float(scores[place])) for place in places.tolist()]
        return sorted(hits, key=lambda hit: (-hit.score, hit.table_id))[:limit]
