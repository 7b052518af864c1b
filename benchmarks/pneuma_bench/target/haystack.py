"""A haystack of any size: the tables that are asked for, other real ones, and ones made of these.

TARGET (Ji et al., 2025, figure 4) adds tables of GitTables to those of FeTaQA; they cannot be had
offline. Here the others are real tables as far as there are any, and then, half each:

- re-headed ones: a real table's rows under the column names of another one whose columns are of the
  same kinds, texts or numbers;
- re-sampled ones: half of a real table's rows, every other cell of its text columns taken from
  such another table.

So their words, numbers and shapes are those of real tables, but rows and header agree less. No row
of a table that is asked for is used, so no table that is made answers a question. The tables of a
haystack are the first of every larger one with the same seed. They are made when they are read:
100,000 take no memory.
"""

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
        self._real = [*asked, *others][:size]
        self._size, self._seed = size, seed
        self._moulds = [mould for mould in _moulds(others).values() if len(mould) > 1]
        if size > len(self._real) and not self._moulds:
            raise BenchmarkError(
                "no two tables have columns of the same kinds, to make others of; give more tables"
            )
        self._weights = [len(mould) for mould in self._moulds]

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
        return self._real[at] if at < len(self._real) else self._made(at)

    def __iter__(self) -> Iterator[Pair]:
        return (self[at] for at in range(self._size))

    @property
    def real(self) -> int:
        """How many are real."""
        return len(self._real)

    def _made(self, at: int) -> Pair:
        rng = random.Random(f"{self._seed} {at}")  # noqa: S311
        (mould,) = rng.choices(self._moulds, self._weights)
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
            kinds = "".join(_kind(rows, at) for at in range(len(table.columns)))
            moulds.setdefault(kinds, []).append((table, rows))
    return moulds


def _kind(rows: Sequence[Row], at: int) -> str:
    cells = [row[at] for row in rows[:MOST_ROWS] if row[at]]
    numbers = sum(bool(_NUMBER.fullmatch(str(cell).strip())) for cell in cells)
    return "n" if cells and 2 * numbers > len(cells) else "t"


def _resampled(rows: Sequence[Row], cells: Sequence[Row], rng: random.Random) -> list[Row]:
    """Return half of the rows, with every other cell of text from rows of another table."""
    some = rows[: 2 * MOST_ROWS]
    drawn = rng.sample(range(len(some)), max(1, len(some) // 2))
    texts = [kind == "t" for kind in (_kind(rows, at) for at in range(len(rows[0])))]
    return [
        tuple(
            rng.choice(cells)[at] if is_text and rng.random() < 0.5 else cell
            for at, (cell, is_text) in enumerate(zip(some[place], texts, strict=True))
        )
        for place in sorted(drawn)
    ]
