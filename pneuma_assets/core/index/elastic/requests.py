"""The searches that are sent, and how their answers are read."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pneuma_assets.core.index.base import Hit, IndexFilter, TableHit
from pneuma_assets.core.index.elastic.documents import BLOCK_FIELDS, TABLE, block_from
from pneuma_assets.core.index.elastic.evidence import joined
from pneuma_assets.core.index.elastic.failures import item_error
from pneuma_assets.core.index.elastic.mapping import LUCENE_FACTOR, factor_of
from pneuma_assets.core.index.elastic.text import escape, unescape
from pneuma_assets.core.tables import DocumentKind, Vector
from pneuma_assets.core.terms.fields import Field

Filters = list[dict[str, Any]]
Search = dict[str, Any]

MAX_CANDIDATES = 10_000
"""Elasticsearch's own bound on the neighbours of one search and on the hits of one page."""

_SPARE = 50
"""Neighbours beyond the limit, so that equal scores at its end are cut by block id."""
_BREADTH = 2.0
"""Nodes of the graph that are kept in view, for each neighbour that is wanted."""
_RESCORED = {"bbq": 3.0, "int8": 1.5}
"""Neighbours scored exactly, for each one that is wanted; see docs/elasticsearch.md."""

BY_SCORE = ["_score", {"block_id": "asc"}]
"""Best first, equal ones by block id."""
BY_TABLE = ["_score", {"table_id": "asc"}]
BY_ROW = [*BY_TABLE, {"row": "asc"}]
"""Best first, equal ones by table id, then by the number of the row."""
_A_TABLE = {"collapse": {"field": "table_id"}}
"""Keeps the first hit of each table."""


def a_table_each() -> Search:
    """Return what keeps the first hit of each table."""
    return dict(_A_TABLE)


def where_filters(where: IndexFilter) -> Filters:
    """Return a filter for each part that restricts."""
    wanted = {
        "source": [escape(value) for value in where.sources],
        "table_id": [escape(value) for value in where.tables],
        "kind": list(where.kinds),
    }
    return [{"terms": {field: values}} for field, values in wanted.items() if values]


def kinds_but(silent: Sequence[DocumentKind]) -> Filters:
    """Return a filter that shuts out kinds of documents; none where there are none."""
    return [{"bool": {"must_not": {"terms": {"kind": list(silent)}}}}] if silent else []


def lexical_search(terms: Sequence[str], filters: Filters, limit: int) -> Search:
    """Return the search for the best blocks by BM25 over a question's terms."""
    matching = {"bool": {"should": _clauses(terms), "minimum_should_match": 1, "filter": filters}}
    return {**_page(limit), "query": matching, "_source": list(BLOCK_FIELDS)}


def semantic_search(vector: Vector, filters: Filters, limit: int, quantization: str) -> Search:
    """Return the search for the nearest blocks: found by short vectors, scored by the full ones."""
    k = min(limit + _SPARE, MAX_CANDIDATES)
    breadth = min(int(_BREADTH * k), MAX_CANDIDATES)
    nearest = _nearest(vector, filters, k, breadth, quantization)
    return {**_page(limit), "query": nearest, "_source": list(BLOCK_FIELDS)}


def field_search(field: Field, terms: Sequence[str], filters: Filters, limit: int) -> Search:
    """Return the search for the best tables of one field of evidence.

    The order alone tells all that is asked, so no document is fetched.
    """
    matching = {"match": {field.value: joined(terms)}}
    search = {
        "size": limit,
        "sort": BY_ROW if field is Field.ROWS else BY_TABLE,
        "track_total_hits": False,
        "stored_fields": "_none_",
        "query": {"bool": {"must": matching, "filter": filters}},
    }
    return {**search, **_A_TABLE} if field is Field.ROWS else search


