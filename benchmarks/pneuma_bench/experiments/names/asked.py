"""What is typed in for a name, and which tables are right."""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from pneuma_bench.experiments.names.lake import Name, NamedTable, Words

SHORTEST_MISTYPED = 5
"""Letters of a name that is asked for with a typo: `cat` mistyped is `car`, `hat` or `at`."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is typed in, and the ids of the tables of which one must come first."""

    text: str
    right: frozenset[str]


class Asker:
    """Draws names of a lake and types them in."""

    def __init__(self, tables: Sequence[NamedTable], seed: int = 1) -> None:
        self._tables = tables
        self._chance = random.Random(seed)
        self._named: dict[str, set[str]] = defaultdict(set)
        self._having: dict[str, set[str]] = defaultdict(set)
        self._saying: dict[Words, set[str]] = defaultdict(set)
        for table in tables:
            self._named[table.name.letters].add(table.table_id)
            for part in _parts(table.name.words):
                self._saying[part].add(table.table_id)
            for column in table.columns:
                self._having[column.letters].add(table.table_id)

    def kinds(self, count: int) -> Iterator[tuple[str, list[Asked]]]:
        """Yield each way of asking, and `count` questions of it."""
        ways: dict[str, Callable[[NamedTable], Asked | None]] = {
            "table, whole": self._whole,
            "table, with its schema": self._with_schema,
            "table, in words": self._in_words,
            "table, a part": self._part,
            "table, one typo": self._mistyped,
            "column, whole": self._column,
            "column, one typo": self._column_mistyped,
        }
        for name, way in ways.items():
            asked = list(self._drawn(way, count))
            yield name, asked
            yield f"{name}, lower case", [Asked(one.text.lower(), one.right) for one in asked]

    def _drawn(self, way: Callable[[NamedTable], Asked | None], count: int) -> Iterator[Asked]:
        """Yield what is asked of tables drawn at random, as far as the lake has as many."""
        for _ in range(20 * count):
            asked = way(self._chance.choice(self._tables))
            if asked is not None:
                yield asked
                count -= 1
            if not count:
                return

    def _whole(self, table: NamedTable) -> Asked:
        return Asked(table.name.written, frozenset(self._named[table.name.letters]))

    def _with_schema(self, table: NamedTable) -> Asked:
        return Asked(f"{table.places[-1]}.{table.name.written}", frozenset([table.table_id]))

    def _in_words(self, table: NamedTable) -> Asked:
        return Asked(" ".join(table.name.words), frozenset(self._named[table.name.letters]))

    def _part(self, table: NamedTable) -> Asked | None:
        """Ask for some of a name's words, in words: any table is right whose name has them."""
        parts = [part for part in _parts(table.name.words) if not self._is_whole("".join(part))]
        if not parts:
            return None
        part = self._chance.choice(parts)
        return Asked(" ".join(part), frozenset(self._saying[part]))

    def _mistyped(self, table: NamedTable) -> Asked | None:
        typed = self._typo(table.name)
        return None if typed is None else Asked(typed, self._whole(table).right)

    def _column(self, table: NamedTable) -> Asked | None:
        column = self._chance.choice(table.columns) if table.columns else None
        if column is None or not column.letters or column.letters in self._named:
            return None  # a table of that name is as right
        return Asked(column.written, frozenset(self._having[column.letters]))

    def _column_mistyped(self, table: NamedTable) -> Asked | None:
        column = self._chance.choice(table.columns) if table.columns else None
        typed = None if column is None else self._typo(column)
        if column is None or typed is None or column.letters in self._named:
            return None
        return Asked(typed, frozenset(self._having[column.letters]))

    def _typo(self, name: Name) -> str | None:
        """Slip once, at a letter; None where that makes no typo or another name of the lake."""
        letters = [at for at, sign in enumerate(name.written) if sign.isalpha()]
        if len(name.letters) < SHORTEST_MISTYPED or not letters:
            return None
        at, text = self._chance.choice(letters), name.written
        new = self._chance.choice(ascii_lowercase)
        typed = self._chance.choice(
            [
                text[:at] + new + text[at:],
                text[:at] + text[at + 1 :],
                text[:at] + new + text[at + 1 :],
                text[:at] + text[at + 1 : at + 2] + text[at] + text[at + 2 :],
            ]
        )
        return None if self._is_whole(Name(typed, ()).letters) else typed

    def _is_whole(self, letters: str) -> bool:
        """Tell a whole name of the lake, which means what is called so."""
        return letters in self._named or letters in self._having


def _parts(words: Words) -> Iterator[Words]:
    """Yield the runs of a name's words but for all of them."""
    for length in range(1, len(words)):
        yield from (words[at : at + length] for at in range(len(words) - length + 1))
