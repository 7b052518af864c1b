"""The evidence of tables as a reader of the embedded index keeps it in memory.

Per table: 6 bytes for each term of each entry, 16 an entry, and 16 for each term that differs from
those of the other tables of a segment. Evidence of 50 rows of ten words takes 16 kB where there
are 600 such tables, and less where more of them share their terms.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pneuma_assets.core.index.base import K1
from pneuma_assets.core.index.embedded.bm25 import Bm25
from pneuma_assets.core.index.embedded.evidence_rows import TERMS, to_terms
from pneuma_assets.core.index.embedded.evidence_terms import (
    FieldEntries,
    PackedTerms,
    join_terms,
)
from pneuma_assets.core.index.embedded.segments import merged
from pneuma_assets.core.index.embedded.sqlite_file import from_blob
from pneuma_assets.core.index.embedded.sums import damaged, reading_rows, wrapped
from pneuma_assets.core.index.embedded.tables import tables_by_key
from pneuma_assets.core.tables import source_of
from pneuma_assets.core.terms.fields import PRESENCE, Field

SEGMENT_TERMS = 1_500_000
"""Terms of entries joined, and postings sorted, at once; it takes about 100 MB for a moment."""

RECORD = np.dtype([("seq", "i8"), ("table_key", "i8"), ("sums", "i8")])

Arrays = tuple[npt.NDArray[np.float32], ...]
"""Scores of a question, as they are remembered."""

_NO_ENTRIES = FieldEntries(np.empty(0, np.int32), np.empty(0, np.int32), ())


@dataclass(frozen=True)
class EvidenceSnapshot:
    """The evidence of one generation, a table each; those that are not alive have been removed.

    Shapes: `records` (tables,) of dtype `RECORD` with ascending seq, `alive` (tables,).
    `table_ids` holds the tables' ids in the same order, `entries` those of each field.
    """

    records: npt.NDArray[np.void] = field(default_factory=lambda: np.empty(0, RECORD))
    alive: npt.NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, bool))
    table_ids: tuple[str, ...] = ()
    entries: Mapping[Field, FieldEntries] = field(
        default_factory=lambda: dict.fromkeys(Field, _NO_ENTRIES)
    )

    @cached_property
    def bm25(self) -> Mapping[Field, Bm25]:
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
    def starts(self) -> Mapping[Field, npt.NDArray[np.intp]]:
        """The first entry of each table that has any in a field."""
        return {
            name: np.flatnonzero(np.diff(entries.owners, prepend=np.int32(-1)))
            for name, entries in self.entries.items()
        }

    @cached_property
    def by_key(self) -> Mapping[int, int]:
        """Where the evidence of each table is, by the table's key."""
        living = np.flatnonzero(self.alive)
        keys = self.records["table_key"][living].tolist()
        return dict(zip(keys, living.tolist(), strict=True))

    @cached_property
    def sources(self) -> Sequence[str]:
        """The source of each table."""
        return list(map(source_of, self.table_ids))

    def without(self, seqs: Sequence[int]) -> "EvidenceSnapshot":
        """Return it with the evidence of these numbers removed."""
        gone = np.isin(self.records["seq"], seqs)
        return replace(self, alive=self.alive & ~gone) if gone.any() else self

    def only(self, keys: npt.NDArray[np.int64]) -> "EvidenceSnapshot":
        """Return it as if no table but these had any."""
        return replace(self, alive=self.alive & np.isin(self.records["table_key"], keys))

    def is_complete(self, count: int, sums: int) -> bool:
        """Tell whether the living are as many as these, with these checksums, and no others."""
        living = self.records["sums"][self.alive]
        return len(living) == count and int(living.sum()) == sums

    def extended(self, connection: sqlite3.Connection) -> "EvidenceSnapshot":
        """Return it followed by all evidence that the file has above its last number.

        Raises:
            IndexDamagedError: Evidence is not as it was written.
        """
        last = int(self.records["seq"][-1]) if len(self.records) else 0
        heads: list[tuple[int, int, int]] = []
        entries = self.entries
        with reading_rows("evidence"):
            rows = connection.execute(
                f"SELECT {TERMS} FROM evidence_terms WHERE seq > ? ORDER BY seq", (last,)
            )
            for first, tables in _portions(rows, heads, len(self.records)):
                filled = {name: len(one.owners) for name, one in entries.items()}
                joined = join_terms(tables, first, filled)
                entries = {name: _followed(one, joined[name]) for name, one in entries.items()}
        return self._with(connection, np.array(heads, RECORD), entries) if heads else self

    def _with(
        self,
        connection: sqlite3.Connection,
        added: npt.NDArray[np.void],
        entries: Mapping[Field, FieldEntries],
    ) -> "EvidenceSnapshot":
        if np.any(np.diff(added["seq"]) <= 0):
            raise damaged("evidence is missing")
        keys = added["table_key"].tolist()
        tables = tables_by_key(connection, keys)
        return EvidenceSnapshot(
            np.concatenate([self.records, added]),
            np.append(self.alive, np.ones(len(added), bool)),
            (*self.table_ids, *(from_blob(tables[key].table_id) for key in keys)),
            entries,
        )


def _portions(
    rows: Iterable[Sequence[Any]], heads: list[tuple[int, int, int]], first: int
) -> Iterator[tuple[int, list[PackedTerms]]]:
    """Yield the terms of some tables at a time and the number of the first of them.

    `heads` receives what `RECORD` says of each.
    """
    tables: list[PackedTerms] = []
    size = 0
    for row in rows:
        terms = to_terms(row)
        seq, key, text_sum, checksum = row[:4]
        heads.append((seq, key, wrapped(text_sum + checksum)))
        tables.append(terms)
        size += terms.size
        if size >= SEGMENT_TERMS:
            yield first, tables
            first, tables, size = first + len(tables), [], 0
    if tables:
        yield first, tables


def _followed(old: FieldEntries, new: FieldEntries) -> FieldEntries:
    """Return a field's entries followed by those of later tables."""
    return FieldEntries(
        np.concatenate([old.owners, new.owners]),
        np.concatenate([old.lengths, new.lengths]),
        merged((*old.postings, *new.postings), lambda part: len(part.rows), SEGMENT_TERMS),
    )
