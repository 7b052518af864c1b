"""Telling a mistyped name from one that has nothing to say, and from one that is not indexed."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.index.base import IndexFilter, SearchIndex
from pneuma_assets.core.tables import source_of
from pneuma_assets.core.terms.fields import KIND_OF
from pneuma_assets.core.text.suggest import check_known

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
