"""The searches that are sent, and how their answers are read."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any

from pneuma_assets.core.index.base import REACHED, Hit, IndexFilter, TableHit, idf
from pneuma_assets.core.index.elastic.documents import (
    BLOCK,
    BLOCK_FIELDS,
    EVIDENCE,
    TABLE,
    block_from,
    joined,
)
from pneuma_assets.core.index.elastic.errors import item_error
from pneuma_assets.core.index.elastic.mapping import (
    LUCENE_FACTOR,
    TERMS,
    escape,
    factor_of,
    token,
    unescape,
)
from pneuma_assets.core.tables import DocumentKind, Vector
from pneuma_assets.core.terms.fields import Field
from pneuma_assets.core.terms.rare_words import Place

Search = dict[str, Any]
Filters = list[Search]

MAX_CANDIDATES = 10_000
"""Elasticsearch's own bound on the neighbours of one search and on the hits of one page."""

MAX_CLAUSES = 800
"""Of one search; a server with a small heap takes about a thousand."""

_MOST_COUNTED = 100
"""Words of a question that are counted."""
_SPARE = 50
"""Neighbours beyond the limit, so that equal scores at its end are cut by block id."""
_BREADTH = 2.0
"""Nodes of the graph that are kept in view, for each neighbour that is wanted."""
_RESCORED = {"bbq": 3.0, "int8": 1.5}
"""Neighbours scored exactly, for each one that is wanted; see docs/elasticsearch.md."""

_FIRST_OF_TABLE = {"collapse": {"field": "table_id"}}
_NOTHING_FETCHED = {"stored_fields": "_none_"}  # the order alone tells all that is asked


def where_filters(where: IndexFilter) -> Filters:
    """Return a filter for each part that restricts, but for who asks."""
    wanted = {
        "source": [escape(value) for value in where.sources],
        "table_id": [escape(value) for value in where.tables],
        "kind": list(where.kinds),
    }
    return [{"terms": {field: values}} for field, values in wanted.items() if values]


def kinds_but(silent: Sequence[DocumentKind]) -> Filters:
    """Return a filter that shuts out kinds of documents; none where there are none."""
    return [{"bool": {"must_not": {"terms": {"kind": list(silent)}}}}] if silent else []


def given_tables(table_ids: Sequence[str]) -> Search:
    """Return the filter that lets these tables through."""
    return {"terms": {"table_id": [escape(one) for one in table_ids]}}


def given_blocks(block_ids: Sequence[str]) -> Search:
    """Return the filter that lets these blocks through."""
    return {"terms": {"block_id": list(block_ids)}}


def filtered(*filters: Search) -> Search:
    """Return the query that scores nothing and lets through what passes all filters."""
    return {"bool": {"filter": list(filters)}}


def any_of(clauses: Sequence[Search]) -> Search:
    """Return the query that lets through what matches one of several clauses."""
    return {"bool": {"should": list(clauses), "minimum_should_match": 1}}


def by_words(terms: Sequence[str], filters: Filters, *, others: bool = False) -> Search:
    """Return the query of blocks by BM25; `others` lets those through that have no term."""
    clauses = [
        {"term": {TERMS: {"value": term, "boost": count}}} for term, count in Counter(terms).items()
    ]
    query = {"should": clauses, "minimum_should_match": 0 if others else 1, "filter": filters}
    return {"bool": query}


def by_meaning(
    vector: Vector, filters: Filters, quantization: str, limit: int | None = None
) -> Search:
    """Return the query of the nearest blocks: found by short vectors, scored by the full ones.

    Without a limit it is exact where the filter leaves at most `MAX_CANDIDATES` blocks.
    """
    k = MAX_CANDIDATES if limit is None else min(limit + _SPARE, MAX_CANDIDATES)
    search: Search = {
        "field": "vector",
        "query_vector": vector,
        "k": k,
        "num_candidates": min(int(_BREADTH * k), MAX_CANDIDATES),
        "filter": filters,
    }
    if quantization in _RESCORED:
        search["rescore_vector"] = {"oversample": _RESCORED[quantization]}
    return {"knn": search}


def of_blocks(query: Search, size: int, *, per_table: bool = False, texts: bool = True) -> Search:
    """Return the search for the best blocks of a query, or for the best block of each table.

    Equal scores go by block id.
    """
    return {
        "query": query,
        "size": size,
        "sort": ["_score", {"block_id": "asc"}],
        "track_total_hits": False,
        "_source": list(BLOCK_FIELDS) if texts else False,
        **(_FIRST_OF_TABLE if per_table else {}),
    }


