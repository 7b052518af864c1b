"""Checking what is to be written, and grouping it into transactions."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.sqlite_file import to_blob
from pneuma_assets.core.tables import Block, EmbeddedBlock

_BLOCKS_A_TRANSACTION = 1000
"""Small tables share a transaction, since each one waits for the disk."""

_UNIT_TOLERANCE = 1e-2
"""How far from 1 a vector's length may be: encoders in half precision round."""


Records = Mapping[bytes, tuple[Block, bytes]]
"""One table's blocks and their vectors as they will be stored, by block id."""


def prepare(
    tables: Mapping[str, Sequence[EmbeddedBlock]], dimension: int
) -> Iterator[dict[str, Records]]:
    """Yield groups of tables that fit one transaction.

    Raises:
        SearchIndexError: A block belongs to another table, or its vector is of no use.
    """
    group: dict[str, Records] = {}
    blocks = 0
    for table_id, embedded in tables.items():
        group[table_id] = _to_records(table_id, embedded, dimension)
        blocks += len(embedded)
        if blocks >= _BLOCKS_A_TRANSACTION:
            yield group
            group, blocks = {}, 0
    if group:
        yield group


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


def _to_records(table_id: str, embedded: Sequence[EmbeddedBlock], dimension: int) -> Records:
    owner = f"a block of table {table_id!r}"
    records = {}
    for item in embedded:
        if item.block.table_id != table_id:
            raise SearchIndexError(
                f"A block of table {item.block.table_id!r} was given for table {table_id!r}; "
                "pass each table its own blocks."
            )
        vector = check_vector(item.vector, dimension, owner).tobytes()
        records[to_blob(item.block.block_id)] = item.block, vector
    return records
