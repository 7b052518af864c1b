"""Which of many tables are copies of which, without comparing all with all.

Copies share some of their rows' lowest hashes, or the lowest hash of a column's drawn cells, or
their names: a table is compared with those alone with which it shares such a key (MinHash, as
locality-sensitive hashing has it: Indyk and Motwani, STOC 1998).
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from types import MappingProxyType

import numpy as np

from pneuma_assets.core.relations.families import families_by_word, find_families
from pneuma_assets.core.relations.fingerprints import Cells, Fingerprint, row_keys
from pneuma_assets.core.relations.version_names import PlainName, letters_of, plain_name
from pneuma_assets.core.tables import TableFacts
from pneuma_assets.core.terms.distinct_cells import Hashes

RECIPE = "4"
"""Of how copies, families and their originals are told; another one tells all of them anew."""

ROWS_IN_COMMON = 0.8
"""Of all rows of two tables, the share that both have, from which on one is a copy of the other; of
two versions between which a tenth of the rows was written anew it is 0.82. The same holds for drawn
rows: tables that were not made from one another have hardly any of these in common."""

CONTAINED = 0.9
"""Of the rows of a table whose name says that it is a sample or an old version, the share that the
table has whose name is the rest."""

WIDE = 10
"""Columns in common, all with the same cells, beside which another column is no news. Of fewer it
may be what the table is about: the gross product of the same countries and years."""

_MORE_COLUMNS = 0.1
_LEAST_COMPARED = 8
"""Rows by which it can be told that one table contains another."""
_LEAST_COLUMNS, _LEAST_DIFFERENT, _LEAST_ROWS = 2, 12, 0.5
"""Columns, different drawn cells, and share of different rows among the drawn ones, of tables that
can be compared at all: the numbers from 1 to 10, or a few answers and their codes, are alike by
chance. Others are copies where all is the same, and they bear one name."""


def overlap(one: Hashes, other: Hashes, whole: tuple[bool, bool]) -> float:
    """Return the share of all elements of two sets that both have (Jaccard), from 0 to 1.

    Of each set the lowest hashes are given, ascending, and whether these are all (`whole`); else
    those are compared that are not above the lower of both limits: they are a uniform sample of the
    union (Cohen and Kaplan, PODC 2007).
    """
    limits = [
        int(hashes[-1])
        for hashes, is_whole in zip((one, other), whole, strict=True)
        if len(hashes) and not is_whole
    ]
    if limits:
        one, other = (hashes[hashes <= np.uint64(min(limits))] for hashes in (one, other))
    both = len(np.intersect1d(one, other, assume_unique=True))
    either = len(one) + len(other) - both
    return both / either if either else 0.0


def contained(one: Fingerprint, other: Fingerprint) -> float:
    """Return the share of a table's rows that the other has; 0 where too few can be compared."""
    mine = one.lowest
    if not other.whole and len(other.lowest):
        mine = mine[mine <= other.lowest[-1]]
    if len(mine) < min(_LEAST_COMPARED, max(1, one.rows)) or not len(other.lowest):
        return 0.0
    return len(np.intersect1d(mine, other.lowest, assume_unique=True)) / len(mine)


def may_be_copy(columns: Set[int], others: Set[int]) -> bool:
    """Tell whether two tables have so many columns in common that their rows are to be compared."""
    both = len(columns & others)
    only = len(columns) - both, len(others) - both
    return only == (1, 1) or (
        not all(only) and both > 0 and sum(only) <= max(1, _MORE_COLUMNS * both)
    )


def is_copy(one: Fingerprint, other: Fingerprint, *, related: bool) -> bool:
    """Tell whether a table that `may_be_copy` of another one is, but for some rows or a column.

    `related`: they bear one name, but for what marks a copy (`version_names.plain_name`).
    """
    here, there, are_all = _paired(one.columns.tolist(), other.columns.tolist())
    if not (one.rows and other.rows):  # columns alone are a form that many may fill in
        return False
    if not (are_all or related or len(here) >= WIDE):
        return False
    mine, theirs = one.cells[here], other.cells[there]
    if not related:  # most pairs are neither related nor alike, so this is what has to be fast
        return _same_rows(one, other, mine, theirs, are_all) and _say_enough(mine)
    if not _say_enough(mine):
        same_size = one.rows == other.rows and mine.shape == theirs.shape
        return same_size and bool((mine == theirs).all())
    if are_all and contained(one, other) >= CONTAINED:
        return True
    return _same_rows(one, other, mine, theirs, are_all)


def _paired(mine: list[int], theirs: list[int]) -> tuple[list[int], list[int], bool]:
    """Return where columns of two tables stand that are the same, and whether these are all.

    One that only one of them has may have been renamed, which its cells will tell.
    """
    places = {name: place for place, name in enumerate(theirs)}
    here = [place for place, name in enumerate(mine) if name in places]
    there = [places[mine[place]] for place in here]
    left = {*range(len(mine))} - {*here}, {*range(len(theirs))} - {*there}
    if len(left[0]) == len(left[1]) == 1:
        return [*here, *left[0]], [*there, *left[1]], True
    return here, there, not any(left)


