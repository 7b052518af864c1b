"""What a reader of the embedded index keeps in memory, and how it follows the file.

What somebody may see is a snapshot of its own, in which other tables do not live: every statistic
is taken over the living, so nothing of the others shows in any score.

Per block: 4 bytes a dimension, about 60 bytes of identity, place and length, and 6 bytes for each
different term; with 384 dimensions and 80 terms 2.1 kB, so 30,000 blocks take 65 MB and a million
2.1 GB. Of evidence: 6 bytes for each term of each entry, 16 an entry, and 16 for each term that
differs from those of the other tables of a segment; 50 rows of ten words take 16 kB where there
are 600 such tables, and less where more of them share their terms.
"""

import sqlite3
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from pneuma_assets.core.index.base import K1
from pneuma_assets.core.index.cache import LruCache
from pneuma_assets.core.index.embedded.bm25 import Bm25, Postings, merged
from pneuma_assets.core.index.embedded.file import (
    Meta,
    damaged,
    read_meta,
    reading_rows,
)
from pneuma_assets.core.index.embedded.rows import (
    FactsSnapshot,
    Packed,
    TableRow,
    kinds_of,
    read_packed,
    to_kind,
)
from pneuma_assets.core.index.embedded.term_index import NO_ENTRIES, FieldEntries, join_terms
from pneuma_assets.core.tables import Block, TableTerms, Vector, content_hash, source_of
from pneuma_assets.core.terms.fields import PRESENCE, Field

SEGMENT_ROWS, SEGMENT_TERMS = 16_384, 1_500_000
"""Blocks and terms of evidence read, and postings sorted, at once; some 100 MB for a moment."""

TABLE = np.dtype([("seq", "i8"), ("key", "i8"), ("rows", "i4")])
BLOCK = np.dtype(
    [
        ("block_id", "S32"),
        ("table", "i4"),
        ("start", "i8"),
        ("size", "u4"),
        ("length", "i4"),
        ("kind", "<u2"),
    ]
)
"""A block: its table's place, where its text is among its table's, its number of terms, and the
number of its kind."""

Kinds = dict[bytes, int]
"""The kinds of documents met so far, as stored, and their numbers, in the order of these."""
Arrays = tuple[npt.NDArray[np.float32], ...]
"""Scores of a question, as they are remembered."""

_TEXT_BYTES, _SCORE_BYTES = 16_000_000, 64_000_000
"""Bounds of what is remembered; scores take 4 bytes a block, an entry of evidence and a table."""
_EVIDENCE_BYTES = 8_000_000
"""Of the evidence that was read last."""
_PART_BYTES, _PART_SCORE_BYTES = 256_000_000, 8_000_000
"""Of what different askers see, and of the scores that each of these remembers."""
_DEAD_SHARE = 0.25  # of the tables or blocks; beyond it the living ones are loaded again


