"""BM25 with statistics of one's own, without scripts: for who may see a part of the tables.

Elasticsearch takes BM25's statistics over all documents of a shard, those that a filter shuts out
among them, so a score would tell of words in tables that are hidden. A document's share of a score
depends on how often it has a term and on how long it is, and on nothing else of it. Beside its
terms, each document is so indexed by terms with their counts, and by its length; a search asks for
each count of each term among the documents of each length, with the share as a constant score that
is computed here from the statistics of what may be seen.

Lengths are rounded as Lucene rounds them. So are counts: exact up to 24, which are nearly all, the
first four bits of larger ones, where a share hardly grows any more.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log1p
from typing import Any

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import K1, B
from pneuma_assets.core.index.elastic.mapping import counted_of, factor_of, length_of, rounded_of
from pneuma_assets.core.index.elastic.text import token
from pneuma_assets.core.index.rounding import ROUNDED, rounded_length
from pneuma_assets.core.terms.fields import PRESENCE

Search = dict[str, Any]

MOST_CLAUSES = 800
"""Of one search; a server with a small heap takes about a thousand."""

_MOST_TERMS = 10_000
_LENGTHS = 1000
"""More than there are rounded lengths."""


def counted_fields(name: str, terms: Sequence[str]) -> dict[str, Any]:
    """Return what a document has in a field besides its terms, which a server splits at spaces."""
    if not terms:
        return {}
    counts = Counter(map(token, terms))
    return {
        length_of(name): len(terms),
        rounded_of(name): rounded_length(len(terms)),
        counted_of(name): " ".join(_counted(one, rounded_length(n)) for one, n in counts.items()),
    }


@dataclass(slots=True)
class Statistics:
    """What is counted in the documents that may be seen; filled as it is asked for.

    Attributes:
        entries: By field, how many documents have any term there, and how many terms they have.
        terms: By field and term, how many documents have it, by rounded length and count; where a
            count does not matter, length 0 and count 1 stand for all.
    """

    entries: dict[str, tuple[int, int]] = field(default_factory=dict)
    terms: dict[tuple[str, str], Mapping[tuple[int, int], int]] = field(default_factory=dict)

    def current(self) -> "Statistics":
        """Return what a question goes on with, which another thread's question takes nothing from.

        Where there are very many terms, they are forgotten.
        """
        if len(self.terms) > _MOST_TERMS:
            self.terms = {}
        return Statistics(self.entries, self.terms)

    def missing(self, name: str, terms: Iterable[str]) -> list[str]:
        """Return the terms that were not counted yet, each once."""
        return [one for one in dict.fromkeys(map(token, terms)) if (name, one) not in self.terms]


def counting(name: str, terms: Sequence[str], filters: Sequence[Search]) -> Iterator[Search]:
    """Yield the searches that count a field's entries, and each of these terms; `note` reads them.

    Args:
        name: The field.
        terms: As `Statistics.missing` returns them.
        filters: Let through what may be seen.
    """
    yield {
        **_nothing(
            [*filters, {"exists": {"field": name if name in PRESENCE else length_of(name)}}]
        ),
        "track_total_hits": True,
        **({} if name in PRESENCE else {"aggs": {"sum": {"sum": {"field": length_of(name)}}}}),
    }
    if name in PRESENCE:
        for some in chunks(terms, MOST_CLAUSES):
            having = {str(at): {"term": {name: term}} for at, term in enumerate(some)}
            counts = {"aggs": {"counts": {"filters": {"filters": having}}}}
            yield {**_nothing([*filters, {"terms": {name: list(some)}}]), **counts}
        return
    for term in terms:
        counted = {str(count): _counted(term, count) for count in ROUNDED}
        having = {one: {"term": {counted_of(name): value}} for one, value in counted.items()}
        yield {
            **_nothing([*filters, {"terms": {counted_of(name): list(counted.values())}}]),
            "track_total_hits": False,
            "aggs": {
                "counts": {
                    "filters": {"filters": having},
                    "aggs": {"lengths": {"terms": {"field": rounded_of(name), "size": _LENGTHS}}},
                }
            },
        }


def note(
    statistics: Statistics, name: str, terms: Sequence[str], answers: Iterator[Mapping[str, Any]]
) -> None:
    """Keep what the searches of `counting` found."""
    entries = next(answers)
    total = 0 if name in PRESENCE else int(entries["aggregations"]["sum"]["value"])
    statistics.entries[name] = int(entries["hits"]["total"]["value"]), total
    if name in PRESENCE:
        for some in chunks(terms, MOST_CLAUSES):
            buckets = next(answers)["aggregations"]["counts"]["buckets"]
            for at, term in enumerate(some):
                found = int(buckets[str(at)]["doc_count"])
                statistics.terms[name, term] = {(0, 1): found} if found else {}
        return
    for term in terms:
        answer = next(answers)
        statistics.terms[name, term] = {
            (int(length["key"]), int(count)): int(length["doc_count"])
            for count, bucket in answer["aggregations"]["counts"]["buckets"].items()
            for length in bucket["lengths"]["buckets"]
        }


def scoring(
    name: str, terms: Sequence[str], statistics: Statistics, factor: float | None = None
) -> list[list[Search]]:
    """Return the clauses of a field's scores, in portions that one search takes each.

    No document is matched by two portions, so the best of all are the best of each. Scores are
    `factor` times the textbook's BM25 (`embedded.bm25` says the formula).
    """
    times = factor_of(name) if factor is None else factor
    by_length: dict[int, list[Search]] = {}
    for term, repeated in Counter(map(token, terms)).items():
        for (length, count), share in _shares(name, term, statistics).items():
            clause = _constant(name, term, count, share * repeated * times)
            by_length.setdefault(length, []).append(clause)
    portions: list[list[Search]] = []
    room = 0
    for length, clauses in sorted(by_length.items()):
        if len(clauses) > room or not portions:
            portions.append([])
            room = MOST_CLAUSES
        portions[-1] += clauses if name in PRESENCE else [_of_length(name, length, clauses)]
        room -= len(clauses)
    return portions


def _shares(name: str, term: str, statistics: Statistics) -> dict[tuple[int, int], float]:
    found = statistics.terms[name, term]
    entries, total = statistics.entries[name]
    documents = sum(found.values())
    rarity = log1p((entries - documents + 0.5) / (documents + 0.5))
    k1 = 0.0 if name in PRESENCE else K1
    mean = total / entries if entries and total else 1.0
    return {
        (length, count): rarity * count / (count + k1 * (1 - B + B * length / mean))
        for length, count in found
    }


def _constant(name: str, term: str, count: int, score: float) -> Search:
    wanted = {name: term} if name in PRESENCE else {counted_of(name): _counted(term, count)}
    return {"constant_score": {"filter": {"term": wanted}, "boost": score}}


def _of_length(name: str, length: int, clauses: Sequence[Search]) -> Search:
    return {
        "bool": {
            "filter": [{"term": {rounded_of(name): length}}],
            "should": clauses,
            "minimum_should_match": 1,
        }
    }


def _counted(term: str, count: int) -> str:
    return f"{count}|{term}"


def _nothing(filters: Sequence[Search]) -> Search:
    """Return a search of which no hit is wanted."""
    return {"size": 0, "query": {"bool": {"filter": list(filters)}}}
