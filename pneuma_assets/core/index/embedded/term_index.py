"""The terms of a table's evidence as packed arrays, and many tables' arrays as one.

A term of a table stands once, by its key, however many of its entries have it: the words of the
rows are those of the values, too. Entries name their terms by their places in that list; counts
and the steps from place to place are small numbers, which compress well.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pneuma_assets.core.index.embedded.bm25 import Counts, Postings, TermKeys, merged, term_key
from pneuma_assets.core.terms.fields import Field, FieldEntry

NUMBERS: Mapping[Field, int] = {
    Field.NAMES: 0,
    Field.GRAMS: 1,
    Field.VALUES: 2,
    Field.CELLS: 3,
    Field.PAIRS: 4,
    Field.ROWS: 5,
    Field.HEADERS: 6,
}
"""What a file calls the fields."""

_ENTRY = np.dtype([("field", "u1"), ("different", "<u4")])
_STEP, _COUNT = np.dtype("<i4"), np.dtype("<u4")
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PackedTerms:
    """One table's entries, in the order of `field_entries`, as they are stored.

    `terms` holds 8 bytes a different term of the table, `entries` each one's field and its number
    of different terms, `places` for each term of each entry how many places after the one before
    it stands among `terms`, and `counts` how often it occurs in the entry.
    """

    terms: bytes
    entries: bytes
    places: bytes
    counts: bytes


def pack_terms(entries: Iterable[FieldEntry]) -> PackedTerms:
    """Return what is to be stored of a table's entries."""
    known: dict[str, int] = {}
    heads: list[tuple[int, int]] = []
    places: list[int] = []
    counts: list[int] = []
    for entry in entries:
        counted = Counter(entry.terms)
        heads.append((NUMBERS[entry.field], len(counted)))
        places.extend(known.setdefault(term, len(known)) for term in counted)
        counts.extend(counted.values())
    return PackedTerms(
        np.fromiter(map(term_key, known), "<u8", len(known)).tobytes(),
        np.array(heads, _ENTRY).tobytes(),
        np.diff(np.array(places, _STEP), prepend=0).astype(_STEP).tobytes(),
        np.array(counts, _COUNT).tobytes(),
    )


@dataclass(frozen=True, slots=True)
class FieldEntries:
    """One field's entries of neighbouring tables, table by table.

    Attributes:
        owners: The number of each entry's table, shape (entries,), ascending.
        lengths: Number of terms of each entry, shape (entries,).
        postings: Segments that together cover all entries.
    """

    owners: npt.NDArray[np.int32]
    lengths: npt.NDArray[np.int32]
    postings: tuple[Postings, ...]

    def followed_by(self, new: "FieldEntries", most: int) -> "FieldEntries":
        """Return them followed by those of later tables; segments of at most so many are merged."""
        return FieldEntries(
            np.concatenate([self.owners, new.owners]),
            np.concatenate([self.lengths, new.lengths]),
            merged((*self.postings, *new.postings), lambda part: len(part.rows), most),
        )


NO_ENTRIES = FieldEntries(np.empty(0, np.int32), np.empty(0, np.int32), ())


def join_terms(
    tables: Sequence[PackedTerms], first_table: int, first_entries: Mapping[Field, int]
) -> dict[Field, FieldEntries]:
    """Return the entries of several tables by field.

    Args:
        tables: What is stored of each.
        first_table: The number of the first table.
        first_entries: The number of the first entry in each field.

    Raises:
        ValueError: Something else is stored than `pack_terms` makes.
    """
    entries, of_table = _joined([table.entries for table in tables], _ENTRY)
    counts, _ = _joined([table.counts for table in tables], _COUNT)
    keys = _keys(tables)
    owners = first_table + np.repeat(np.arange(len(tables), dtype=np.int32), of_table)
    entry_of = np.repeat(np.arange(len(entries), dtype=np.int32), entries["different"])
    if not len(keys) == len(counts) == len(entry_of):
        raise ValueError("terms and counts differ")
    lengths = np.bincount(entry_of, weights=counts, minlength=len(entries)).astype(np.int32)
    counted: Counts = counts.astype(np.uint32)
    if counts.max(initial=0) <= np.iinfo(np.uint16).max:
        counted = counts.astype(np.uint16)
    found = {}
    for field, number in NUMBERS.items():
        own = entries["field"] == number
        rows = (np.cumsum(own, dtype=np.int32) - 1)[entry_of] + np.int32(first_entries[field])
        with_terms = own[entry_of]
        postings = Postings.build(
            keys[with_terms], rows[with_terms], counted[with_terms], int(np.count_nonzero(own))
        )
        found[field] = FieldEntries(owners[own], lengths[own], (postings,))
    return found


def _keys(tables: Sequence[PackedTerms]) -> TermKeys:
    """Return the key of each term of each entry, shape (postings,)."""
    steps, of_table = _joined([table.places for table in tables], _STEP)
    terms = np.frombuffer(b"".join(table.terms for table in tables), "<u8").astype(np.uint64)
    sizes = np.fromiter((len(table.terms) // 8 for table in tables), np.int64, len(tables))
    # Steps are summed up over all tables at once: what the tables before have come to goes off.
    places = np.cumsum(steps, dtype=np.int64)
    before = np.concatenate([[0], places])[np.cumsum(of_table) - of_table]
    places += np.repeat(np.cumsum(sizes) - sizes - before, of_table)
    if places.size and not 0 <= places.min() <= places.max() < len(terms):
        raise ValueError("a place beyond the terms")
    keys: TermKeys = terms[places]
    return keys


def _joined(parts: Sequence[bytes], kind: np.dtype[Any]) -> tuple[npt.NDArray[Any], Integers]:
    """Return the arrays of all tables one after the other, and the length of each."""
    sizes = np.fromiter((len(part) // kind.itemsize for part in parts), np.int64, len(parts))
    return np.frombuffer(b"".join(parts), kind), sizes