@dataclass(frozen=True)
class Snapshot:
    """What there is at one generation; tables that are not alive have been removed.

    Shapes: `tables` (tables,) of dtype `TABLE` with ascending seq, `alive` (tables,), `blocks`
    (blocks,) of dtype `BLOCK`, table by table, `vectors` (blocks, dimension). `table_ids` has the
    ids of the tables, `entries` those of each field of evidence. All snapshots share `kinds` and
    `texts`, the blocks that were read last. `recent` holds the scores of the newest questions.
    """

    generation: int
    tables: npt.NDArray[np.void]
    alive: npt.NDArray[np.bool_]
    table_ids: tuple[str, ...]
    blocks: npt.NDArray[np.void]
    vectors: Vector
    postings: tuple[Postings, ...]
    entries: Mapping[Field, FieldEntries]
    facts: FactsSnapshot
    kinds: Kinds
    texts: LruCache[Block] = field(default_factory=lambda: LruCache(_TEXT_BYTES, _block_bytes))
    recent: LruCache[Arrays] = field(default_factory=lambda: LruCache(_SCORE_BYTES, _bytes_of))
    parts: "LruCache[Snapshot]" = field(default_factory=lambda: LruCache(_PART_BYTES, _part_bytes))

    def seen_by(self, readers: Sequence[str] | None) -> "Snapshot":
        """Return it as if it had only the tables that are shown to who asks; None: all of them.

        Askers who see the same tables share it, and what was computed of it.
        """
        if readers is None:
            return self
        keys = self.facts.seen_by(readers)
        return self.parts.get(
            content_hash(keys.tobytes().hex()),
            lambda: replace(
                self,
                alive=self.alive & np.isin(self.tables["key"], keys),
                recent=LruCache(_PART_SCORE_BYTES, _bytes_of),
                parts=LruCache(0, _part_bytes),
            ),
        )

    @cached_property
    def alive_blocks(self) -> npt.NDArray[np.bool_]:
        """Which blocks are of living tables, shape (blocks,)."""
        found: npt.NDArray[np.bool_] = self.alive[self.blocks["table"]]
        return found

    @cached_property
    def by_key(self) -> Mapping[int, int]:
        """The place of each living table, by its key."""
        places = np.flatnonzero(self.alive)
        keys = self.tables["key"][places].tolist()
        return dict(zip(keys, places.tolist(), strict=True))

    @cached_property
    def by_id(self) -> npt.NDArray[np.intp]:
        """The rank of each table by its id, shape (tables,)."""
        ranks = np.empty(len(self.table_ids), np.intp)
        ranks[sorted(range(len(ranks)), key=self.table_ids.__getitem__)] = np.arange(len(ranks))
        return ranks

    @cached_property
    def families(self) -> Mapping[str, Sequence[int]]:
        """The places of the living tables of each family, by its first member."""
        found: dict[str, list[int]] = {}
        for key, place in self.by_key.items():
            if (family := self.facts.by_key[key].facts.family) is not None:
                found.setdefault(family, []).append(place)
        return found

    @cached_property
    def sources(self) -> Sequence[str]:
        """The source of each table."""
        return list(map(source_of, self.table_ids))

    @cached_property
    def by_block_id(self) -> npt.NDArray[np.intp]:
        """The living blocks, ordered by their ids."""
        living = np.flatnonzero(self.alive_blocks)
        found: npt.NDArray[np.intp] = living[np.argsort(self.blocks["block_id"][living])]
        return found

    @cached_property
    def bm25(self) -> Bm25:
        """What scores the blocks' words; its statistics take a moment, so they wait for use."""
        return Bm25(self.postings, self.blocks["length"], self.alive_blocks)

    @cached_property
    def fields(self) -> Mapping[Field, Bm25]:
        """What scores each field's entries; the statistics are of the living."""
        return {
            name: Bm25(
                entries.postings,
                entries.lengths,
                self.alive[entries.owners],
                0.0 if name in PRESENCE else K1,
            )
            for name, entries in self.entries.items()
        }

    @cached_property
    def first_entries(self) -> Mapping[Field, npt.NDArray[np.intp]]:
        """The first entry of each table that has any in a field."""
        return {
            name: np.flatnonzero(np.diff(entries.owners, prepend=np.int32(-1)))
            for name, entries in self.entries.items()
        }

    def is_complete(self, meta: Meta) -> bool:
        """Tell whether what lives is all that this state has, and nothing else.

        It is not, either, where the log of removals begins later than this snapshot.
        """
        tables, facts = int(np.count_nonzero(self.alive)), len(self.facts.by_key)
        found = tables, len(self.by_key), facts, int(np.count_nonzero(self.alive_blocks))
        return found == (meta.tables, meta.tables, meta.tables, meta.blocks)

    def is_sparse(self) -> bool:
        """Tell whether so much has been removed that loading the rest again is worth it."""
        return any(
            np.count_nonzero(one) < len(one) * (1 - _DEAD_SHARE)
            for one in (self.alive, self.alive_blocks)
        )


