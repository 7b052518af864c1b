"""Where a text about several tables names one of them."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

from pneuma_assets.core.evidence.fields import name_parts

Tables = frozenset[str]
"""Tables by their file names; none: what is said is said of all."""

NONE: Tables = frozenset()

_QUOTED = re.compile(r"(`{1,2}|\*\*|__|[\"'\u2018\u201c])([^`*\"\n]{1,200}?)(?:\1|[\u2019\u201d])")
_PARTS = re.compile(r"\s*[|()\[\]]\s*|\s*:(?:\s+|$)|\s+(?:[-\u2013\u2014]{1,3}|=|#)\s+|\t+|\s{3,}")
_SEVERAL = re.compile(r"\s*[,;&+]\s*(?:and\s+)?|\s+and\s+")
_COMPOUND = re.compile(r"\w[_\-.]\w")
_BESIDE = frozenset(["csv", "data", "dataset", "file", "sheet", "table"])
_FILLING = _BESIDE | {"a", "an", "and", "chapter", "no", "number", "section", "set", "the"}
_LONGEST_NAME = 12


class TableNames:
    """Finds tables by their file names, with an extension or without, however they are spelled."""

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        """Take each name that a document may use, and the file that it is of."""
        self._tables: dict[tuple[str, ...], set[str]] = {}
        self._sure: set[tuple[str, ...]] = set()
        self._sizes: dict[str, set[int]] = {}
        for name, table in names:
            words = tuple(name_parts(name))
            if words and len(words) <= _LONGEST_NAME:
                self._tables.setdefault(words, set()).add(table)
                self._sizes.setdefault(words[0], set()).add(len(words))
                if _COMPOUND.search(name):
                    self._sure.add(words)

    @cached_property
    def all(self) -> Tables:
        """All tables."""
        return NONE.union(*self._tables.values())

    def inside(self, text: str) -> Tables:
        """Return what a heading names: where names lie in one another, the longest is meant."""
        return self._of(run for run, _ in self._runs(name_parts(text)))

    def heading(self, text: str) -> Tables:
        """Return what a heading or a cell is about and nothing else.

        That is its first part with words, or each of several names in it: `sales.csv: what was
        sold`, `orders and customers`, `The table sales`.
        """
        head = next((part for part in _PARTS.split(text) if name_parts(part)), "")
        named = [self._alone(one) for one in _SEVERAL.split(head)]
        return NONE.union(*named) if all(named) else NONE

    def entry(self, text: str, *, sure: bool) -> Tables:
        """Return what an item of a list is about: it begins with a name.

        Args:
            text: Without the mark of the item.
            sure: Whether the name must be one beyond doubt, as in `sure`.
        """
        words = name_parts(text)
        run, at = next(self._runs(words), ((), 1))
        quoted = _QUOTED.match(text)
        begins = at == 0 and (run in self._sure or (not sure and quoted is not None))
        named = self._of([run]) if begins else NONE
        return named if sure else self.heading(text) or named

    def sure(self, text: str) -> Tables:
        """Return what prose names beyond doubt.

        The name is of several words or has its extension, it is quoted, or "table" or the like
        stands beside it. `orders` alone is a word like any other.
        """
        words = name_parts(text)
        runs = list(self._runs(words))
        sure = (run for run, at in runs if run in self._sure or _is_called(words, at, len(run)))
        quoted = (self._whole(name_parts(one[2])) for one in _QUOTED.finditer(text))
        return self._of(sure).union(*quoted)

    def _alone(self, text: str) -> Tables:
        words = name_parts(text)
        return self._whole(words) or self._whole([word for word in words if word not in _FILLING])

    def _whole(self, words: Sequence[str]) -> Tables:
        return frozenset(self._tables.get(tuple(words), ()))

    def _of(self, runs: Iterable[tuple[str, ...]]) -> Tables:
        return NONE.union(*(self._tables[run] for run in runs))

    def _runs(self, words: Sequence[str]) -> Iterator[tuple[tuple[str, ...], int]]:
        """Yield the names in a text and where they begin, none inside another."""
        at = 0
        while at < len(words):
            sizes = sorted(self._sizes.get(words[at], ()), reverse=True)
            tried = (tuple(words[at : at + size]) for size in sizes)
            run = next((one for one in tried if one in self._tables), None)
            if run is not None:
                yield run, at
            at += 1 if run is None else len(run)


def _is_called(words: Sequence[str], at: int, size: int) -> bool:
    around: Collection[str] = (*words[max(0, at - 1) : at], *words[at + size : at + size + 1])
    return not _BESIDE.isdisjoint(around)
