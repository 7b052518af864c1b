"""Which columns a question's mentions mean, and how well (Octopus, section 4.2).

A header is a column's name, spelled as words (`header_of`): `customerId` and `customer_id` are one.
What the paper calls BM25 above 0 (equation 2) is that a mention and a header share a word of the
index's analyzer, little words of questions left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pneuma_assets.core.tables import Vector
from pneuma_assets.core.terms.fields import spaced
from pneuma_assets.core.text.analysis import Analyzer

MOST_NAMES = 5
"""Headers that a mention matches by meaning (the paper's k)."""
LEAST_COSINE = 0.7
"""Of a match by meaning (the paper's eta)."""


@dataclass(frozen=True, slots=True, order=True)
class Match:
    """How well a header matches a mention.

    Attributes:
        score: From 0 to 1; 1 where both share a word, else the cosine (equations 1 and 2).
        cosine: Of both, whatever words they share: tells one of several that do from the others.
    """

    score: float
    cosine: float


@dataclass(frozen=True, eq=False)
class Headers:
    """Headers, each once, with their embeddings.

    Attributes:
        names: As `header_of` spells them.
        vectors: Their embeddings in the same order, of unit length: shape (names, dimension).
    """

    names: Sequence[str]
    vectors: Vector


@lru_cache(maxsize=65_536)
def header_of(column: str) -> str:
    """Return a column's name as words; empty where it has none."""
    return spaced(column)


def headers_of(tables: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the different headers of tables, whose columns are given, in order."""
    return sorted({header_of(name) for columns in tables.values() for name in columns} - {""})


def matches(
    mentions: Sequence[str],
    vectors: Vector,
    headers: Headers,
    analyzer: Analyzer,
    *,
    most: int = MOST_NAMES,
    least: float = LEAST_COSINE,
) -> list[dict[str, Match]]:
    """Return of each mention the headers that match it (M_i, equations 1 and 2).

    A mention without a letter matches by its words alone: encoders take one year for the next.

    Args:
        mentions: Phrases that may name columns.
        vectors: Their embeddings, of unit length, by the encoder of the headers.
        headers: Among which to look.
        analyzer: Of the index.
        most: Headers that match by meaning; those that share a word are not counted.
        least: Cosine of these.
    """
    if not mentions or not headers.names:
        return [{} for _ in mentions]
    having = _headers_by_term(headers.names, analyzer)
    cosines = np.clip(vectors @ headers.vectors.T, -1.0, 1.0)
    found = []
    for mention, row in zip(mentions, cosines, strict=True):
        near = _nearest(row, headers.names, most, least) if _has_letter(mention) else []
        terms = analyzer.question_terms(mention)
        sharing = {place for term in terms for place in having.get(term, ())}
        places = dict.fromkeys(near, False) | dict.fromkeys(sharing, True)
        found.append({headers.names[at]: _match(float(row[at]), places[at]) for at in places})
    return found


def matched_columns(
    found: Sequence[Mapping[str, Match]], tables: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, float]]:
    """Return of each table the columns that any mention matches, each with its best score.

    Args:
        found: What `matches` gave of all mentions.
        tables: The columns of each table, whose order is kept; a table of which none matches is
            there, too.
    """
    best: dict[str, float] = {}
    for one in found:
        for header, match in one.items():
            best[header] = max(match.score, best.get(header, 0.0))
    return {
        table_id: {name: best[header] for name in columns if (header := header_of(name)) in best}
        for table_id, columns in tables.items()
    }


def _headers_by_term(names: Sequence[str], analyzer: Analyzer) -> dict[str, list[int]]:
    having: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        for term in set(analyzer.terms(name)):
            having.setdefault(term, []).append(place)
    return having


def _has_letter(text: str) -> bool:
    return any(map(str.isalpha, text))


def _match(cosine: float, shares_word: bool) -> Match:
    return Match(1.0 if shares_word else cosine, cosine)


def _nearest(cosines: Vector, names: Sequence[str], most: int, least: float) -> list[int]:
    """Return where the headers nearest in meaning stand, the nearest first, equal ones by name."""
    near = np.flatnonzero(cosines >= least).tolist()
    return sorted(near, key=lambda place: (-cosines[place], names[place]))[:most]
