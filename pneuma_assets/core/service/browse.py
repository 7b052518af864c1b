"""Lists of tables without a question: filters, counts of facets, an order, a part at a time."""

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.service.catalog_names import Mask
from pneuma_assets.core.service.catalog_snapshot import View
from pneuma_assets.core.service.catalog_types import (
    FRESHNESS_DAYS,
    FacetCount,
    FacetCounts,
    Facets,
    Listing,
    TableCard,
)
from pneuma_assets.core.text.suggest import check_known, check_names, check_number, check_text

MOST_LISTED = 1_000
"""Tables of one part of a list."""

MOST_OFFSET = 1_000_000_000
MOST_DAYS = 1_000_000
"""Older than any table."""

_DAY_S = 86_400.0
_MOST_TEXT = 200
_SUGGESTED = 10
"""Values that are named where none is like the one given."""
_VALUES: Mapping[str, Callable[[TableCard], Sequence[str]]] = {
    "source": lambda card: (card.source,),
    "schema": lambda card: (card.schema,),
    "format": lambda card: (card.format,),
    "owner": lambda card: card.owners,
}
SORTS = ("name", "updated", "rows")
"""The orders of a list; but for names, the greatest comes first and what is not known last."""


def browse(view: View, facets: Facets, text: str, sort: str, offset: int, limit: int) -> Listing:
    """Return a part of the tables that an asker sees; see `Workspace.browse`."""
    check_facets(facets, view)
    check_text("the text", text, QueryError)
    if sort not in SORTS:
        raise QueryError(f"sort must be one of {', '.join(SORTS)}, not {sort!r}")
    check_number("offset", offset, 0, MOST_OFFSET)
    check_number("limit", limit, 1, MOST_LISTED)
    among = view.seen & _named(view, text)
    shown = np.flatnonzero(among & filtered(view, facets)).tolist()
    shown.sort(key=_order(view, sort), reverse=sort != "name")
    part = shown[offset : offset + limit]
    tables = tuple(view.card(place) for place in part)
    return Listing(len(shown), offset, limit, tables, facet_counts(view, facets, among))


def _order(view: View, sort: str) -> Callable[[int], tuple[object, ...]]:
    """Return by what the tables at their places are ordered."""
    cards = view.all.cards

    def order(place: int) -> tuple[object, ...]:
        card = cards[place]
        if sort == "name":
            return (card.name.casefold(),)
        if sort == "updated":
            return (card.updated_at or "",)
        return (-1.0 if card.rows is None else card.rows,)

    return order


def check_facets(facets: Facets, view: View) -> None:
    """Raise `QueryError` unless facets are an age in days, and values of tables that an asker sees.

    What hidden tables alone have is unknown in the same words as what none has.
    """
    if not isinstance(facets, Facets):
        raise QueryError(f"facets must be Facets, not {type(facets).__name__}")
    for name, of_card in _VALUES.items():
        wanted = getattr(facets, f"{name}s")
        check_names(f"{name}s of facets", wanted, QueryError)
        if wanted:
            seen = (view.all.cards[place] for place in np.flatnonzero(view.seen))
            known = {value for card in seen for value in of_card(card)}
            some = ", ".join(sorted(known)[:_SUGGESTED])
            check_known(name, wanted, known, QueryError, otherwise=f"there are, say: {some}")
    days = facets.updated_within_days
    if days is not None:
        check_number("updated_within_days", days, 1, MOST_DAYS)


def _named(view: View, text: str) -> Mask:
    """Return the tables whose id has each word of a text in it, capitals aside."""
    words = text[:_MOST_TEXT].casefold().split()
    folded = view.all.folded
    return np.array([all(word in name for word in words) for name in folded], bool)


def filtered(view: View, facets: Facets, but: str = "") -> Mask:
    """Return the tables that facets leave, one facet left out of account."""
    left = np.ones(len(view.seen), bool)
    for name, of_card in _VALUES.items():
        some = {*getattr(facets, f"{name}s")}
        if some and name != but:
            left &= np.array([not some.isdisjoint(of_card(card)) for card in view.all.cards], bool)
    if facets.updated_within_days is not None and but != "freshness":
        left &= view.all.updated >= time.time() - _DAY_S * facets.updated_within_days
    return left


def facet_counts(view: View, facets: Facets, among: Mask) -> FacetCounts:
    """Return how many of some tables have each value, the other facets' filters applied."""
    found: dict[str, tuple[FacetCount, ...]] = {}
    for name, of_card in _VALUES.items():
        counts: dict[str, int] = {}
        for place in np.flatnonzero(among & filtered(view, facets, name)):
            for value in of_card(view.all.cards[place]):
                counts[value] = counts.get(value, 0) + 1
        ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        found[name] = tuple(FacetCount(*pair) for pair in ordered)
    dates = view.all.updated[among & filtered(view, facets, "freshness")]
    return found | {"freshness": _ages(dates)}


def _ages(dates: npt.NDArray[np.float64]) -> tuple[FacetCount, ...]:
    """Return how many tables were written within each age, beyond all, and at an unknown time."""
    ages = (time.time() - dates) / _DAY_S
    within = [(str(days), int((ages <= days).sum())) for days in FRESHNESS_DAYS]
    beyond = int((ages > FRESHNESS_DAYS[-1]).sum())
    unknown = int(np.isnan(ages).sum())
    return tuple(FacetCount(*one) for one in (*within, ("older", beyond), ("unknown", unknown)))
