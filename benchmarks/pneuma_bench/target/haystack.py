"""Ever more tables around those that some questions ask for: real ones first, then made ones."""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import overload

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.tables import Column, Table
from pneuma_bench.sets import RetrievalSet

MOST_ROWS = 50
"""Of a table that others are made of: tables of the web have a dozen, files of a lake thousands."""
_NUMBER = re.compile(r"[-+]?[0-9.,]+%?")

Pair = tuple[Table, Sequence[Row]]


class Haystack(Sequence[Pair]):
    """The tables of a haystack, each made when it is asked for.

    Args:
        asked: Tables that answer the questions.
        others: Real tables that answer none.
        size: How many there are in all.
        seed: Decides what is made.

    Raises:
        BenchmarkError: There are more tables asked for than it may have, or none to make others of.
    """

    def __init__(self, asked: Sequence[Pair], others: Sequence[Pair], size: int, seed: int) -> None:
        if len(asked) > size:
            raise BenchmarkError(
                f"{len(asked):,} tables are asked for, and {size:,} are to be there; ask fewer "
                "questions, or take a larger size"
            )
        self.real = [*asked, *others][:size]
        self._size, self._seed = size, seed
        self._moulds = [mould for mould in _moulds(others).values() if len(mould) > 1]
        if size > len(self.real) and not self._moulds:
            raise BenchmarkError(
                "no two tables have columns of the same kinds, to make others of; give more tables"
            )

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, place: int) -> Pair: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Pair]: ...
    def __getitem__(self, place: int | slice) -> Pair | Sequence[Pair]:
        """Return a table, or several; equal places give equal tables."""
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(self._size))]
        at = range(self._size)[place]
        return self.real[at] if at < len(self.real) else self._made(at)

    def __iter__(self) -> Iterator[Pair]:
        return (self[at] for at in range(self._size))

    def _made(self, at: int) -> Pair:
        rng = random.Random(f"{self._seed} {at}")  # noqa: S311
        (mould,) = rng.choices(self._moulds, [*map(len, self._moulds)])
        (table, rows), (other, cells) = rng.sample(mould, 2)
        if at % 2:
            columns, made = other.columns, list(rows[:MOST_ROWS])
        else:
            columns, made = table.columns, _resampled(rows, cells, rng)
        fresh = tuple(Column(column.name, column.type) for column in columns)
        name = f"hay-{at:07}"
        return Table(f"hay/{name}", fresh, len(made), name), made


def haystack(
    dataset: RetrievalSet, hay: Sequence[RetrievalSet], questions: int, size: int, seed: int
) -> RetrievalSet:
    """Return a set of so many tables, among which the first questions of another have theirs.

    Args:
        dataset: Whose questions.
        hay: Sets whose tables are real ones beside its own.
        questions: How many are asked; the same at every size.
        size: How many tables there are.
        seed: Decides which are made.

    Raises:
        BenchmarkError: As `Haystack`.
    """
    first = dataset.first(questions)
    wanted = {table_id for relevant in first.relevant for table_id in relevant}
    asked = [pair for pair in dataset.tables if pair[0].table_id in wanted]
    others = [pair for pair in dataset.tables if pair[0].table_id not in wanted]
    for number, one in enumerate(hay):
        # Two sets may have a name, and so an id, in common.
        others += [
            (replace(t, table_id=f"hay{number}/{t.table_id}"), rows) for t, rows in one.tables
        ]
    random.Random(seed).shuffle(others)  # noqa: S311
    return replace(first, tables=Haystack(asked, others, size, seed), names={}, contexts={})


def _moulds(tables: Sequence[Pair]) -> dict[str, list[Pair]]:
    """Return the tables by the kinds of their columns: `tn` has a text and a number."""
    moulds: dict[str, list[Pair]] = {}
    for table, rows in tables:
        if len(table.columns) > 1 and len(rows) > 1:
            moulds.setdefault(_kinds(rows), []).append((table, rows))
    return moulds


def _kinds(rows: Sequence[Row]) -> str:
    kinds = ""
    for column in zip(*rows[:MOST_ROWS], strict=True):
        cells = [str(cell).strip() for cell in column if cell]
        numbers = sum(bool(_NUMBER.fullmatch(cell)) for cell in cells)
        kinds += "n" if 2 * numbers > len(cells) else "t"
    return kinds


def _resampled(rows: Sequence[Row], cells: Sequence[Row], rng: random.Random) -> list[Row]:
    """Return half of the rows, with every other cell of text from rows of another table."""
    some = rows[: 2 * MOST_ROWS]
    drawn = rng.sample(range(len(some)), max(1, len(some) // 2))
    kinds = _kinds(rows)
    return [
        tuple(
            rng.choice(cells)[at] if kind == "t" and rng.random() < 0.5 else cell
            for at, (cell, kind) in enumerate(zip(some[place], kinds, strict=True))
        )
        for place in sorted(drawn)
    ]
