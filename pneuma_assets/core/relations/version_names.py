"""What a table's name says of it: that it is somebody's backup, test, old version or snapshot.

A word marks a copy only as a whole part at either end of a name (`orders_bak`, `tmp_orders`), and
most such words are also words of everyday names (`blood_test`, `old_age_pension`). Those count only
beside a table whose name is the rest. Marks never tell that a table is a copy: they tell which of
two that are alike stands behind the other.
"""

from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from urllib.parse import unquote

from pneuma_assets.core.terms.fields import name_parts

_SURE = """
backup bak bkp bkup bck sicherung sauvegarde respaldo
copy dup kopie copie copia
stg staging
tmp
snapshot
deprecated
obsolete
wip
"""
"""A line for each kind of copy."""
_OFTEN = """
old test tests testing temp sample samples archive archived dev prev previous legacy draft shadow
backups copies duplicate duplicates snapshots scratch sandbox
"""

SURE = frozenset(_SURE.split())
"""Words at the end or beginning of a name that hardly name anything but a copy."""

_KINDS = {word: line.split()[0] for line in _SURE.splitlines() for word in line.split()}

OFTEN = frozenset(_OFTEN.split())
"""Words that name a copy beside the table that the rest of the name names, and much else."""

_COUNTED = frozenset({"v", "r", "rev", "version", "release"})
"""What a number behind it counts: versions."""

_MOST_DIGITS = 3
"""Of a number that counts copies: `backup2`, `copy 12`, `v2`."""
_YEARS = range(1900, 2200)
_MOST_PARTS = 64
"""Of a name, so many at each end are looked at."""

Parts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlainName:
    """A table's name without what marks a copy.

    Attributes:
        stem: Letters and digits of what is left of the table's own name.
        marks: What was left out of it, and the words by which its schema or folders are places of
            copies; in lower case.
    """

    stem: str
    marks: Parts = ()


def kinds_of_copy(words: Iterable[str]) -> frozenset[str]:
    """Return what kinds of copies some words name by `SURE`: `bak` and `backup` name one."""
    return frozenset(_KINDS[word] for word in words if word in _KINDS)


def plain_name(table_id: str, known: Container[str] = ()) -> PlainName:
    """Return what a table would be called if it were no copy.

    A word of `OFTEN`, and a version such as `v2` or `r34`, counts where what is left of the name is
    among the letters of other tables' names (`letters_of`).
    """
    *places, own = _parts_of(table_id)
    marks: list[str] = []
    while (shorter := _without_a_mark(own, known)) is not None:
        own, mark = shorter
        marks += mark
    return PlainName("".join(own), (*marks, *(word for one in places for word in _of_place(one))))


def letters_of(table_id: str) -> str:
    """Return letters and digits of a table's own name, in lower case."""
    return "".join(_parts_of(table_id)[-1])


def spellings_of(table_id: str) -> frozenset[str]:
    """Return the letters of a table's own name, alone and with ever more of what it lies in."""
    parts = ["".join(part) for part in _parts_of(table_id)]
    return frozenset("".join(parts[at:]) for at in range(len(parts)))


@lru_cache(maxsize=65_536)
def _parts_of(table_id: str) -> tuple[Parts, ...]:
    names = (unquote(part, errors="replace") for part in table_id.split("/"))
    return tuple(tuple(name_parts(name)) for name in names)


def _without_a_mark(parts: Parts, known: Container[str]) -> tuple[Parts, Parts] | None:
    """Return what is left of a name without one mark, and the mark; None where there is none."""
    for rest, mark, sure in _marks(parts):
        if sure or "".join(rest) in known:
            return rest, mark
    return None


@lru_cache(maxsize=65_536)
def _marks(parts: Parts) -> Sequence[tuple[Parts, Parts, bool]]:
    """Return what may mark a copy, at the end first: the rest, the mark, whether it surely does."""
    ends = ((parts[:-n], parts[-n:], sure) for n, sure in _at_end(parts[-_MOST_PARTS:]))
    starts = ((parts[n:], parts[:n], sure) for n, sure in _at_start(parts[:_MOST_PARTS]))
    return tuple(one for one in (*ends, *starts) if one[0])


def _at_end(parts: Parts) -> Iterator[tuple[int, bool]]:
    """Yield how many of the last parts are a mark, and whether they are surely."""
    yield from ((count, True) for count in _date_at_end(parts))
    counted = len(parts) > 1 and parts[-1].isdecimal() and len(parts[-1]) <= _MOST_DIGITS
    last = 2 if counted else 1
    word = parts[-last] if len(parts) >= last else ""
    if word in SURE or word in OFTEN or (counted and word in _COUNTED):
        yield last, word in SURE


def _at_start(parts: Parts) -> Iterator[tuple[int, bool]]:
    if parts[:2] in {("copy", "of"), ("kopie", "von"), ("copie", "de"), ("copia", "de")}:
        yield 2, True
    if parts and (parts[0] in SURE or parts[0] in OFTEN):
        yield 1, parts[0] in SURE
    yield from ((count, True) for count in (3, 1) if _is_date(parts[:count]))


def _date_at_end(parts: Parts) -> Iterator[int]:
    """Yield how many of the last parts are a day, or a day and a time: 2023_01_31, 20230131T0930.

    A year or a month is none: what is called by those is a part of a series, not a snapshot.
    """
    for time in range(3):
        day, clock = parts[: len(parts) - time], parts[len(parts) - time :]
        if all(part == "t" or (part.isdecimal() and len(part) in {4, 6}) for part in clock):
            yield from (count + time for count in (3, 1) if _is_date(day[-count:]))


def _is_date(parts: Parts) -> bool:
    digits = "".join(parts) if len(parts) in {1, 3} else ""
    if len(digits) != len("20230131") or not (digits.isascii() and digits.isdecimal()):
        return False
    with suppress(ValueError):
        return date.fromisoformat(digits).year in _YEARS
    return False


@lru_cache(maxsize=65_536)
def _of_place(parts: Parts) -> Collection[str]:
    """Return the word by which a schema or folder is one of copies: `sales_backup`, `old`."""
    if len(parts) == 1 and parts[0] in OFTEN:
        return parts
    return [part for part in dict.fromkeys((*parts[:1], *parts[-1:])) if part in SURE]
