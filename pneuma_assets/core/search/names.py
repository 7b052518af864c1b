"""Names that are typed in: of tables and columns in a question, and in filters.

Whoever knows a name wants what bears it, whatever descriptions of other tables say. A mistyped name
in a filter is told from one that is not indexed.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain

from rapidfuzz.distance import OSA

from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.index.base import IndexFilter, SearchIndex
from pneuma_assets.core.tables import TableTerms, source_of
from pneuma_assets.core.terms.fields import KIND_OF, name_parts
from pneuma_assets.core.terms.name_terms import (
    LONGEST_MISTYPED,
    LONGEST_TYPED,
    SHORTEST_MISTYPED,
    names_of_table,
    unglued,
)
from pneuma_assets.core.text.suggest import check_known

_MOST_SLIPS = 2
"""A name may be mistyped once in `SHORTEST_MISTYPED` letters, so often at most."""

NO_PREFIXES: Mapping[str, str] = {}

_WHOLE_COLUMN, _PART = 2, 3
"""Ranks: of a column's whole name, and of a table's in part."""


@dataclass(frozen=True, slots=True)
class NameMatch:
    """How a table bears the name that was typed in.

    Attributes:
        rank: 0 for the table's whole name as people wrote it, 1 for its letters and digits alone,
            2 for a column's; 3 for part of the table's name, 4 for part of a column's; 5 and 6 for
            the table's or a column's, mistyped once, 7 and 8 for twice.
        name: The name, as people wrote it.
        column: Whether it is a column's.
    """

    rank: int
    name: str
    column: bool


def match_names(
    question: str, found: Mapping[str, TableTerms], prefixes: Mapping[str, str] = NO_PREFIXES
) -> dict[str, NameMatch]:
    """Return which of these tables bear the name that the question is, if it may be one.

    `prefixes` is what tables' names are glued to: without it a name is whole, too.
    """
    letters = "".join(name_parts(question))
    if not 0 < len(letters) <= LONGEST_TYPED:
        return {}
    typed = _Typed(question.strip().casefold(), letters)
    matches = {i: _best(typed, evidence, prefixes.get(i, "")) for i, evidence in found.items()}
    return {table_id: match for table_id, match in matches.items() if match is not None}


@dataclass(frozen=True, slots=True)
class _Typed:
    """What was typed in: as it is, in lower case, and its letters and digits alone."""

    text: str
    letters: str


def _best(typed: _Typed, evidence: TableTerms, prefix: str) -> NameMatch | None:
    """Return the closest of a table's own names: of its places alone, none is its own."""
    matches = chain(
        (_of_table(typed, names, evidence, prefix) for names in names_of_table(evidence)),
        (_of_column(typed, column, evidence) for column in evidence.columns),
    )
    found = (match for match in matches if match is not None)
    return min(found, key=lambda match: match.rank, default=None)


def _of_table(
    typed: _Typed, names: Sequence[str], evidence: TableTerms, prefix: str
) -> NameMatch | None:
    *places, own = names
    name = ".".join(names)
    before = _parts_of(" ".join(places))
    whole = int(typed.text != name.casefold())
    rank = _rank(typed.letters, before, _parts_of(own), evidence.spelled_names, whole, _PART)
    if prefix and not places and prefix + typed.letters == "".join(_parts_of(own)):
        rank = 1
    return None if rank is None else NameMatch(rank, name, column=False)


def _of_column(typed: _Typed, name: str, evidence: TableTerms) -> NameMatch | None:
    parts, spelled = _parts_of(name), evidence.spelled_columns
    rank = _rank(typed.letters, (), parts, spelled, _WHOLE_COLUMN, _PART + 1)
    return None if rank is None else NameMatch(rank, name, column=True)


def _rank(
    letters: str, places: Sequence[str], own: Sequence[str], spelled: str, whole: int, part: int
) -> int | None:
    """Return how closely a name was typed in: its rank as a whole, in part, or with slips."""
    written = "".join((*places, *own))
    if written == letters:
        return whole
    if letters in written:
        split = unglued(own, set(spelled.split()))
        if _is_part(letters, (*places, *split), len("".join(places))):
            return part
    slips = _slips(letters, written)
    return None if slips is None else part + 2 * slips


