"""Which of many tables are copies of which, without comparing all with all.

Copies share some of their rows' lowest hashes, or the lowest hash of a column's drawn cells, or
their names: a table is compared with those alone with which it shares such a key (MinHash, as
locality-sensitive hashing has it: Indyk and Motwani, STOC 1998).
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter

import numpy as np

from pneuma_assets.core.copies.fingerprint import Fingerprint, row_keys
from pneuma_assets.core.copies.likeness import is_copy, may_be_copy
from pneuma_assets.core.copies.names import PlainName, plain_name
from pneuma_assets.core.copies.sight import KnownLetters, Readers, Sight
from pneuma_assets.core.tables import TableFacts

_ROW_KEYS = 4
"""Lowest hashes of rows: tables of 0.8 of their rows in common share one of 4 all but always."""

_COLUMN_KEYS = 4
"""Columns of the most different drawn cells, whose lowest is a key."""

_MOST_COMPARED = 24
"""Originals of one key with which a table is compared, the first ones."""

_DAY = 86_400
"""Seconds; files that were written on one day may have been copied together."""

_NOTHING = TableFacts()


@dataclass(frozen=True, slots=True)
class KnownTable:
    """What is known of a table when copies are looked for."""

    table_id: str
    fingerprint: Fingerprint
    facts: TableFacts = _NOTHING


@dataclass(frozen=True, slots=True)
class _Looked:
    """A table, and what is looked at before its rows are compared."""

    table: KnownTable
    name: PlainName
    columns: frozenset[int]
    keys: tuple[Hashable, ...]
    """Of its rows, and its name."""
    of_columns: tuple[Hashable, ...]
    """Of drawn cells: tables of other columns have no row in common."""
    readers: Readers
    place: tuple[object, ...]
    """Orders tables that are alike, the original first."""


Beside = Mapping[tuple[Hashable, Readers], Sequence[_Looked]]
"""Originals by a key and who may see them, in their order."""


def find_copies(tables: Sequence[KnownTable], *, seen: bool = False) -> dict[str, str]:
    """Return the copies, each with the table that it is one of, which is none itself.

    Of tables that are alike, the original is the one whose name does not say otherwise, then the
    most queried, the most used by others, the most described; then that of the most columns and
    rows, the one that was written first, and the shorter id.

    Args:
        tables: All that there are.
        seen: Whether a table is looked at beside those alone that everybody may see who may see it,
            and as if nobody used any: so what is found of the tables that somebody sees is what
            would be found if there were no others.
    """
    sight = Sight({one.facts.readers for one in tables} if seen else ())
    names = KnownLetters(sight)
    readers = [sight.of(table.facts.readers) for table in tables]
    for table, who in zip(tables, readers, strict=True):
        names.add(table.table_id, who)
    looked = (
        _look(table, plain_name(table.table_id, names.known_to(who)), who, used=not seen)
        for table, who in zip(tables, readers, strict=True)
    )
    beside: dict[tuple[Hashable, Readers], list[_Looked]] = defaultdict(list)
    copies: dict[str, str] = {}
    for one in sorted(looked, key=attrgetter("place")):
        original = _original_of(one, beside, sight)
        if original is not None:
            copies[one.table.table_id] = original
            continue
        for key in (*one.keys, *one.of_columns):
            beside[key, one.readers].append(one)
    return copies


def is_seen_alike(tables: Sequence[KnownTable]) -> bool:
    """Tell whether `find_copies` finds the same, `seen` or not, so that once is enough.

    So it is where one may see all tables who may see any, and none is known to be used.
    """
    given = {one.facts.readers and frozenset(one.facts.readers) for one in tables}
    used = any(one.facts.queries or one.facts.feeds for one in tables)
    return not used and len(given) < 2 and () not in given


def _look(table: KnownTable, name: PlainName, readers: Readers, *, used: bool) -> _Looked:
    found = table.fingerprint
    rows = (found.lowest[:_ROW_KEYS], np.sort(row_keys(found.cells))[:_ROW_KEYS])
    of_rows = (key for keys in rows for key in keys.tolist())
    of_name = (name.stem,) if name.stem else ()
    columns = frozenset(found.columns.tolist())
    keys = (*of_rows, *of_name), (*_keys_of_columns(found),)
    return _Looked(table, name, columns, *keys, readers, _standing(table, name, used=used))


def _keys_of_columns(found: Fingerprint) -> Iterator[Hashable]:
    if not found.cells.size:
        return
    ordered = np.sort(found.cells, axis=1)
    different = (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1)
    for at in np.argsort(-different, kind="stable")[:_COLUMN_KEYS].tolist():
        yield int(found.columns[at]), int(ordered[at, 0])


def _original_of(one: _Looked, beside: Beside, sight: Sight) -> str | None:
    of_rows = (other for key in one.keys for other in _first_of(key, one, beside, sight))
    of_columns = (
        other
        for key in one.of_columns
        for other in _first_of(key, one, beside, sight)
        if other.columns != one.columns
    )
    others = {other.table.table_id: other for other in chain(of_rows, of_columns)}
    for other in others.values():
        if may_be_copy(one.columns, other.columns):
            related = bool(one.name.stem) and one.name.stem == other.name.stem
            if is_copy(one.table.fingerprint, other.table.fingerprint, related=related):
                return other.table.table_id
    return None


def _first_of(key: Hashable, one: _Looked, beside: Beside, sight: Sight) -> list[_Looked]:
    """Return the first originals of a key that all may see who may see a table."""
    lists = [
        beside[key, who][:_MOST_COMPARED]
        for who in sight.wider(one.readers)
        if (key, who) in beside
    ]
    if len(lists) < 2:
        return list(lists[0]) if lists else []
    return sorted(chain.from_iterable(lists), key=attrgetter("place"))[:_MOST_COMPARED]


def _standing(table: KnownTable, name: PlainName, *, used: bool) -> tuple[object, ...]:
    facts, found = table.facts, table.fingerprint
    return (
        len(name.marks) > 0,
        -(facts.queries or 0.0) if used else 0.0,
        -facts.feeds if used else 0,
        -facts.documented,
        -len(found.columns),
        -found.rows,
        float("inf") if facts.updated_at is None else facts.updated_at // _DAY,
        len(table.table_id),
        table.table_id,
    )
