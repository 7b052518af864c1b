"""Families of tables: one thing in parts, a year, a day, a region or a number each.

Members lie in one place, are called the same but for what tells the parts apart, and have nearly
the same columns.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from os.path import commonprefix

from pneuma_assets.core.relations.part_names import Told, absent_years, is_told, told_in
from pneuma_assets.core.relations.version_names import OFTEN, SURE
from pneuma_assets.core.terms.fields import name_parts

COLUMNS_ALIKE = 0.8
"""Of the columns of two tables, the share that both have: a new year often has a new column."""

_DENSE = 0.75
"""Of the numbers from the first to the last, the share that there is where they count parts. Others
are names: `order_17` and `order_245`, estimates of 1, 3 and 5 years."""

_SHORTEST_RUN = 3
"""Numbers that count parts beside others that do not."""

_NEXT_CENTURY = 50
"""Of years of two digits, those below it follow 99 where there are 99 and 00."""

_MOST_COMPARED = 8
"""Families of one name, by other columns each, with which a table is compared."""

_MOST_NUMBERS = 8
"""Of a name, the last ones."""

_LEAST_NAMED, _LEAST_COMMON, _SHORTEST_WORD = 4, 2, 3
"""Tables that any last word tells apart, words that they share, and letters of such a word."""

_FEW_KINDS, _LEAST_TELLING = 3, 12
"""Different tables, by their columns, that have a column that tells of one thing; and how many such
columns are needed, times the tables: equal columns that half of all tables have say nothing."""

_STATES_OF = """
bronze silver gold raw clean cleaned final current history all total other
hourly daily weekly monthly quarterly yearly annual
"""
_NO_PARTS = SURE | OFTEN | {*_STATES_OF.split()}
"""Last words that tell another state, detail or purpose of the same, not a part."""


def find_families(columns: Mapping[str, Set[int]]) -> dict[str, str]:
    """Return of each table that is in a family the family's first member, which names it.

    So whoever adds a member leaves what is known of the others as it is. Years, dates, months and
    regions tell members apart together (`sales_ca_2019`), beside them one number, by which most are
    together: `level1_r4` goes with `level1_r5`.

    Args:
        columns: Of every table, what tells its columns' names from others.
    """
    named: dict[str, dict[str, tuple[bool, int | None]]] = defaultdict(dict)
    for table_id in sorted(one for one, some in columns.items() if some):
        for name, told in _names_of_series(table_id):
            named[name][table_id] = told
    groups = [
        run
        for together in named.values()
        for numbers in _of_one_kind(together)
        for some in _of_like_columns(numbers, columns)
        for run in _runs(some, numbers)
    ]
    found: dict[str, str] = {}
    for some, numbers in sorted(groups, key=lambda group: (-len(group[0]), group[0][0])):
        left = [one for one in some if one not in found]
        if len(left) > 1 and _is_dense({numbers[one] for one in left}):
            found |= dict.fromkeys(left, left[0])
    return found


def families_by_word(
    columns: Mapping[str, Set[int]], families: Mapping[str, str]
) -> dict[str, str]:
    """Return the families of tables that any last word tells apart: `rain_by_month_oslo`.

    As nothing says that such a word names a part, a family is asked for more than in
    `find_families`: four tables beside each other of equal columns, some of which few others have.

    Args:
        columns: As of `find_families`.
        families: What that found; tables in these are in no other.
    """
    kinds = Counter(one for some in {*map(frozenset, columns.values())} for one in some)
    beside: dict[object, list[str]] = defaultdict(list)
    for table_id in sorted(columns.keys() - families.keys()):
        beside[without_last_word(table_id), frozenset(columns[table_id])].append(table_id)
    found: dict[str, str] = {}
    for some in beside.values():
        rare = sum(kinds[one] <= _FEW_KINDS for one in columns[some[0]])
        if len(some) >= _LEAST_NAMED and len(some) * rare >= _LEAST_TELLING:
            found |= dict.fromkeys(some, some[0])
    return found


@lru_cache(maxsize=65_536)
def without_last_word(table_id: str) -> str:
    """Return what tables of a family by words are called alike; an id that can be in none, whole.

    Words before the last one mostly say what a table is about: `ozone_summary`, `lead_summary`.
    """
    place, _, own = table_id.rpartition("/")
    *common, last = name_parts(own) or [""]
    telling = sum(len(one) >= _SHORTEST_WORD and one.isalpha() for one in common)
    if telling < _LEAST_COMMON or not last.isalpha() or last in _NO_PARTS or told_in(last):
        return table_id
    return f"{place}/{' '.join(common)} *"


def _is_dense(numbers: Set[int]) -> bool:
    return len(numbers) >= _DENSE * (1 + max(numbers) - min(numbers))


def _runs(
    table_ids: Sequence[str], numbers: Mapping[str, int]
) -> Iterator[tuple[Sequence[str], Mapping[str, int]]]:
    """Yield tables whose numbers count through; where not all of them do, runs of a few and more.

    So `report_1` to `report_4` are one thing beside `report_1040`, and 00 comes after 99.
    """
    counted = {numbers[one] for one in table_ids}
    if _is_dense(counted):
        yield table_ids, numbers
        return
    if counted >= {0, 99}:
        numbers = {one: n + 100 if n < _NEXT_CENTURY else n for one, n in numbers.items()}
        counted = {numbers[one] for one in table_ids}
    starts, run_of = [0], dict[int, int]()
    for at, number in enumerate(ordered := sorted(counted)):
        start = starts[-1]
        if at - start + 1 < _DENSE * (1 + number - ordered[start]):
            starts.append(at)
        run_of[number] = starts[-1]
    runs: dict[int, list[str]] = defaultdict(list)
    for one in table_ids:
        runs[run_of[numbers[one]]].append(one)
    lengths = Counter(run_of.values())
    for start, run in runs.items():
        if lengths[start] >= _SHORTEST_RUN:
            yield run, numbers


def _of_one_kind(told: Mapping[str, tuple[bool, int | None]]) -> Iterator[dict[str, int]]:
    """Yield those tables of one name that may be together, with their numbers; 0 without any.

    What most are told apart by counts: numbers, or else years, months and regions. Among ten
    thousand numbered tables 1984 is no year; where it does not count through with them, it is.
    """
    counted = {table_id: n for table_id, (counts, n) in told.items() if counts and n is not None}
    if 2 * len(counted) <= len(told):
        yield {table_id: 0 for table_id in told if table_id not in counted}
        return
    yield counted
    every = {table_id: number for table_id, (_, number) in told.items() if number is not None}
    if len(every) > len(counted):
        yield every


def _of_like_columns(
    table_ids: Mapping[str, int], columns: Mapping[str, Set[int]]
) -> list[list[str]]:
    """Return tables of one name in groups of nearly the same columns as their first one's."""
    groups: list[list[str]] = []
    for one in table_ids:
        mine = columns[one]
        for group in groups[:_MOST_COMPARED]:
            if are_alike(mine, columns[group[0]]):
                group.append(one)
                break
        else:
            groups.append([one])
    return [group for group in groups if len(group) > 1]


