"""What a reader of the embedded index keeps in memory, and how it follows the file.

What somebody may see is a snapshot of its own, in which other tables do not live: every statistic
is taken over the living, so nothing of the others shows in any score.

Per block: 4 bytes a dimension, about 70 bytes of identity, length and checksum, and 6 bytes for
each different term; with 384 dimensions and 80 terms 2.1 kB, so 30,000 blocks take 65 MB and a
million 2.1 GB. What tables' evidence takes: `evidence_snapshot`.
"""

import sqlite3
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pneuma_assets.core.index.embedded.bm25 import Bm25, Postings
from pneuma_assets.core.index.embedded.evidence_snapshot import Arrays, EvidenceSnapshot
from pneuma_assets.core.index.embedded.facts import FactsSnapshot, all_facts
from pneuma_assets.core.index.embedded.loading import (
    RECORD,
    SEGMENT_ROWS,
    Batch,
    Kinds,
    load_after,
)
from pneuma_assets.core.index.embedded.meta import Meta, read_meta
from pneuma_assets.core.index.embedded.recent import Recent
from pneuma_assets.core.index.embedded.segments import merged
from pneuma_assets.core.index.embedded.sums import damaged, reading_rows
from pneuma_assets.core.tables import Block, Vector, content_hash

_TEXT_BYTES, _SCORE_BYTES = 16_000_000, 64_000_000
"""Bounds of what is remembered; scores take 4 bytes a block, an entry of evidence and a table."""

_SIGHT_BYTES, _SIGHT_SCORE_BYTES = 256_000_000, 8_000_000
"""Of what different askers see, and of the scores that each of these remembers."""

_DEAD_SHARE = 0.25  # of the rows; beyond it the living ones are loaded anew