class Follower:
    """Holds the newest snapshot and brings it up to date, for any number of threads.

    `evidence` keeps what was read last of tables' evidence, by the row that lists the table.
    A snapshot never changes, so searches go on with theirs while the next one is made. Snapshots
    share memory: a newer one's arrays begin with the older one's.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._lock = threading.Lock()
        self._snapshot: Snapshot | None = None
        self.evidence: LruCache[TableTerms] = LruCache(_EVIDENCE_BYTES, _evidence_bytes)
        self._blocks = _Growing(np.empty(0, BLOCK))
        self._vectors = _Growing(np.empty((0, dimension), np.float32))

    def loaded(self, connection: sqlite3.Connection) -> FactsSnapshot | None:
        """Return all facts that `connection` sees, where a question has loaded its snapshot."""
        generation, known = read_meta(connection).generation, self._snapshot
        return known.facts if known is not None and known.generation == generation else None

    def current(self, connection: sqlite3.Connection) -> Snapshot:
        """Return the snapshot of what `connection` sees, in a transaction that has just begun.

        The transaction's first read, which fixes what it sees, happens here under the lock: so
        nobody ever sees an older generation than the newest snapshot.
        """
        with self._lock:
            meta = read_meta(connection)
            if self._snapshot is None or self._snapshot.generation != meta.generation:
                self._snapshot = self._next(connection, meta)
            return self._snapshot

    def _next(self, connection: sqlite3.Connection, meta: Meta) -> Snapshot:
        """Return the snapshot of this state, made of the last one where that is enough."""
        followed = self._followed(connection, meta)
        if followed is not None and followed.is_complete(meta):
            return followed
        self._snapshot = None  # its arrays are not those that grow from now on
        self._blocks = _Growing(np.empty(0, BLOCK))
        self._vectors = _Growing(np.empty((0, self._dimension), np.float32))
        none = Snapshot(
            meta.generation,
            np.empty(0, TABLE),
            np.empty(0, bool),
            (),
            self._blocks.extend(0, np.empty(0, BLOCK)),
            self._vectors.extend(0, np.empty((0, self._dimension), np.float32)),
            (),
            dict.fromkeys(Field, NO_ENTRIES),
            FactsSnapshot().followed(connection, ()),
            {},
        )
        loaded = self._extended(connection, none)
        if not loaded.is_complete(meta):
            raise damaged("tables, or facts of them, are missing")
        return loaded

    def _followed(self, connection: sqlite3.Connection, meta: Meta) -> Snapshot | None:
        old = self._snapshot
        if old is None or old.generation > meta.generation:
            return None
        with reading_rows("its log of removals"):
            removed = connection.execute(
                "SELECT seq FROM removed WHERE generation > ?", (old.generation,)
            )
            gone = [seq for (seq,) in removed]
            alive = old.alive & ~np.isin(old.tables["seq"], gone)
        kept = replace(
            old,
            generation=meta.generation,
            alive=alive,
            facts=old.facts.followed(connection, gone),
            recent=LruCache(_SCORE_BYTES, _bytes_of),
            parts=LruCache(_PART_BYTES, _part_bytes),
        )
        return None if kept.is_sparse() else self._extended(connection, kept)

    def _extended(self, connection: sqlite3.Connection, old: Snapshot) -> Snapshot:
        """Return it followed by all tables that the file has above its last number."""
        last = int(old.tables["seq"][-1]) if len(old.tables) else 0
        (added,) = connection.execute(
            "SELECT total(blocks) FROM tables WHERE seq > ?", (last,)
        ).fetchone()
        heads: list[tuple[int, int, int]] = []
        ids: list[str] = []
        blocks, vectors, postings, entries = old.blocks, old.vectors, old.postings, old.entries
        for growing in (self._blocks, self._vectors):
            growing.reserve(len(blocks), int(added))
        for some in _portions(read_packed(connection, last)):
            first = len(old.tables) + len(heads)
            with reading_rows("its tables"):
                records, segment = _to_blocks(some, first, len(blocks), old.kinds)
                stored = np.frombuffer(b"".join(packed.vectors for _, packed in some), "<f4")
                filled = {name: len(one.owners) for name, one in entries.items()}
                joined = join_terms([packed.packed_terms() for _, packed in some], first, filled)
                vectors = self._vectors.extend(len(blocks), stored.reshape(-1, self._dimension))
                blocks = self._blocks.extend(len(blocks), records)
            postings = merged((*postings, segment), lambda part: part.row_count, SEGMENT_ROWS)
            entries = {
                name: one.followed_by(joined[name], SEGMENT_TERMS) for name, one in entries.items()
            }
            heads += [(row.seq, row.key, packed.rows) for row, packed in some]
            ids += [row.table_id for row, _ in some]
        return replace(
            old,
            tables=np.concatenate([old.tables, np.array(heads, TABLE)]),
            alive=np.append(old.alive, np.ones(len(heads), bool)),
            table_ids=(*old.table_ids, *ids),
            blocks=blocks,
            vectors=vectors,
            postings=postings,
            entries=entries,
        )


def _portions(
    tables: Iterable[tuple[TableRow, Packed]],
) -> Iterator[list[tuple[TableRow, Packed]]]:
    """Yield as many tables at a time as are joined at once."""
    some: list[tuple[TableRow, Packed]] = []
    blocks = terms = 0
    for table, packed in tables:
        some.append((table, packed))
        blocks += table.blocks
        terms += len(packed.entry_terms) // 8
        if blocks >= SEGMENT_ROWS or terms >= SEGMENT_TERMS:
            yield some
            some, blocks, terms = [], 0, 0
    if some:
        yield some


def _to_blocks(
    tables: Sequence[tuple[TableRow, Packed]], first: int, base: int, kinds: Kinds
) -> tuple[npt.NDArray[np.void], Postings]:
    """Return the blocks of tables, and the segment of their words.

    Args:
        tables: In the order of their numbers.
        first: The place of the first table.
        base: The place of the first block.
        kinds: Receives new kinds.
    """

    def joined(name: str, kind: str) -> npt.NDArray[Any]:
        return np.frombuffer(b"".join(getattr(packed, name) for _, packed in tables), kind)

    counts = np.array([table.blocks for table, _ in tables], np.int64)
    sizes, different = joined("sizes", "<u4"), joined("different", "<u4")
    records = np.empty(int(counts.sum()), BLOCK)
    records["block_id"] = joined("block_ids", "S32")
    records["table"] = np.repeat(first + np.arange(len(tables)), counts)
    starts = np.cumsum(sizes, dtype=np.int64) - sizes
    firsts = np.cumsum(counts) - counts
    records["start"] = starts - np.repeat(np.append(starts, 0)[firsts], counts)
    records["size"] = sizes
    records["kind"] = [_number(kind, kinds) for _, packed in tables for kind in kinds_of(packed)]
    places = np.repeat(np.arange(len(records), dtype=np.int32), different)
    repeated = joined("counts", "<u2").astype(np.uint16, copy=False)
    keys = joined("terms", "<u8").astype(np.uint64, copy=False)
    if not len(keys) == len(repeated) == len(places):
        raise ValueError("terms and counts differ")
    records["length"] = np.bincount(places, weights=repeated, minlength=len(records))
    return records, Postings.build(keys, places + np.int32(base), repeated, len(records))


def _number(kind: bytes, kinds: Kinds) -> int:
    """Return the number of a stored kind, the next one if it is met for the first time."""
    if kind not in kinds:
        to_kind(kind)  # or it is of a newer version
        kinds[kind] = len(kinds)
    return kinds[kind]


def _bytes_of(scores: Arrays) -> int:
    return sum(array.nbytes for array in scores)


def _part_bytes(part: Snapshot) -> int:
    """Return what a part of a snapshot takes: two arrays a block and an entry, and its scores."""
    entries = sum(len(one.owners) for one in part.entries.values())
    return 24 * (len(part.blocks) + entries) + _PART_SCORE_BYTES


def _evidence_bytes(evidence: TableTerms) -> int:
    texts = chain(evidence.names, evidence.columns, evidence.cells, *evidence.rows)
    some = [*filter(None, texts)]
    return 1_000 + 60 * len(some) + len("".join(some))  # 60: the object itself


def _block_bytes(block: Block) -> int:
    return sys.getsizeof(block.text) + 300  # its id, and the objects themselves


class _Growing:
    """An array that grows at its end in amortised constant time; earlier views stay valid."""

    def __init__(self, first: npt.NDArray[Any]) -> None:
        self._buffer = first

    def reserve(self, used: int, more: int) -> None:
        """Make room for so many elements after those that are used."""
        end = used + more
        if end > len(self._buffer):
            size = end if not used else end + end // 2
            larger = np.empty((size, *self._buffer.shape[1:]), self._buffer.dtype)
            larger[:used] = self._buffer[:used]
            self._buffer = larger

    def extend(self, used: int, part: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the first `used` elements followed by `part`."""
        self.reserve(used, len(part))
        self._buffer[used : used + len(part)] = part
        return self._buffer[: used + len(part)]
