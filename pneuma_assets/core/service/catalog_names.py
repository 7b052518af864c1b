"""Names of tables and columns by the beginnings of their words, for who types."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain

import numpy as np
import numpy.typing as npt
from rapidfuzz import process
from rapidfuzz.distance import OSA

from pneuma_assets.core.terms.fields import name_parts

Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int32]

MOST_TYPED = 8
"""Words that are looked up of what somebody types."""

_LONGEST = 200
_RANKED = 200
"""Names among which the best are chosen."""
_MISTYPED = 4
"""Letters of a word that may have a slip."""
_MOST_WORDS = 200_000
"""Among which a slip is looked for: of so many it takes some 20 ms."""


@lru_cache(maxsize=262_144)
def _words_of(name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name_parts(name[:_LONGEST])))


class NameIndex:
    """All names of a catalogue by their words; never changed, so threads may share it.

    A name is known by its number: the tables come first, by their place, then each different name
    of a column, however many tables have it.

    Args:
        tables: The tables' own names, by place.
        columns: Of each column's name the places of the tables that have it, ascending.
    """

    def __init__(self, tables: Sequence[str], columns: Mapping[str, Sequence[int]]) -> None:
        self._tables = len(tables)
        self._names = [*tables, *columns]
        self._starts, self._holders = _packed(columns.values())
        posted: dict[str, list[int]] = {}
        for number, name in enumerate(self._names):
            for place, word in enumerate(_words_of(name)):
                posted.setdefault(word, []).append(number if place == 0 else ~number)
        self._words = sorted(posted)
        self._ends, postings = _packed(posted[word] for word in self._words)
        self._numbers = np.where(postings < 0, ~postings, postings).astype(np.int32)
        self._ranks = (self._rank()[self._numbers] + len(self._names) * (postings < 0)).astype(
            np.int32
        )

    def _rank(self) -> Numbers:
        """Return the place of each name among all: tables first, then what many tables have."""
        many = np.zeros(len(self._names), np.int64)
        many[self._tables :] = np.diff(self._starts)
        lengths = np.fromiter(map(len, self._names), np.int64, len(self._names))
        is_column = np.arange(len(self._names)) >= self._tables
        order = np.lexsort((lengths, -many, is_column))
        ranks = np.empty(len(order), np.int32)
        ranks[order] = np.arange(len(order), dtype=np.int32)
        return ranks

    def seen(self, tables: Mask) -> Mask:
        """Return which names are of these tables."""
        if not len(self._holders):
            return tables
        columns = np.logical_or.reduceat(tables[self._holders], self._starts[:-1])
        return np.concatenate([tables, columns])

    def suggest(self, typed: str, k: int, tables: Mask, seen: Mask) -> list[tuple[str, int, bool]]:
        """Return up to `k` names with a word for each that is typed, which it begins with.

        Those that begin with what is typed come first, then tables, then columns of many tables.
        Where a word begins none, one slip is forgiven.

        Args:
            typed: A beginning; its words may stand in any order.
            k: Most names.
            tables: Which tables count, by place.
            seen: What `seen` returns of these.

        Returns:
            Of each its name, the place of a table, and whether it is a column's.
        """
        words = list(dict.fromkeys(name_parts(typed[:_LONGEST])))[:MOST_TYPED]
        if not words or k < 1:
            return []
        wanted = seen
        for word in words[:-1]:
            here = np.zeros_like(seen)
            here[self._numbers[self._span(word, seen)]] = True
            wanted = wanted & here
        span = self._span(words[-1], seen)
        numbers, ranks = self._numbers[span], self._ranks[span]
        let_through = wanted[numbers]
        numbers, ranks = numbers[let_through], ranks[let_through]
        if len(ranks) > _RANKED:
            best = np.argpartition(ranks, _RANKED)[:_RANKED]
            numbers, ranks = numbers[best], ranks[best]
        found = dict.fromkeys(numbers[np.argsort(ranks, kind="stable")].tolist())
        ordered = sorted(found, key=lambda number: not self._begins(number, words))
        return [self._told(number, tables) for number in ordered[:k]]

    def _begins(self, number: int, words: Sequence[str]) -> bool:
        return "".join(name_parts(self._names[number][:_LONGEST])).startswith("".join(words))

    def _told(self, number: int, tables: Mask) -> tuple[str, int, bool]:
        if number < self._tables:
            return self._names[number], number, False
        column = number - self._tables
        holders = self._holders[self._starts[column] : self._starts[column + 1]]
        return self._names[number], int(holders[np.argmax(tables[holders])]), True

    def _span(self, word: str, seen: Mask) -> slice:
        """Return where the names stand that have a word which so begins, or nearly.

        What begins words of unseen names alone begins none: else a slip would tell of them.
        """
        span = self._beginning(word)
        if seen[self._numbers[span]].any():
            return span
        if len(word) >= _MISTYPED and len(self._words) <= _MOST_WORDS:
            slips = process.extract(
                word, self._words, scorer=OSA.distance, score_cutoff=1, limit=None
            )
            for near, *_ in slips:
                span = self._beginning(near)
                if seen[self._numbers[span]].any():
                    return span
        return slice(0, 0)

    def _beginning(self, word: str) -> slice:
        """Return where the names stand that have a word which so begins."""
        first = bisect_left(self._words, word)
        last = bisect_left(self._words, word + "\U0010ffff", lo=first)
        return slice(int(self._ends[first]), int(self._ends[last]))


def _packed(lists: Iterable[Sequence[int]]) -> tuple[npt.NDArray[np.int64], Numbers]:
    """Return where each list begins, and all of them in one."""
    kept = list(lists)
    ends = np.zeros(len(kept) + 1, np.int64)
    np.cumsum([len(one) for one in kept], out=ends[1:])
    return ends, np.fromiter(chain.from_iterable(kept), np.int32, int(ends[-1]))
