"""Telling a mistyped table or source from one that has nothing to say."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from pneuma_assets.core.index.base import IndexFilter, SearchIndex
from pneuma_assets.core.service.suggest import check_known
from pneuma_assets.core.tables import source_of


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Names that are no mistake although the index does not hold them.

    Attributes:
        tables: Returns the tables that are known, indexed or not; asked when a name is new.
        sources: The configured sources.
    """

    tables: Callable[[], Iterable[str]] = tuple
    sources: Collection[str] = ()


class KnownNames:
    """Checks the names of filters; one that was once known is not looked for again."""

    def __init__(self, index: SearchIndex, elsewhere: Elsewhere) -> None:
        self._index = index
        self._elsewhere = elsewhere
        self._tables: frozenset[str] = frozenset()
        self._sources = frozenset(elsewhere.sources)

    def check(self, where: IndexFilter) -> None:
        """Raise `ConfigError`, with the nearest names, for a table or source that is unknown."""
        if self._tables.issuperset(where.tables) and self._sources.issuperset(where.sources):
            return
        self._tables = frozenset((*self._index.list_tables(), *self._elsewhere.tables()))
        self._sources = frozenset((*map(source_of, self._tables), *self._elsewhere.sources))
        check_known("table", where.tables, self._tables)
        check_known("source", where.sources, self._sources)