@dataclass(frozen=True)
class Snapshot:
    """What there is at one generation; rows of blocks that are not alive have been removed.

    Shapes: `records` (rows,) of dtype `RECORD` with ascending seq, `vectors` (rows, dimension),
    `alive` (rows,). `table_ids` collects the ids of tables, by their keys, as they are asked for; a
    key always means the same table, so all snapshots share it. So do they share `kinds`, which
    numbers the kinds of documents in the order in which they were met, and `texts`, the blocks that
    were read last, by seq. `recent` holds the scores of the newest questions.
    """

    generation: int
    records: npt.NDArray[np.void]
    vectors: Vector
    alive: npt.NDArray[np.bool_]
    postings: tuple[Postings, ...]
    table_ids: dict[int, str]
    kinds: Kinds
    evidence: EvidenceSnapshot
    facts: FactsSnapshot
    texts: Recent[Block] = field(default_factory=lambda: Recent(_TEXT_BYTES, _block_bytes))
    recent: Recent[Arrays] = field(default_factory=lambda: Recent(_SCORE_BYTES, _bytes_of))
    sights: "Recent[Snapshot]" = field(default_factory=lambda: Recent(_SIGHT_BYTES, _sight_bytes))

    def seen_by(self, readers: Sequence[str] | None) -> "Snapshot":
        """Return it as if it had only the tables that are shown to who asks; None: all of them.

        Askers who see the same tables share it, and what was computed of it.
        """
        if readers is None:
            return self
        keys = self.facts.seen_by(readers)
        return self.sights.get(content_hash(keys.tobytes().hex()), lambda: self._only(keys))

    def _only(self, keys: npt.NDArray[np.int64]) -> "Snapshot":
        return replace(
            self,
            alive=self.alive & np.isin(self.records["table_key"], keys),
            evidence=self.evidence.only(keys),
            facts=self.facts.only(keys),
            recent=Recent(_SIGHT_SCORE_BYTES, _bytes_of),
            sights=Recent(0, _sight_bytes),
        )

    @cached_property
    def table_keys(self) -> npt.NDArray[np.int64]:
        """The keys of all tables that have blocks."""
        keys: npt.NDArray[np.int64] = np.unique(self.records["table_key"][self.alive])
        return keys

    @cached_property
    def table_places(self) -> npt.NDArray[np.intp]:
        """Where each living row's table is among `table_keys`, shape (rows,)."""
        places = np.searchsorted(self.table_keys, self.records["table_key"])
        return np.minimum(places, max(len(self.table_keys) - 1, 0))

    def places_of(self, keys: Sequence[int]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        """Return where tables are among `table_keys`, and which of them are there."""
        wanted = np.array(keys, np.int64)
        places = np.searchsorted(self.table_keys, wanted)
        there = places < len(self.table_keys)
        there[there] = self.table_keys[places[there]] == wanted[there]
        return places, there

    @cached_property
    def bm25(self) -> Bm25:
        """The words' side; its statistics take a moment, so they wait for a question."""
        return Bm25(self.postings, self.records["length"], self.alive)

    def rows_of(self, seqs: Sequence[int]) -> npt.NDArray[np.intp]:
        """Return the rows of those `seqs` that are loaded."""
        loaded = self.records["seq"]
        wanted = np.asarray(seqs, dtype=np.int64)
        places = np.searchsorted(loaded, wanted)
        inside = places < len(loaded)
        places, wanted = places[inside], wanted[inside]
        found: npt.NDArray[np.intp] = places[loaded[places] == wanted]
        return found


class Follower:
    """Holds the newest snapshot and brings it up to date, for any number of threads.

    A snapshot never changes, so searches go on with theirs while the next one is made. Snapshots
    share memory: a newer one's arrays begin with the older one's.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._lock = threading.Lock()
        self._snapshot: Snapshot | None = None
        self._records = _Growing(np.empty(0, RECORD))
        self._vectors = _Growing(np.empty((0, dimension), np.float32))

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
        if followed is not None and _is_complete(followed, meta):
            return followed
        loaded = self._anew(connection, meta.generation)
        if not _is_complete(loaded, meta):
            raise damaged("blocks, evidence or facts are missing")
        return loaded

    def _followed(self, connection: sqlite3.Connection, meta: Meta) -> Snapshot | None:
        old = self._snapshot
        if old is None or not meta.log_since <= old.generation <= meta.generation:
            return None
        with reading_rows("its log of removals"):
            removed = connection.execute(
                "SELECT seq FROM removed WHERE generation > ?", (old.generation,)
            )
            gone = [seq for (seq,) in removed]
            alive = old.alive.copy()
            alive[old.rows_of(gone)] = False
            evidence = old.evidence.without(gone)
        if any(
            np.count_nonzero(one) < len(one) * (1 - _DEAD_SHARE) for one in (alive, evidence.alive)
        ):
            return None
        evidence = evidence.extended(connection)
        facts = old.facts.followed(connection, gone)
        last = int(old.records["seq"][-1]) if len(old.records) else 0
        added = load_after(connection, last, len(old.records), self._dimension, old.kinds)
        followed = replace(
            old,
            generation=meta.generation,
            alive=alive,
            evidence=evidence,
            facts=facts,
            recent=Recent(_SCORE_BYTES, _bytes_of),
            sights=Recent(_SIGHT_BYTES, _sight_bytes),
        )
        return self._extended(followed, added)

    def _anew(self, connection: sqlite3.Connection, generation: int) -> Snapshot:
        kinds: Kinds = {}
        added = load_after(connection, 0, 0, self._dimension, kinds)
        self._records = _Growing(added.records)
        self._vectors = _Growing(added.vectors)
        alive = np.ones(len(added.records), dtype=bool)
        evidence = EvidenceSnapshot().extended(connection)
        facts = all_facts(connection)
        blocks = (added.records, added.vectors, alive, added.postings)
        return Snapshot(generation, *blocks, {}, kinds, evidence, facts)

    def _extended(self, old: Snapshot, added: Batch) -> Snapshot:
        rows = len(old.records)
        return replace(
            old,
            records=self._records.extend(rows, added.records),
            vectors=self._vectors.extend(rows, added.vectors),
            alive=np.append(old.alive, np.ones(len(added.records), dtype=bool)),
            postings=merged(
                (*old.postings, *added.postings), lambda part: part.row_count, SEGMENT_ROWS
            ),
        )


def _bytes_of(scores: Arrays) -> int:
    return sum(array.nbytes for array in scores)


def _sight_bytes(sight: Snapshot) -> int:
    """Return what a part of a snapshot takes: two arrays a row and an entry, beside its scores."""
    entries = sum(len(one.owners) for one in sight.evidence.entries.values())
    return 24 * (len(sight.records) + entries) + _SIGHT_SCORE_BYTES


def _block_bytes(block: Block) -> int:
    return sys.getsizeof(block.text) + 300  # its id, and the objects themselves


def _is_complete(snapshot: Snapshot, meta: Meta) -> bool:
    """Tell whether what lives is all that this state has, and nothing else."""
    checksums = snapshot.records["checksum"][snapshot.alive]
    blocks = len(checksums) == meta.blocks and int(checksums.sum()) == meta.block_sums
    evidence = snapshot.evidence.is_complete(meta.evidence, meta.evidence_sums)
    return blocks and evidence and snapshot.facts.is_complete(meta.tables, meta.facts_sums)


class _Growing:
    """An array that grows at its end in amortised constant time; earlier views stay valid."""

    def __init__(self, first: npt.NDArray[Any]) -> None:
        self._buffer = first

    def extend(self, used: int, part: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the first `used` elements followed by `part`."""
        end = used + len(part)
        if end > len(self._buffer):
            larger = np.empty((end + end // 2, *part.shape[1:]), part.dtype)
            larger[:used] = self._buffer[:used]
            self._buffer = larger
        self._buffer[used:end] = part
        return self._buffer[:end]
