"""Which tables that are gone are there under another name."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Named:
    """A table, and what it has in common with itself under another name.

    Attributes:
        table_id: What it is called.
        marks: What of it stays the same: identity and format, or columns and rows; empty where
            nothing is known that would.
    """

    table_id: str
    marks: tuple[object, ...]

    @property
    def own_name(self) -> str:
        """Its name without the folders or schemas that it lies in."""
        return self.table_id.rpartition("/")[2]


def renamed(gone: Iterable[Named], new: Iterable[Named]) -> dict[str, str]:
    """Return the new name of each table that only got another one, by its old id.

    Where several tables have the same marks, those that keep their own name in another folder are
    found by it; which of the others is which nobody knows, so they are none.
    """
    old_by, new_by = _by_marks(gone), _by_marks(new)
    found: dict[str, str] = {}
    for marks in old_by.keys() & new_by.keys():
        before, after = old_by[marks], new_by[marks]
        if len(before) == len(after) == 1:
            found[before[0].table_id] = after[0].table_id
            continue
        by_name, places = _alone(before), _alone(after)
        found |= {by_name[n]: places[n] for n in by_name.keys() & places.keys()}
    return found


def _by_marks(tables: Iterable[Named]) -> dict[tuple[object, ...], list[Named]]:
    found: dict[tuple[object, ...], list[Named]] = defaultdict(list)
    for one in tables:
        if one.marks:
            found[one.marks].append(one)
    return found


def _alone(tables: Iterable[Named]) -> dict[str, str]:
    found: dict[str, list[str]] = defaultdict(list)
    for one in tables:
        found[one.own_name].append(one.table_id)
    return {name: ids[0] for name, ids in found.items() if len(ids) == 1}