def lexical_scores(terms: Sequence[str], filters: Filters, block_ids: Sequence[str]) -> Search:
    """Return the search for BM25 of given blocks; those without any of the terms score 0."""
    given = [{"terms": {"block_id": list(block_ids)}}, *filters]
    scored = {"bool": {"filter": given, "should": _clauses(terms), "minimum_should_match": 0}}
    return {**_page(len(block_ids)), "query": scored, "_source": False}


def semantic_scores(
    vector: Vector, filters: Filters, block_ids: Sequence[str], quantization: str
) -> Search:
    """Return the search for the cosines of given blocks.

    The filter leaves fewer blocks than neighbours are asked for, so the graph is not used.
    """
    given = [{"terms": {"block_id": list(block_ids)}}, *filters]
    every = _nearest(vector, given, MAX_CANDIDATES, MAX_CANDIDATES, quantization)
    return {**_page(len(block_ids)), "query": every, "_source": False}


def lexical_tables(terms: Sequence[str], filters: Filters, count: int) -> Search:
    """Return the search for the best block of each of `count` tables by BM25."""
    return {**lexical_search(terms, filters, count), **_A_TABLE}


def semantic_tables(vector: Vector, filters: Filters, count: int, quantization: str) -> Search:
    """Return the search for the nearest block of each of `count` tables.

    It is exact where the filter leaves at most `MAX_CANDIDATES` blocks.
    """
    every = _nearest(vector, filters, MAX_CANDIDATES, MAX_CANDIDATES, quantization)
    return {**_page(count), "query": every, "_source": list(BLOCK_FIELDS), **_A_TABLE}


def table_records(filters: Filters, count: int) -> Search:
    """Return the search for the records of `count` tables, with their numbers of blocks."""
    return {
        "size": count,
        "sort": [{"table_id": "asc"}, {"blocks": "asc"}],
        "track_total_hits": False,
        "stored_fields": "_none_",
        "query": {"bool": {"filter": [{"term": {"doc": TABLE}}, *filters]}},
    }


def given_tables(table_ids: Sequence[str]) -> dict[str, Any]:
    """Return the filter that lets these tables through."""
    return {"terms": {"table_id": [escape(one) for one in table_ids]}}


def lexical_score(hit: Mapping[str, Any]) -> float:
    """Return a hit's BM25 as textbooks have it."""
    return float(hit["_score"]) / LUCENE_FACTOR


def semantic_score(hit: Mapping[str, Any]) -> float:
    """Return a hit's cosine; Elasticsearch moves it to between 0 and 1."""
    return 2.0 * float(hit["_score"]) - 1.0


def lexical_hit(hit: Mapping[str, Any]) -> Hit:
    """Return a hit of the words' side."""
    return Hit(block_from(hit), lexical_score(hit))


def table_hit(field: Field, hit: Mapping[str, Any]) -> TableHit:
    """Return a hit in a field of evidence."""
    return TableHit(unescape(hit["sort"][1]), float(hit["sort"][0]) / factor_of(field))


def semantic_hit(hit: Mapping[str, Any]) -> Hit:
    """Return a hit of the meaning's side."""
    return Hit(block_from(hit), semantic_score(hit))


def hits_of(response: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one answer's hits.

    Raises:
        ItemError: The search failed; the request around it did not.
        IndexGoneError: There is no such index any more.
    """
    if "error" in response:
        raise item_error(int(response.get("status", 500)), response["error"])
    return list(response["hits"]["hits"])


def _clauses(terms: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"term": {"terms": {"value": term, "boost": count}}}
        for term, count in Counter(terms).items()
    ]


def _nearest(
    vector: Vector, filters: Filters, k: int, breadth: int, quantization: str
) -> dict[str, Any]:
    search: dict[str, Any] = {
        "field": "vector",
        "query_vector": vector,
        "k": k,
        "num_candidates": breadth,
        "filter": filters,
    }
    if quantization in _RESCORED:
        search["rescore_vector"] = {"oversample": _RESCORED[quantization]}
    return {"knn": search}


def _page(size: int) -> Search:
    return {"size": size, "sort": BY_SCORE, "track_total_hits": False}
