"""Exact cosine scores and the choice of the best rows."""

import numpy as np
import numpy.typing as npt

from pneuma_assets.core.tables import Vector

_ROWS_AT_ONCE = 4096  # of 384 dimensions: 6 MB, which a batch of questions reads from the cache


def cosines(vectors: Vector, queries: Vector) -> Vector:
    """Return the cosine of every question and row, shape (queries, rows).

    Both hold unit vectors, shapes (rows, dimension) and (queries, dimension). Each score is one
    dot product on its own (`vecdot`), so it does not depend on the row's place or on the other
    questions: equal blocks tie exactly, and a block's score is the same however it is asked for.
    A matrix product promises neither, and where other work keeps the cores busy its threads wait
    for each other: 12 ms against 1.5 ms for 30,000 rows.
    """
    scores = np.empty((len(queries), len(vectors)), np.float32)
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        np.vecdot(queries[:, None, :], vectors[None, rows, :], out=scores[:, rows])
    return scores


def best(
    scores: npt.NDArray[np.floating],
    eligible: npt.NDArray[np.bool_],
    block_ids: npt.NDArray[np.bytes_],
    limit: int,
) -> npt.NDArray[np.intp]:
    """Return up to `limit` eligible rows, best score first, equal scores by block id.

    The three arrays have shape (rows,).
    """
    rows = np.flatnonzero(eligible)
    if len(rows) > limit:
        candidates = scores[rows]
        threshold = np.partition(candidates, len(rows) - limit)[len(rows) - limit]
        rows = rows[candidates >= threshold]
    order = np.lexsort((block_ids[rows], -scores[rows]))
    return rows[order[:limit]]
