"""Which columns and tables a question's mentions mean, and how well (Octopus, section 4.2).

A header is a column's name, spelled as words (`header_of`): `customerId` and `customer_id` are one.
What the paper calls BM25 above 0 (equation 2) is that a mention and a header share a word of the
index's analyzer, little words of questions left out.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import log

import numpy as np

from pneuma_assets.core.evidence.fields import spaced
from pneuma_assets.core.tables import Vector
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


@dataclass(frozen=True, slots=True)
class EntityScore:
    """How well one table matches what a question mentions.

    Attributes:
        columns: S_col, what its columns add (equation 5).
        values: S_val, what its cells add (equation 7).
        total: S, both (equation 9).
        best: Of each mention that a column of it matches, by its number, that column.
    """

    columns: float
    values: float
    total: float
    best: Mapping[int, str] = field(default_factory=dict)


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


def best_columns(
    found: Sequence[Mapping[str, Match]], columns: Sequence[str]
) -> dict[int, tuple[str, Match]]:
    """Return of each mention that a column of one table matches the best one (equation 3).

    Mentions are told by their number. Of columns that match alike, the one nearest in meaning is
    taken, then the first.
    """
    chosen: dict[int, tuple[str, Match]] = {}
    for number, one in enumerate(found):
        matching = [(name, one[header]) for name in columns if (header := header_of(name)) in one]
        if matching:
            chosen[number] = max(matching, key=lambda pair: pair[1])
    return chosen


def rarity(having: int, among: int) -> float:
    """Return how telling it is that so many of some tables have something (equations 4 and 6)."""
    return log(among / having)


def score_tables(
    found: Sequence[Mapping[str, Match]],
    tables: Mapping[str, Sequence[str]],
    held: Mapping[str, Iterable[str]],
) -> dict[str, EntityScore]:
    """Return the scores of the tables that have anything a question mentions (equations 3 to 9).

    Where no column is mentioned, values count once: by the letter of equation 9 they would count
    nothing, against what it is for.

    Args:
        found: What `matches` gave of each mention of a column.
        tables: The columns of all tables there are; among these, a column or value is rare.
        held: Of each mention of a value, the tables that have it (T_v); others than `tables` do
            not count.
    """
    spread = Counter(
        header for columns in tables.values() for header in set(map(header_of, columns))
    )
    values = _value_scores(tables, held)
    weight = max(1, len(found))
    scores: dict[str, EntityScore] = {}
    for table_id, columns in tables.items():
        chosen = best_columns(found, columns)
        if not chosen and table_id not in values:
            continue
        of_columns = sum(
            match.score * rarity(spread[header_of(name)], len(tables))
            for name, match in chosen.values()
        )
        of_values = values.get(table_id, 0.0)
        best = {number: name for number, (name, _) in chosen.items()}
        total = of_columns + weight * of_values
        scores[table_id] = EntityScore(of_columns, of_values, total, best)
    return scores


def _value_scores(
    tables: Mapping[str, Sequence[str]], held: Mapping[str, Iterable[str]]
) -> dict[str, float]:
    """Return S_val of the tables that have any value (equation 7)."""
    scores: dict[str, float] = {}
    for having in held.values():
        counted = {table_id for table_id in having if table_id in tables}
        for table_id in counted:
            scores[table_id] = scores.get(table_id, 0.0) + rarity(len(counted), len(tables))
    return scores


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
