"""Ranking sets of tables that answer together (Octopus, section 4.3).

The paper scores a set by what its tables cover: of each mention the best match in any of them, and
the best match of values (equation 10). That never falls when a table joins in, so of two sets the
larger one wins. Here how well its tables were found for themselves counts, too, which falls where
one says nothing about the question; so of two sets that cover the same, the smaller one wins.
`WEIGHTS` were fitted on questions over seven schemas (docs/measurements.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from pneuma_assets.core.relations.join_graph import Group, JoinEdge, JoinGraph

WEIGHTS: Mapping[str, float] = {
    "columns": 4.9,
    "values": 0.8,
    "best": 3.8,
    "mean": 2.5,
    "more": -0.2,
}
"""What each part of a set's score is worth."""

SEEDS, CANDIDATES = 10, 30
"""Tables from which sets grow, and of which they consist, the best found ones."""
MOST_TABLES = 5
"""Of a set; of 190 questions of people on warehouses, none needs more."""
MOST_GROUPS = 2_000


@dataclass(frozen=True, slots=True)
class Mention:
    """Something that a question names, and the tables that have it.

    Attributes:
        text: As the question says it.
        weight: How telling it is: the fewer tables have it, the more (equations 4 and 6).
        tables: How well each table matches it, from 0 to 1; those that do not are absent.
        is_value: Whether it is a cell's value and not a name.
    """

    text: str
    weight: float
    tables: Mapping[str, float]
    is_value: bool = False


@dataclass(frozen=True, slots=True)
class TableGroup:
    """Tables that answer together.

    Attributes:
        tables: Those found best for themselves first.
        joins: By which they are joined; of two tables all joins, the surest first.
        score: By which sets are ranked.
        parts: What each part adds to the score.
    """

    tables: tuple[str, ...]
    joins: tuple[JoinEdge, ...]
    score: float
    parts: Mapping[str, float]


def rank_groups(
    graph: JoinGraph, found: Mapping[str, float], mentions: Sequence[Mention], most: int
) -> list[TableGroup]:
    """Return up to `most` sets of tables, best first, a table by itself being one, too.

    Args:
        graph: Which tables can be joined.
        found: How well tables were found for themselves, from 0 to 1, by id; the candidates.
        mentions: What the question names.
        most: Sets returned.
    """
    ordered = sorted(found, key=lambda table: (-found[table], table))
    candidates = ordered[:CANDIDATES]
    within = [*candidates, *sorted(graph.linking(candidates))]
    groups = graph.connected(ordered[:SEEDS], within, MOST_TABLES, MOST_GROUPS)
    heap = [_placed(group, _parts(group, found, mentions)) for group in groups]
    heapify(heap)
    ranked: list[TableGroup] = []
    while heap and len(ranked) < most:
        *_, tables, parts = heappop(heap)
        group = frozenset(tables)
        surer = group if "guess" in parts else graph.beyond_guesses(group, MOST_TABLES)
        if surer == group:
            ranked.append(_shown(graph, group, found, parts))
        else:
            surer_parts = _parts(surer, found, mentions)
            less = min(0.0, _score(surer_parts) - _score(parts))
            heappush(heap, _placed(group, {**parts, "guess": less}))
            if surer not in groups:
                groups.add(surer)
                heappush(heap, _placed(surer, surer_parts))
    return ranked


_Placed = tuple[float, bool, int, list[str], Mapping[str, float]]


def _placed(group: Group, parts: Mapping[str, float]) -> _Placed:
    """Return a set and its score, as sets are ordered; of equal ones a guess comes last."""
    return -_score(parts), "guess" in parts, len(group), sorted(group), parts


def _score(parts: Mapping[str, float]) -> float:
    return sum(parts.values())


def _shown(
    graph: JoinGraph, group: Group, found: Mapping[str, float], parts: Mapping[str, float]
) -> TableGroup:
    tables = sorted(group, key=lambda table: (-found.get(table, 0.0), table))
    return TableGroup(tuple(tables), graph.joins(tables), _score(parts), parts)


def features(
    group: Group, found: Mapping[str, float], mentions: Sequence[Mention]
) -> dict[str, float]:
    """Return the parts of a set's score before they are weighted.

    `columns` and `values` are the shares of what is mentioned that the set has, each mention
    weighted; `best` and `mean` are of how well its tables were found; `more` is the number of
    tables beyond the first.
    """
    scores = [found.get(table, 0.0) for table in group]
    return {
        "columns": _covered(group, [one for one in mentions if not one.is_value]),
        "values": _covered(group, [one for one in mentions if one.is_value]),
        "best": max(scores),
        "mean": sum(scores) / len(scores),
        "more": float(len(group) - 1),
    }


def _parts(
    group: Group, found: Mapping[str, float], mentions: Sequence[Mention]
) -> dict[str, float]:
    values = features(group, found, mentions)
    return {name: WEIGHTS[name] * value for name, value in values.items() if value}


def _covered(group: Group, mentions: Sequence[Mention]) -> float:
    total = sum(one.weight for one in mentions)
    best = sum(one.weight * max(one.tables.get(t, 0.0) for t in group) for one in mentions)
    return best / total if total else 0.0
