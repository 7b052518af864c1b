"""The true scores of given tables, from one state of the embedded index."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pneuma_assets.core.index.base import Hit, TableScores
from pneuma_assets.core.index.embedded.evidence_text import has_rows
from pneuma_assets.core.index.embedded.evidence_view import Asked
from pneuma_assets.core.index.embedded.evidence_view import Mask as TableMask
from pneuma_assets.core.index.embedded.ranking import cosines
from pneuma_assets.core.index.embedded.sqlite_file import select_in, to_blob
from pneuma_assets.core.index.embedded.sums import table_key
from pneuma_assets.core.index.embedded.tables import read_table
from pneuma_assets.core.index.embedded.view import Mask, Ranking, View
from pneuma_assets.core.tables import DocumentKind, Vector
from pneuma_assets.core.terms.fields import Field

BestRows = dict[int, tuple[int, float]]
"""The best row and its score, by the place of its table among those asked for."""


@dataclass(frozen=True, slots=True)
class Question:
    """What one question looks up on each side; nothing on a side that it leaves out."""

    terms: Sequence[str]
    vector: Vector | None
    asked: Asked
    silent: Sequence[DocumentKind] = ()


@dataclass(frozen=True, slots=True)
class TableView:
    """Scores tables; `blocks` and `tables` say what of them the filter lets through."""

    view: View
    blocks: Mask
    tables: TableMask

    def scores(self, question: Question, table_ids: Sequence[str]) -> dict[str, TableScores]:
        """Return one question's true scores of those tables that exist."""
        known = self._known(table_ids)
        keys = list(known.values())
        rows, owners = self._rows_of(keys)
        lexical, semantic = self._hits(self._best_blocks(question, rows, owners))
        traces = self.view.evidence.scores(question.asked, self.tables, keys)
        bare = self._without_rows(
            [key for key, (_, row) in zip(keys, traces, strict=True) if row == 0]
        )
        return {
            table_id: TableScores(
                lexical.get(place), semantic.get(place), fields, None if key in bare else row
            )
            for place, ((table_id, key), (fields, row)) in enumerate(
                zip(known.items(), traces, strict=True)
            )
        }

    def _without_rows(self, keys: Sequence[int]) -> set[int]:
        """Return which of these tables have no rows; only one that has one entry is looked up."""
        owners = self.view.snapshot.evidence.entries[Field.ROWS].owners
        places = np.array([self.view.snapshot.evidence.by_key[key] for key in keys], np.int32)
        counts = np.searchsorted(owners, places, "right") - np.searchsorted(owners, places, "left")
        single = [key for key, count in zip(keys, counts.tolist(), strict=True) if count == 1]
        found = select_in(
            self.view.connection,
            "SELECT table_key, rows FROM evidence WHERE table_key IN ({values})",
            single,
        )
        return {key for key, rows in found if not has_rows(rows)}

    def _known(self, table_ids: Sequence[str]) -> dict[str, int]:
        """Return the keys of those tables that exist; of what is in memory, the file is not asked.

        Raises:
            IndexDamagedError: A table that is looked up is not as it was written.
        """
        snapshot = self.view.snapshot
        keys = {table_id: table_key(to_blob(table_id)) for table_id in table_ids}
        _, with_blocks = snapshot.places_of(list(keys.values()))
        return {
            table_id: key
            for (table_id, key), has_blocks in zip(keys.items(), with_blocks.tolist(), strict=True)
            if has_blocks
            or key in snapshot.evidence.by_key
            or (key in snapshot.facts.by_key and self._is_whole(table_id))
        }

    def _is_whole(self, table_id: str) -> bool:
        return read_table(self.view.connection, table_id) is not None

    def _rows_of(self, keys: Sequence[int]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return the rows of these tables' blocks, and the place of each one's table in `keys`."""
        snapshot = self.view.snapshot
        places, with_blocks = snapshot.places_of(keys)
        owner_of = np.full(len(snapshot.table_keys) + 1, -1, np.intp)
        owner_of[places[with_blocks]] = np.flatnonzero(with_blocks)
        owners = owner_of[snapshot.table_places]
        rows = np.flatnonzero(self.blocks & (owners >= 0))
        return rows, owners[rows]

    def _best_blocks(
        self, question: Question, rows: npt.NDArray[np.intp], owners: npt.NDArray[np.intp]
    ) -> tuple[BestRows, BestRows]:
        lexical: BestRows = {}
        semantic: BestRows = {}
        if question.terms and len(rows):
            scores = self.view.lexical(question.terms)[rows]
            some = (scores > 0) & self.view.of_others(question.silent)[rows]
            lexical = self._first(rows[some], owners[some], scores[some])
        if question.vector is not None and len(rows):
            scores = cosines(self.view.snapshot.vectors[rows], question.vector[None, :])[0]
            semantic = self._first(rows, owners, scores)
        return lexical, semantic

    def _first(
        self,
        rows: npt.NDArray[np.intp],
        owners: npt.NDArray[np.intp],
        scores: npt.NDArray[np.float32],
    ) -> BestRows:
        """Return each table's best row, equal scores by block id."""
        block_ids = self.view.snapshot.records["block_id"][rows]
        order = np.lexsort((block_ids, -scores, owners))
        tables, first = np.unique(owners[order], return_index=True)
        best = order[first]
        pairs = zip(rows[best].tolist(), scores[best].tolist(), strict=True)
        return dict(zip(tables.tolist(), pairs, strict=True))

    def _hits(self, sides: tuple[BestRows, BestRows]) -> list[dict[int, Hit]]:
        rankings: list[Ranking] = [list(side.values()) for side in sides]
        found = zip(sides, self.view.to_hits(rankings), strict=True)
        return [dict(zip(side, hits, strict=True)) for side, hits in found]