def _same_rows(
    one: Fingerprint, other: Fingerprint, mine: Cells, theirs: Cells, are_all: bool
) -> bool:
    """Tell whether most rows are in both, of all rows or of those that were drawn."""
    if min(one.rows, other.rows) < ROWS_IN_COMMON * max(one.rows, other.rows):
        return False
    whole = (one.whole, other.whole)
    if are_all and overlap(one.lowest, other.lowest, whole) >= ROWS_IN_COMMON:
        return True
    if not mine.size or not theirs.size:
        return False
    keys = np.unique(row_keys(mine)), np.unique(row_keys(theirs))
    return overlap(*keys, whole=(True, True)) >= ROWS_IN_COMMON


def _say_enough(cells: Cells) -> bool:
    if len(cells) < _LEAST_COLUMNS or len(np.unique(cells)) < _LEAST_DIFFERENT:
        return False
    return bool(len(np.unique(row_keys(cells))) >= _LEAST_ROWS * cells.shape[1])


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
    place: tuple[object, ...]
    """Orders tables that are alike, the original first."""


Beside = Mapping[Hashable, Sequence[_Looked]]
"""Originals by a key, in their order."""


def find_copies_and_families(
    tables: Sequence[KnownTable],
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the copies, as `find_copies`, and the families, by member; a copy is in none."""
    columns = {one.table_id: {*one.fingerprint.columns.tolist()} for one in tables}
    families = find_families(columns)
    copies = find_copies(tables, families)
    if copies:
        columns = {i: some for i, some in columns.items() if i not in copies}
        families = find_families(columns)
    return copies, families | families_by_word(columns, families)


def find_copies(
    tables: Sequence[KnownTable], families: Mapping[str, str] = MappingProxyType({})
) -> dict[str, str]:
    """Return the copies, each with the table that it is one of, which is none itself.

    Of tables that are alike, the original is the one whose name does not say otherwise, then the
    most used by others, the most described; then that of the most columns and rows, the one that
    was written first, and the shorter id.

    Args:
        tables: All that there are.
        families: By member (`families.find_families`); a year is no copy of another, however alike.
    """
    names = {letters_of(table.table_id) for table in tables}
    looked = (_look(table, plain_name(table.table_id, names)) for table in tables)
    beside: dict[Hashable, list[_Looked]] = defaultdict(list)
    copies: dict[str, str] = {}
    for one in sorted(looked, key=attrgetter("place")):
        original = _original_of(one, beside, families)
        if original is not None:
            copies[one.table.table_id] = original
            continue
        for key in (*one.keys, *one.of_columns):
            beside[key].append(one)
    return copies


def _look(table: KnownTable, name: PlainName) -> _Looked:
    found = table.fingerprint
    rows = (found.lowest[:_ROW_KEYS], np.sort(row_keys(found.cells))[:_ROW_KEYS])
    keys = (*chain(*map(np.ndarray.tolist, rows)), *filter(None, [name.stem]))
    columns = frozenset(found.columns.tolist())
    return _Looked(table, name, columns, keys, (*_keys_of_columns(found),), _standing(table, name))


def _keys_of_columns(found: Fingerprint) -> Iterator[Hashable]:
    if not found.cells.size:
        return
    ordered = np.sort(found.cells, axis=1)
    different = (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1)
    for at in np.argsort(-different, kind="stable")[:_COLUMN_KEYS].tolist():
        yield int(found.columns[at]), int(ordered[at, 0])


def _original_of(one: _Looked, beside: Beside, families: Mapping[str, str]) -> str | None:
    of_rows = (other for key in one.keys for other in beside.get(key, ())[:_MOST_COMPARED])
    of_columns = (
        other
        for key in one.of_columns
        for other in beside.get(key, ())[:_MOST_COMPARED]
        if other.columns != one.columns
    )
    others = {other.table.table_id: other for other in chain(of_rows, of_columns)}
    family = families.get(one.table.table_id)
    for table_id, other in sorted(others.items(), key=lambda i: i[1].name.stem != one.name.stem):
        together = family is not None and families.get(table_id) == family
        if not together and may_be_copy(one.columns, other.columns):
            related = bool(one.name.stem) and one.name.stem == other.name.stem
            if is_copy(one.table.fingerprint, other.table.fingerprint, related=related):
                return table_id
    return None


def _standing(table: KnownTable, name: PlainName) -> tuple[object, ...]:
    facts, found = table.facts, table.fingerprint
    return (
        bool(name.marks),
        -facts.feeds,
        -facts.documented,
        -len(found.columns),
        -found.rows,
        float("inf") if facts.updated_at is None else facts.updated_at // _DAY,
        len(table.table_id),
        table.table_id,
    )
