"""Facets by which a list of tables is narrowed, as boxes that can be ticked."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pneuma_assets.core.service.catalog_types import FacetCounts

_TITLES = {"source": "Source", "schema": "Schema or folder", "format": "Kind", "owner": "Owner"}
_AGES = {"1": "Within a day", "7": "Within a week", "30": "Within a month", "365": "Within a year"}
_MOST = 8
"""Values of a facet that are shown, but for those that are chosen."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value with the number of its tables."""

    value: str
    label: str
    tables: int
    chosen: bool


@dataclass(frozen=True, slots=True)
class Facet:
    """A facet with the values that are shown; `more` are not."""

    key: str
    title: str
    input: str
    shown: tuple[Value, ...]
    more: int = 0


def facets_of(counts: FacetCounts, chosen: Mapping[str, Collection[str]]) -> list[Facet]:
    """Return the facets by which tables can be told apart, or are already.

    Args:
        counts: Of each facet.
        chosen: Of each facet the values that are wanted; those of `within` are days.
    """
    if not any(one.tables for values in counts.values() for one in values) and not any(
        chosen.values()
    ):
        return []
    found = {key: {one.value: one.tables for one in values} for key, values in counts.items()}
    named = [_named(key, found.get(key, {}), chosen[key]) for key in _TITLES]
    return [
        *(one for one in named if one.shown),
        _ages(found.get("freshness", {}), chosen["within"]),
    ]


def _named(key: str, found: Mapping[str, int], chosen: Collection[str]) -> Facet:
    names = [*chosen, *[one for one in found if one not in chosen][:_MOST]]
    if len(found) < 2 and not chosen:
        names = []
    shown = (Value(one, one or "none", found.get(one, 0), one in chosen) for one in names)
    return Facet(key, _TITLES[key], "checkbox", tuple(shown), len(found.keys() - {*names}))


def _ages(found: Mapping[str, int], chosen: Collection[str]) -> Facet:
    every = sum(found.get(one, 0) for one in ("365", "older", "unknown"))
    shown = [Value(one, name, found.get(one, 0), one in chosen) for one, name in _AGES.items()]
    return Facet("within", "Updated", "radio", (*shown, Value("", "Any time", every, not chosen)))
