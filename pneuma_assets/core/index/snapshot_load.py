"""Reading the embedded index's blocks into arrays."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.bm25 import Postings
from pneuma_assets.core.index.identity import REBUILD
from pneuma_assets.core.index.sqlite_file import to_kind
from pneuma_assets.core.tables import DocumentKind, Vector

KINDS = tuple(DocumentKind)
"""A record's `kind` is a place in this tuple."""

RECORD = np.dtype(
    [("seq", "i8"), ("table_key", "i8"), ("block_id", "S32"), ("length", "i4"), ("kind", "i1")]
)

SEGMENT_ROWS = 16_384
"""Blocks read, and postings sorted, at once; it takes about 100 MB for a moment."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Blocks read together; the arrays are as in a snapshot."""

    records: npt.NDArray[np.void]
    vectors: Vector
    postings: tuple[Postings, ...]


def load_after(connection: sqlite3.Connection, seq: int, base: int, dimension: int) -> Batch:
    """Read every block above `seq`; the first becomes row `base`.

    Raises:
        SearchIndexError: What is stored cannot be right.
    """
    try:
        records = _read_records(connection, seq)
        vectors = np.empty((len(records), dimension), np.float32)
        cursor = connection.execute(
            "SELECT seq, vector, terms, counts FROM features WHERE seq > ? ORDER BY seq", (seq,)
        )
        postings = []
        start = 0
        while rows := cursor.fetchmany(SEGMENT_ROWS):
            seqs, stored, terms, counts = zip(*rows, strict=True)
            stop = start + len(rows)
            if not np.array_equal(records["seq"][start:stop], seqs):
                break
            vectors[start:stop] = np.frombuffer(b"".join(stored), "<f4").reshape(-1, dimension)
            segment, lengths = _to_postings(terms, counts, base + start)
            records["length"][start:stop] = lengths
            postings.append(segment)
            start = stop
    except ValueError as error:
        raise SearchIndexError(f"The search index is damaged ({error}); {REBUILD}.") from error
    if start != len(records):
        raise SearchIndexError(f"The search index is damaged (blocks without words); {REBUILD}.")
    return Batch(records, vectors, tuple(postings))


def _read_records(connection: sqlite3.Connection, seq: int) -> npt.NDArray[np.void]:
    rows = connection.execute(
        "SELECT seq, table_key, block_id, kind FROM blocks WHERE seq > ? ORDER BY seq", (seq,)
    )
    places = {kind: place for place, kind in enumerate(KINDS)}
    found = [(row, key, name, 0, places[to_kind(kind)]) for row, key, name, kind in rows]
    return np.array(found, RECORD)


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
