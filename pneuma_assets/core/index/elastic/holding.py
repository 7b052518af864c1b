"""Which tables have given values as whole cells: one search of all values, which scores nothing.

Each value is a clause with a name, and each table that is found is told with the names of those
that it matches: so what it costs to say who may see what is paid once, not a value.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import IndexFilter
from pneuma_assets.core.index.elastic.batches import without_kinds
from pneuma_assets.core.index.elastic.counted import MOST_CLAUSES
from pneuma_assets.core.index.elastic.requests import (
    MAX_CANDIDATES,
    Filters,
    Search,
    where_filters,
)
from pneuma_assets.core.index.elastic.sight import Sights
from pneuma_assets.core.index.elastic.target import Opened
from pneuma_assets.core.index.elastic.text import token, unescape
from pneuma_assets.core.index.elastic.transport import Answer, Transport
from pneuma_assets.core.terms.fields import Field

Holders = dict[str, tuple[str, ...]]
"""By the term of a value, the tables that have it, by table id."""


def holding(
    transport: Transport, sights: Sights, terms: Sequence[str], where: IndexFilter
) -> Holders:
    """Return the tables that have each of these terms as a whole cell, with one request.

    Where who asks may not see all, the state is read before; where more tables are found than a
    page holds, all are asked for again, page by page.
    """
    if not terms:
        return {}

    def first(opened: Opened) -> list[Search]:
        return [_page(search) for search in _searches(terms, opened, _filters(where))]

    def every(opened: Opened) -> list[Answer]:
        sight = [] if where.readers is None else sights.of(opened, where.readers).filters
        searches = _searches(terms, opened, [*sight, *_filters(where)])
        return [_all(transport, opened, search) for search in searches]

    if where.readers is None:
        answers = transport.ask(first)
        if all(len(hits) < MAX_CANDIDATES for hits in answers):
            return _read(terms, answers)
    return _read(terms, transport.at_newest(every))


def _filters(where: IndexFilter) -> Filters:
    return where_filters(without_kinds(where))


def _searches(terms: Sequence[str], opened: Opened, filters: Filters) -> list[Search]:
    """Return the searches for the tables of so many values each."""
    return [
        {
            "query": {"bool": {"filter": [*opened.state.visible(), *filters, _any_of(some)]}},
            "sort": [{"table_id": "asc"}],
            "stored_fields": "_none_",
        }
        for some in chunks(terms, MOST_CLAUSES)
    ]


def _any_of(terms: Sequence[str]) -> Search:
    """Return the clause of any of these values; a value's name is its place."""
    clauses = [
        {"term": {Field.CELLS.value: {"value": token(term), "_name": str(place)}}}
        for place, term in enumerate(terms)
    ]
    return {"bool": {"should": clauses, "minimum_should_match": 1}}


def _page(search: Search) -> Search:
    return {**search, "size": MAX_CANDIDATES, "track_total_hits": False}


def _all(transport: Transport, opened: Opened, search: Search) -> Answer:
    pages = transport.pages(opened, search, MAX_CANDIDATES)
    return [hit for page in pages for hit in page]


def _read(terms: Sequence[str], answers: Sequence[Answer]) -> Holders:
    found: dict[str, list[str]] = {term: [] for term in terms}
    for some, hits in zip(chunks(terms, MOST_CLAUSES), answers, strict=True):
        for table_id, places in map(_held, hits):
            for place in places:
                found[some[place]].append(table_id)
    return {term: tuple(sorted(ids)) for term, ids in found.items()}


def _held(hit: Mapping[str, Any]) -> tuple[str, Iterator[int]]:
    return unescape(hit["sort"][0]), map(int, hit["matched_queries"])