def are_alike(mine: Set[object], theirs: Set[object]) -> bool:
    """Tell whether two tables have nearly the same columns; those without any are like none."""
    return len(mine & theirs) >= COLUMNS_ALIKE * max(1, len(mine | theirs))


@lru_cache(maxsize=65_536)
def is_part(table_id: str) -> bool:
    """Tell whether a table may be in a family, by its name."""
    return next(_names_of_series(table_id), None) is not None


def _names_of_series(table_id: str) -> Iterator[tuple[str, tuple[bool, int | None]]]:
    """Yield the names of families that a table may be in, and by what it is told apart there.

    That is whether it is by a number, and the number; of a year alone, which may be one, the year.
    """
    *places, own = table_id.split("/")
    within = ["*" if is_told(place) else place for place in places[1:]]
    text = " ".join(name_parts(own))
    told = told_in(own)
    numbers = [one for one in told if one.number][-_MOST_NUMBERS:]
    named = [one for one in told if not one.number]
    if named or (text and "*" in within):
        alone = len(named) == 1 and "*" not in within and named[0].text == named[0].year
        year = int(named[0].year) if alone else None
        yield "/".join([*places[:1], *within, _starred(text, named)]), (False, year)
    for number in numbers:
        stars = sorted([*named, number], key=lambda part: part.start)
        yield "/".join([*places[:1], *within, _starred(text, stars)]), (True, int(number.number))


def _starred(text: str, parts: Sequence[Told]) -> str:
    ends = [0, *(part.end for part in parts)]
    starts = [*(part.start for part in parts), len(text)]
    return "*".join(text[end:start] for end, start in zip(ends, starts, strict=True))


def name_of_family(table_ids: Sequence[str]) -> str:
    """Return what some tables' ids have in common, with a star for the rest: `shop/orders_*`."""
    head = commonprefix(table_ids)  # noqa: RUF071 (of texts, not of paths)
    tail = commonprefix([one[len(head) :][::-1] for one in table_ids])[::-1]  # noqa: RUF071
    if table_ids[0][len(head) : len(head) + 1].isdigit():  # 2019 and 2020 have 20 in common
        head = head.rstrip("0123456789")
    return f"{head}*{tail.lstrip('0123456789')}"


@dataclass(frozen=True, slots=True)
class Family:
    """What a table is a member of, as far as the asker may see it.

    Attributes:
        name: What its members are called, a star for what tells them apart.
        tables: How many members there are.
        first: The oldest member, or that of the lowest number.
        last: The newest, or that of the highest.
        members: The others that the question means, the newest first; `MOST_NAMED` at most.
        absent: Years that the question says and no member is of.
    """

    name: str
    tables: int
    first: str
    last: str
    members: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


MOST_NAMED = 20


def family_of(
    table_id: str, members: Sequence[str], named: Sequence[str], question: str = ""
) -> Family:
    """Return a table's family, whose `members` are given newest first, as those it means are."""
    others = [one for one in named[: MOST_NAMED + 1] if one != table_id][:MOST_NAMED]
    name = name_of_family(members)
    absent = absent_years(question, members)
    return Family(name, len(members), members[-1], members[0], tuple(others), absent)