def _slips(letters: str, written: str) -> int | None:
    """Return how often the name was mistyped; None if it is another, as one of other digits is."""
    most = min(_MOST_SLIPS, len(written) // SHORTEST_MISTYPED)
    if not most or len(written) > LONGEST_MISTYPED or abs(len(written) - len(letters)) > most:
        return None
    if _digits(letters) != _digits(written):
        return None
    slips = OSA.distance(letters, written, score_cutoff=most)
    return slips if slips <= most else None


def _digits(letters: str) -> str:
    return "".join(filter(str.isdigit, letters))


def _is_part(letters: str, parts: Sequence[str], places: int) -> bool:
    """Tell whether whole words of the name, side by side, were typed in, some of them its own.

    Args:
        letters: What was typed in.
        parts: The name's words.
        places: The letters of those in front that are not its own.
    """
    ends = set(accumulate(map(len, parts), initial=0))
    written = "".join(parts)
    starts = (start for start in ends if written.startswith(letters, start))
    return any(start + len(letters) in ends and start + len(letters) > places for start in starts)


@lru_cache(maxsize=65_536)
def _parts_of(name: str) -> Sequence[str]:
    return tuple(name_parts(name))


_OF_EVIDENCE = frozenset(KIND_OF.values())
"""Kinds of which there is something of every table."""


def _waits(_: str) -> str:
    return "it waits for the next run"


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Names that are no mistake although the index does not hold them.

    Attributes:
        tables: Returns the tables that are known, indexed or not; asked when a name is new.
        sources: The configured sources.
        kinds: Returns the kinds of documents that are made; asked when a filter names one.
        why_not: Returns why a table that is known is not indexed.
    """

    tables: Callable[[], Iterable[str]] = tuple
    sources: Collection[str] = ()
    kinds: Callable[[], Collection[str]] = tuple
    why_not: Callable[[str], str] = _waits


class KnownNames:
    """Checks the names of filters; one that was once known is not looked for again."""

    def __init__(self, index: SearchIndex, elsewhere: Elsewhere) -> None:
        self._index = index
        self._elsewhere = elsewhere
        self._tables: frozenset[str] = frozenset()
        self._sources = frozenset(elsewhere.sources)
        self._kinds: frozenset[str] = frozenset()

    def check(self, where: IndexFilter) -> None:
        """Raise `QueryError` for a name that is unknown, or a table that is not indexed.

        The message has the nearest names, or why the table is not indexed. To who may not see all,
        nothing is known but what they may see: a table that is hidden is one that does not exist.
        """
        if where.readers is not None:
            self._check_seen(where, where.readers)
            return
        self._check_kinds(where.kinds)
        if self._holds(where):
            return
        self._tables = frozenset(self._index.list_tables())
        self._sources = frozenset((*map(source_of, self._tables), *self._elsewhere.sources))
        if self._holds(where):  # the index alone can tell: nothing else is opened
            return
        known = self._tables.union(self._elsewhere.tables())
        self._sources = self._sources.union(map(source_of, known))
        check_known("table", where.tables, known, QueryError)
        _check_sources(where.sources, self._sources)
        for table_id in where.tables:
            if table_id not in self._tables:
                why = self._elsewhere.why_not(table_id)
                raise QueryError(f"table '{table_id}' is not indexed: {why}")

    def _check_seen(self, where: IndexFilter, readers: Sequence[str]) -> None:
        """Check names against what who asks may see, in the same words and order as all names."""
        if where.kinds:
            known = _OF_EVIDENCE.union(self._elsewhere.kinds(), self._index.kinds(readers))
            _check_kind(where.kinds, known)
        if where.tables or where.sources:
            seen = self._index.list_tables(readers)
            check_known("table", where.tables, seen, QueryError)
            _check_sources(where.sources, frozenset(map(source_of, seen)))

    def _check_kinds(self, kinds: Collection[str]) -> None:
        """Raise `QueryError` for a kind that is neither made here nor held by the index.

        Another process may have indexed a kind of which this one knows nothing.
        """
        if self._kinds.union(_OF_EVIDENCE).issuperset(kinds):
            return
        self._kinds = frozenset(self._elsewhere.kinds())
        if self._kinds.union(_OF_EVIDENCE).issuperset(kinds):
            return
        self._kinds |= self._index.kinds()
        if self._kinds:  # of an empty index the answer itself is told
            _check_kind(kinds, self._kinds | _OF_EVIDENCE)

    def _holds(self, where: IndexFilter) -> bool:
        return self._tables.issuperset(where.tables) and self._sources.issuperset(where.sources)


def _check_sources(named: Collection[str], known: Collection[str]) -> None:
    lists = "`pneuma-assets sources` lists them"
    check_known("source", named, known, QueryError, otherwise=lists)


def _check_kind(named: Collection[str], known: Collection[str]) -> None:
    there_are = f"use one of: {', '.join(sorted(known))}"
    check_known("kind", named, known, QueryError, otherwise=there_are)
