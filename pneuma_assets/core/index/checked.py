"""What every engine refuses: blocks, vectors and searches that cannot mean anything."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pneuma_assets.core.errors import QueryError, SearchIndexError
from pneuma_assets.core.index.base import IndexFilter, IndexQuery
from pneuma_assets.core.tables import EmbeddedBlock, Vector

MAX_FILTERED = 10_000
"""Tables or sources that one search may be restricted to."""

_UNIT_TOLERANCE = 1e-2
"""How far from 1 a vector's length may be: encoders in half precision round."""


def check_blocks(
    table_id: str, embedded: Sequence[EmbeddedBlock], dimension: int
) -> dict[str, EmbeddedBlock]:
    """Return one table's blocks by block id, vectors as little-endian float32.

    Raises:
        SearchIndexError: A block belongs to another table, or its vector is of no use.
    """
    owner = f"a block of table {table_id!r}"
    checked = {}
    for item in embedded:
        if item.block.table_id != table_id:
            raise SearchIndexError(
                f"A block of table {item.block.table_id!r} was given for table {table_id!r}; "
                "pass each table its own blocks."
            )
        vector = check_vector(item.vector, dimension, owner)
        checked[item.block.block_id] = EmbeddedBlock(item.block, vector)
    return checked


def check_vector(vector: Any, dimension: int, owner: str) -> npt.NDArray[np.float32]:
    """Return `vector` as little-endian float32, shape (dimension,).

    Raises:
        SearchIndexError: It has another shape, is not finite, or is not of unit length.
    """
    checked = np.ascontiguousarray(vector, dtype="<f4")
    if checked.shape != (dimension,):
        raise SearchIndexError(
            f"The vector of {owner} has shape {checked.shape}, not ({dimension},); "
            "use the encoder that the index was built with."
        )
    length = float(np.linalg.norm(checked.astype(np.float64)))
    if not abs(length - 1.0) <= _UNIT_TOLERANCE:  # also false where a component is not finite
        raise SearchIndexError(
            f"The vector of {owner} has length {length:g}, not 1; the encoder must return finite, "
            "normalised vectors."
        )
    return checked


def check_questions(queries: Sequence[IndexQuery], dimension: int) -> list[Vector | None]:
    """Return each query's vector, checked; None where a query has none."""
    return [
        None if query.vector is None else check_vector(query.vector, dimension, f"question {place}")
        for place, query in enumerate(queries, 1)
    ]


def check_limit(limit: int) -> None:
    """Raise `QueryError` unless a search asks for at least one block."""
    if limit < 1:
        raise QueryError(f"The limit of a search is {limit}; ask for at least 1 block.")


def check_filter(where: IndexFilter) -> None:
    """Raise `QueryError` if a filter names more than an engine can look for."""
    if max(len(where.sources), len(where.tables)) > MAX_FILTERED:
        raise QueryError(
            f"A filter names {max(len(where.sources), len(where.tables)):,} tables or sources; "
            f"{MAX_FILTERED:,} at most."
        )


def check_lists(queries: Sequence[IndexQuery], block_ids: Sequence[Sequence[str]]) -> None:
    """Raise `QueryError` unless there is a list of blocks for each query."""
    if len(queries) != len(block_ids):
        raise QueryError(
            f"Scores of {len(block_ids)} lists of blocks were asked for {len(queries)} "
            "queries; pass one list a query."
        )
