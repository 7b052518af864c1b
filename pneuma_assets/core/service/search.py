"""Found tables as a page shows them: with cards, marked passages, columns and facets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.index.base import MAX_FILTERED, IndexFilter
from pneuma_assets.core.search.highlight import Marker
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
"""Columns that are compared with a question: of a table by name, of all by what is said of them.
More take longer than the search."""
_LEAST_SAID = 0.5
"""Of a column's name, the share of its words that the question says; else of the question's."""
_VALUES_TOLD = 3


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
    question: str, table_ids: Sequence[str], view: View, analyzer: Analyzer
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

    return sorted(named(), key=lambda one: -one.score)[:MOST_COLUMNS]


def said_columns(
    question: str, table_ids: Sequence[str], view: View, analyzer: Analyzer, store: "Store"
) -> list[ColumnHit]:
    """Return the columns of tables of which descriptions or frequent values say half a question.

    They are looked for in the first tables, best first; none is as good as one that is named.
    """
    asked = frozenset(analyzer.question_terms(question))
    begins = accumulate((len(view.columns_of(one)) for one in table_ids), initial=0)
    ids = [one for one, begin in zip(table_ids, begins, strict=False) if begin < _LOOKED_AT]
    texts = _texts_of(ids, store)

    def said() -> Iterator[ColumnHit]:
        for table_id in ids:
            profiles = store.statistics.column_profiles(table_id)
            for name in view.columns_of(table_id)[:_LOOKED_AT]:
                text, frequent = texts.get((table_id, name), ""), profiles.get(name)
                values = [] if frequent is None else [value for value, _ in frequent.frequent]
                terms = {term for one in (text, *values) for term in analyzer.terms(one)}
                share = len(asked & terms) / len(asked) if asked else 0.0
                if share >= _LEAST_SAID:
                    new = asked - {*analyzer.terms(text)}
                    told = [one for one in values if not new.isdisjoint(analyzer.terms(one))]
                    more = f"often {', '.join(told[:_VALUES_TOLD])}" if told else ""
                    line = "; ".join(filter(None, (text, more)))
                    yield ColumnHit(table_id, name, "", line, share * _LEAST_SAID)

    return sorted(said(), key=lambda one: -one.score)[:MOST_COLUMNS]


def described(
    named: Sequence[ColumnHit], said: Sequence[ColumnHit], marker: Marker, store: "Store"
) -> tuple[ColumnHit, ...]:
    """Return columns that were found with their types, what is said of them, and marks."""
    found = {(one.table_id, one.column): one for one in (*said, *named)}
    best = sorted(found.values(), key=lambda one: -one.score)[:MOST_COLUMNS]
    ids = list(dict.fromkeys(one.table_id for one in best))
    texts = _texts_of(ids, store)
    types = {
        (table.table_id, column.name): column.type
        for table in store.tables.profiles(ids)
        for column in table.columns
    }

    def told(one: ColumnHit) -> ColumnHit:
        key = one.table_id, one.column
        text = one.text or texts.get(key, "")
        marks, text_marks = marker.marks(one.column), marker.marks(text)
        return replace(one, type=types.get(key, ""), text=text, marks=marks, text_marks=text_marks)

    return tuple(map(told, best))


def _texts_of(table_ids: Sequence[str], store: "Store") -> dict[tuple[str, str], str]:
    """Return what is said of the columns of tables, corrected where people did."""
    said = store.narrations.of_tables(table_ids)
    texts = {(i, name): one.text for i, of_table in said.items() for name, one in of_table.items()}
    corrections = store.descriptions.corrections(table_ids)
    return texts | {(one.table_id, one.column): one.text for one in corrections if one.column}


@lru_cache(maxsize=65_536)
def _terms_of_name(analyzer: Analyzer, name: str) -> frozenset[str]:
    return frozenset(analyzer.terms(spaced(name)))