def of_field(field: Field, terms: Sequence[str], filters: Filters, limit: int) -> Search:
    """Return the search for the best tables of one field of evidence.

    Equal scores go by table id, then by the number of the row.
    """
    rows = field is Field.ROWS
    return {
        "query": {"bool": {"must": {"match": {field.value: joined(terms)}}, "filter": filters}},
        "size": limit,
        "sort": ["_score", {"table_id": "asc"}, *([{"row": "asc"}] if rows else [])],
        "track_total_hits": False,
        **_NOTHING_FETCHED,
        **(_FIRST_OF_TABLE if rows else {}),
    }


def of_records(filters: Filters, count: int) -> Search:
    """Return the search for the records of `count` tables, with their numbers of blocks."""
    return {
        "query": filtered({"term": {"doc": TABLE}}, *filters),
        "size": count,
        "sort": [{"table_id": "asc"}, {"blocks": "asc"}],
        "track_total_hits": False,
        **_NOTHING_FETCHED,
    }


def holding(
    field: Field, terms: Sequence[str], filters: Filters, size: int = MAX_CANDIDATES
) -> Search:
    """Return the search for the tables with any of these terms; a term's name is its place.

    Each table is found with the names of those that it has, so one search serves all.
    """
    clauses = [
        {"term": {field.value: {"value": token(term), "_name": str(place)}}}
        for place, term in enumerate(terms)
    ]
    return {
        "query": filtered(*filters, any_of(clauses)),
        "size": size,
        "sort": [{"table_id": "asc"}],
        "track_total_hits": False,
        **_NOTHING_FETCHED,
    }


def of_holders(
    places: Sequence[Place],
    blocks: Filters,
    tables: Filters,
    most: int,
    silent: Sequence[DocumentKind],
) -> Search:
    """Return the search for up to `most` tables with any of these; `silent` as in `Question`."""
    told = [*blocks, *kinds_but(silent)]
    clauses = [
        filtered(
            *({"term": {field or TERMS: token(one)}} for one in terms.split(" ")),
            *(tables if field else told if " " in terms else blocks),
        )
        for field, terms in places
    ]
    return {
        "query": any_of(clauses),
        "size": most,
        "sort": [{"table_id": "asc"}],
        "track_total_hits": False,
        **_NOTHING_FETCHED,
        **_FIRST_OF_TABLE,
    }


def of_reach(words: Sequence[str], filters: Filters) -> Search:
    """Return the search that counts blocks and tables, and those that have each of some words."""
    counted = {
        f"{place} {number}": {"term": {field or TERMS: token(word)}}
        for place, field in enumerate(REACHED)
        for number, word in enumerate(words[:_MOST_COUNTED])
    }
    every = {kind: {"term": {"doc": kind}} for kind in (BLOCK, EVIDENCE)}
    return {
        "query": filtered(*filters),
        "size": 0,
        "track_total_hits": False,
        "aggs": {"having": {"filters": {"filters": {**every, **counted}}}},
    }


def reach_of(words: Sequence[str], counts: Mapping[str, Any]) -> dict[Field | None, float]:
    """Return what BM25 could reach by an answer to `of_reach` (`SideHits.reach`).

    Words beyond those that are counted are taken for as rare as these are on average.
    """
    having = {name: int(one["doc_count"]) for name, one in counts.items()}
    counted = min(len(words), _MOST_COUNTED)
    return {
        field: len(words)
        / counted
        * fsum(
            idf(max(having[f"{place} {at}"], every), having[f"{place} {at}"])
            for at in range(counted)
        )
        for place, field in enumerate(REACHED)
        for every in [having[EVIDENCE if field else BLOCK]]
    }


def bm25_of(hit: Mapping[str, Any]) -> float:
    """Return a hit's BM25 as textbooks have it."""
    return float(hit["_score"]) / LUCENE_FACTOR


def cosine_of(hit: Mapping[str, Any]) -> float:
    """Return a hit's cosine; Elasticsearch moves it to between 0 and 1."""
    return 2.0 * float(hit["_score"]) - 1.0


def lexical_hit(hit: Mapping[str, Any]) -> Hit:
    """Return a hit by words."""
    return Hit(block_from(hit), bm25_of(hit))


def semantic_hit(hit: Mapping[str, Any]) -> Hit:
    """Return a hit by meaning."""
    return Hit(block_from(hit), cosine_of(hit))


def table_hit(field: Field, hit: Mapping[str, Any]) -> TableHit:
    """Return a hit in a field of evidence."""
    return TableHit(unescape(hit["sort"][1]), float(hit["sort"][0]) / factor_of(field))


def hits_of(response: Mapping[str, Any]) -> list[Search]:
    """Return one answer's hits.

    Raises:
        ItemError: The search failed; the request around it did not.
        IndexGoneError: There is no such index any more.
    """
    if "error" in response:
        raise item_error(int(response.get("status", 500)), response["error"])
    if "aggregations" in response:
        return [response["aggregations"]["having"]["buckets"]]
    return list(response["hits"]["hits"])
