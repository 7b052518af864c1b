"""What became of a table's columns."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pneuma_assets.core.changes.sketch import CELLS_KEPT, cells_kept
from pneuma_assets.core.tables import Column

SAME_VALUES = 0.5
"""A column of the same type is taken for a renamed one if it has so much of the cells, of those of
both. By 32 cells a column the standard error is 0.09 there, so one that kept all its cells is
never missed, and one that has a fifth of them is not taken for it."""

TELLING_CELLS = 8
"""A column of fewer different cells (a flag) says little: it must stand at the same place, too."""

Cells = Sequence[tuple[int, ...]]
"""Of each column the lowest hashes of its cells (`TableSketch.columns`); empty: not known."""


@dataclass(frozen=True, slots=True)
class SchemaDiff:
    """What became of each column: where those of `now` stood before, by place, if they did."""

    before: Sequence[Column]
    now: Sequence[Column]
    came_from: Mapping[int, int]

    @property
    def added(self) -> list[str]:
        """Names of new columns."""
        return [c.name for at, c in enumerate(self.now) if at not in self.came_from]

    @property
    def dropped(self) -> list[str]:
        """Names of columns that left."""
        stayed = set(self.came_from.values())
        return [c.name for at, c in enumerate(self.before) if at not in stayed]

    @property
    def renamed(self) -> dict[str, str]:
        """What columns are called now, by their name before."""
        pairs = ((self.before[old].name, self.now[at].name) for at, old in self._pairs())
        return {old: now for old, now in pairs if old != now}

    @property
    def retyped(self) -> list[str]:
        """Names of columns of another type than before."""
        return [
            self.now[at].name
            for at, old in self._pairs()
            if self.before[old].type != self.now[at].type
        ]

    @property
    def reordered(self) -> bool:
        """Whether columns that stayed follow each other otherwise."""
        places = [old for _, old in self._pairs()]
        return places != sorted(places)

    @property
    def same_cells(self) -> bool:
        """Whether each row has the cells of the same columns, whatever those are called."""
        return not (self.added or self.dropped or self.retyped or self.reordered)

    def _pairs(self) -> Iterable[tuple[int, int]]:
        return sorted(self.came_from.items())


def schema_diff(
    before: Sequence[Column], now: Sequence[Column], cells_before: Cells = (), cells_now: Cells = ()
) -> SchemaDiff:
    """Find each column again: by its identity, else name, else type and values, if known."""
    came_from: dict[int, int] = {}
    _pair(came_from, [c.identity for c in before], [c.identity for c in now])
    _pair(came_from, [c.name for c in before], [c.name for c in now])
    if len(cells_before) == len(before) and len(cells_now) == len(now):
        _pair_by_values(came_from, before, now, cells_before, cells_now)
    return SchemaDiff(before, now, came_from)


def _pair(came_from: dict[int, int], before: Sequence[str], now: Sequence[str]) -> None:
    """Pair what bears the same mark, one alone on either side, and has no partner yet."""
    taken, counts = set(came_from.values()), (Counter(before), Counter(now))
    old = {mark: at for at, mark in enumerate(before) if mark and at not in taken}
    for at, mark in enumerate(now):
        alone = all(count[mark] == 1 for count in counts)
        if at not in came_from and alone and mark in old:
            came_from[at] = old[mark]


def _pair_by_values(
    came_from: dict[int, int],
    before: Sequence[Column],
    now: Sequence[Column],
    cells_before: Cells,
    cells_now: Cells,
) -> None:
    """Pair columns of the same type and much the same cells, the most alike and nearest first."""
    taken = set(came_from.values())
    most = min(cells_kept(len(before)), cells_kept(len(now)))
    alike = []
    for at, column in enumerate(now):
        for old, other in enumerate(before):
            if at in came_from or old in taken or column.type != other.type:
                continue
            likeness = same_cells(cells_before[old], cells_now[at], most)
            few = min(len(cells_before[old]), len(cells_now[at])) < TELLING_CELLS
            if likeness >= SAME_VALUES and (at == old or not few):
                alike.append((-likeness, abs(at - old), at, old))
    for _, _, at, old in sorted(alike):
        if at not in came_from and old not in taken:
            came_from[at] = old
            taken.add(old)


def same_cells(one: Sequence[int], other: Sequence[int], most: int = CELLS_KEPT) -> float:
    """Return which share of the different cells of two columns both have, from 0 to 1.

    By the lowest hashes of both together, of each at least the `most` lowest. (Broder, "On the
    resemblance and containment of documents", 1997.) A column without a cell is like no other.
    """
    lowest = set(sorted({*one} | {*other})[:most])
    return len(lowest & {*one} & {*other}) / len(lowest) if one and other and lowest else 0.0
