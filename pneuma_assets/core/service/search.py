"""Found tables as a page shows them: with cards, marked passages, columns and facets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.index.base import MAX_FILTERED, IndexFilter
from pneuma_assets.core.search.marks import Marker
from pneuma_assets.core.search.results import TableResult
from pneuma_assets.core.service.browse import facet_counts, filtered
from pneuma_assets.core.service.catalog_names import Mask
from pneuma_assets.core.service.catalog_snapshot import View
from pneuma_assets.core.service.catalog_types import (
    ColumnHit,
    FacetCounts,
    Facets,
    Marked,
    SearchHit,
)
from pneuma_assets.core.terms.fields import spaced
from pneuma_assets.core.text.analysis import Analyzer

if TYPE_CHECKING:
    from pneuma_assets.core.store import Store

MOST_COLUMNS = 20
_LOOKED_AT = 2_000
"""Columns of a table that are compared with a question: more take longer than the search."""
_LEAST_SAID = 0.5
"""Of a column's name, the share of its words that the question says."""


@dataclass(frozen=True, slots=True)
class Searched:
    """Which tables one question is asked of.

    Attributes:
        total: How many they are.
        facets: Their counts.
        where: The caller's filter, with the sources that facets leave.
        tables: The tables that facets leave; None: `where` tells.
    """

    total: int
    facets: FacetCounts
    where: IndexFilter
    tables: Sequence[str] | None

    @classmethod
    def of(cls, view: View, where: IndexFilter, facets: Facets) -> "Searched":
        """Return what facets leave of the tables that an asker sees.

        Raises:
            QueryError: They leave more than one search can name.
        """
        among = _among(view, where)
        left = among & filtered(view, facets)
        total, counts = int(left.sum()), facet_counts(view, facets, among)
        if facets == Facets():
            return cls(total, counts, where, None)
        cards = [view.all.cards[place] for place in np.flatnonzero(left)]
        if cards and facets == Facets(sources=facets.sources) and not where.sources:
            sources = tuple(dict.fromkeys(one.source for one in cards))
            return cls(total, counts, replace(where, sources=sources), None)
        if total > MAX_FILTERED:
            raise QueryError(
                f"These filters leave {total:,} tables, and one search can be restricted to "
                f"{MAX_FILTERED:,}; choose another filter, or a source alone."
            )
        return cls(total, counts, where, [one.table_id for one in cards])


def _among(view: View, where: IndexFilter) -> Mask:
    """Return the tables that are searched, whatever the facets."""
    among: Mask = view.seen & view.all.searchable
    for names, key in ((where.tables, "table_id"), (where.sources, "source")):
        if names:
            wanted = set(names)
            among &= np.array([getattr(one, key) in wanted for one in view.all.cards], bool)
    return among


def hit_of(result: TableResult, view: View, marker: Marker) -> SearchHit:
    """Return a table that was found, with why."""
    signals = result.parts.signals
    whole = sum(signals.values()) or 1.0
    return SearchHit(
        result,
        view.card_of(result.table_id),
        Marked(result.text, marker.marks(result.text)),
        result.columns,
        {name: value / whole for name, value in signals.items()},
    )


def named_columns(
    question: str, table_ids: Sequence[str], view: View, analyzer: Analyzer, marker: Marker
) -> list[ColumnHit]:
    """Return the columns of tables that a question names, best first, untold what they are.

    A column is named by words of its name, most of which the question says.
    """
    asked = frozenset(analyzer.question_terms(question))

    def named() -> Iterator[ColumnHit]:
        for table_id in table_ids:
            for name in view.columns_of(table_id)[:_LOOKED_AT]:
                terms = _terms_of_name(analyzer, name)
                said = len(terms & asked) / len(terms) if terms else 0.0
                if said >= _LEAST_SAID:
                    yield ColumnHit(table_id, name, "", "", said)

    best = sorted(named(), key=lambda one: -one.score)[:MOST_COLUMNS]
    return [replace(one, marks=marker.marks(one.column)) for one in best]


def described(columns: Sequence[ColumnHit], store: "Store") -> tuple[ColumnHit, ...]:
    """Return columns with their types, and what is said of them."""
    ids = list(dict.fromkeys(one.table_id for one in columns))
    types = {
        (table.table_id, column.name): column.type
        for table in store.tables.profiles(ids)
        for column in table.columns
    }
    said = store.narrations.of_tables(ids)
    corrected = {(c.table_id, c.column): c.text for c in store.descriptions.corrections(ids)}

    def told(one: ColumnHit) -> ColumnHit:
        key = one.table_id, one.column
        indexed = said[one.table_id].get(one.column)
        text = corrected.get(key, "" if indexed is None else indexed.text)
        return replace(one, type=types.get(key, ""), text=text)

    return tuple(map(told, columns))


@lru_cache(maxsize=65_536)
def _terms_of_name(analyzer: Analyzer, name: str) -> frozenset[str]:
    return frozenset(analyzer.terms(spaced(name)))
