"""Reading the embedded index's blocks into arrays."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.embedded.bm25 import Postings
from pneuma_assets.core.index.embedded.sqlite_file import from_blob, to_kind
from pneuma_assets.core.index.embedded.sums import block_sum, damaged, reading_rows
from pneuma_assets.core.index.identity import REBUILD
from pneuma_assets.core.tables import Vector

Kinds = dict[bytes, int]
"""The kinds of documents met so far, as they are stored; a record's `kind` is the number here."""

_MOST_KINDS = 255

RECORD = np.dtype(
    [
        ("seq", "i8"),
        ("table_key", "i8"),
        ("block_id", "S32"),
        ("length", "i4"),
        ("kind", "u1"),
        ("checksum", "i8"),
    ]
)

SEGMENT_ROWS = 16_384
"""Blocks read, and postings sorted, at once; it takes about 100 MB for a moment."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Blocks read together; the arrays are as in a snapshot."""

    records: npt.NDArray[np.void]
    vectors: Vector
    postings: tuple[Postings, ...]


def load_after(
    connection: sqlite3.Connection, seq: int, base: int, dimension: int, kinds: Kinds
) -> Batch:
    """Read every block above `seq`; the first becomes row `base`. New kinds are added to `kinds`.

    Raises:
        IndexDamagedError: A block is not as it was written.
        SearchIndexError: There are more kinds than a reader can tell apart.
    """
    with reading_rows("its blocks"):
        blocks = connection.execute(
            "SELECT seq, table_key, block_id, kind FROM blocks WHERE seq > ? ORDER BY seq", (seq,)
        ).fetchall()
        cursor = connection.execute(
            "SELECT seq, vector, terms, counts, checksum FROM features WHERE seq > ? ORDER BY seq",
            (seq,),
        )
        records = np.empty(len(blocks), RECORD)
        vectors = np.empty((len(blocks), dimension), np.float32)
        postings = []
        start = 0
        while rows := cursor.fetchmany(SEGMENT_ROWS):
            stop = start + len(rows)
            records[start:stop] = _to_records(blocks[start:stop], rows, kinds)
            _, stored, terms, counts, _ = zip(*rows, strict=True)
            vectors[start:stop] = np.frombuffer(b"".join(stored), "<f4").reshape(-1, dimension)
            segment, lengths = _to_postings(terms, counts, base + start)
            records["length"][start:stop] = lengths
            postings.append(segment)
            start = stop
    if start != len(blocks) or np.any(np.diff(records["seq"]) <= 0):
        raise damaged("blocks are missing")
    return Batch(records, vectors, tuple(postings))


def _to_records(
    blocks: Sequence[tuple[Any, ...]], features: Sequence[tuple[Any, ...]], kinds: Kinds
) -> npt.NDArray[np.void]:
    """Return the records of blocks whose checksums say that all of them is as it was written."""
    records = []
    for (seq, key, block_id, kind), (other, vector, terms, counts, checksum) in zip(
        blocks, features, strict=True
    ):
        found = block_sum(seq, key, block_id, kind, vector, terms, counts)
        if seq != other or checksum != found:
            raise damaged(f"block {other} is not as it was written")
        records.append((seq, key, block_id, 0, _number(kind, kinds), checksum))
    return np.array(records, RECORD)


def _number(kind: bytes, kinds: Kinds) -> int:
    """Return the number of a stored kind, the next one if it is met for the first time."""
    if kind not in kinds:
        to_kind(from_blob(kind))
        if len(kinds) == _MOST_KINDS:
            raise SearchIndexError(
                f"The search index holds more than {_MOST_KINDS} kinds of documents; {REBUILD}."
            )
        kinds[kind] = len(kinds)
    return kinds[kind]


def _to_postings(
    terms: Sequence[bytes], counts: Sequence[bytes], base: int
) -> tuple[Postings, npt.NDArray[np.int32]]:
    """Return one segment and the number of terms of each of its rows, the first being `base`."""
    different = np.fromiter(map(len, counts), np.int64, len(counts)) // 2
    places = np.repeat(np.arange(len(counts), dtype=np.int32), different)
    repeated = np.frombuffer(b"".join(counts), "<u2").astype(np.uint16, copy=False)
    keys = np.frombuffer(b"".join(terms), "<u8").astype(np.uint64, copy=False)
    lengths = np.bincount(places, weights=repeated, minlength=len(counts)).astype(np.int32)
    if not len(keys) == len(repeated) == len(places):
        raise ValueError("terms and counts differ")
    return Postings.build(keys, places + np.int32(base), repeated, len(counts)), lengths
