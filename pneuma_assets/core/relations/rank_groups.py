"""Ranking sets of tables that answer together (Octopus, section 4.3).

The paper scores a set by what its tables cover: of each mention the best match in any of them, and
the best match of values (equation 10). That never falls when a table joins in, so of two sets the
larger one wins. Here how well its tables were found for themselves counts, too, which falls where
one says nothing about the question; so of two sets that cover the same, the smaller one wins.

Sets grow greedily, one table at a time, from the best ones, by the score that they are ranked by:
as good as the best sets of all (arXiv 2511.13418), at the cost of a few hundred sets a question. A
table joins in that can be joined with one of the set, or that lies beside it and was found well:
not all joins are known, so a set that they do not connect counts less, and is there.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
import numpy.typing as npt

from pneuma_assets.core.relations.join_graph import Group, JoinEdge, JoinGraph

WEIGHTS: Mapping[str, float] = {
    "columns": 9.0,
    "values": 0.3,
    "best": 10.0,
    "mean": 2.0,
    "more": -0.2,
    "apart": -1.0,
}
"""What each part of a set's score is worth: chosen with whole sets of questions left out."""
PARTS = tuple(WEIGHTS)

SEEDS, CANDIDATES = 10, 30
"""Tables from which sets grow, and of which they consist, the best found ones."""
MOST_TABLES = 5
"""Of a set; of 190 questions of people on warehouses, none needs more."""
_KEPT = 30
"""Sets of each number of tables that are kept, and grow."""
_BESIDE = 12
"""Tables that may join in although no join is known, the best found ones."""


@dataclass(frozen=True, slots=True)
class Mention:
    """Something that a question names, a cell's value or a name, and the tables that have it.

    `weight` tells how telling it is: the fewer tables have it, the more (equations 4 and 6), and
    `tables` how well each matches it, from 0 to 1; those that do not are absent.
    """

    text: str
    weight: float
    tables: Mapping[str, float]
    is_value: bool = False


@dataclass(frozen=True, slots=True)
class GroupResult:
    """Tables that may answer a question together, or one that may by itself.

    Attributes:
        tables: Those found best for themselves first; one that only links others is among them.
        joins: By which they are joined, as far as joins are known; of two tables all joins, the
            surest first.
        score: By which the groups of one question are ranked; no probability.
        parts: What the score consists of (`WEIGHTS`).
        answerable: The probability that any table answers, the same for all groups; None where
            the words and the meaning alone were asked.
    """

    tables: tuple[str, ...]
    joins: tuple[JoinEdge, ...]
    score: float
    parts: Mapping[str, float]
    answerable: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the group for JSON."""
        return asdict(self)


def rank_groups(
    graph: JoinGraph, found: Mapping[str, float], mentions: Sequence[Mention], most: int
) -> list[GroupResult]:
    """Return up to `most` sets of tables, best first, a table by itself being one, too.

    What is part of a better set is left out: it says nothing that the better one does not.

    Args:
        graph: Which tables can be joined.
        found: How well tables were found for themselves, from 0 to 1, by id; the candidates, of
            which equal ones count in this order.
        mentions: What the question names.
        most: Sets returned.
    """
    return SetGrowth(graph, found, mentions).ranked(most)


_Placed = tuple[float, bool, int, list[int], Mapping[str, float]]


def _score(parts: Mapping[str, float]) -> float:
    return sum(parts.values())


Numbers = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
_Layer = dict[tuple[int, ...], Numbers]
"""The parts of the scores of sets of equal size, by the places of their tables, ascending."""


class SetGrowth:
    """Grows sets of the candidates and of what links them, and scores them.

    Shapes: `scores` (tables,), `joined` and `near` (tables, tables), `shares` (tables, mentions),
    `worth` (mentions, 2): of names and of values.
    """

    def __init__(
        self, graph: JoinGraph, found: Mapping[str, float], mentions: Sequence[Mention]
    ) -> None:
        self.graph = graph
        candidates = sorted(found, key=lambda table: -found[table])[:CANDIDATES]
        linking = graph.linking(candidates)
        self.tables = [
            *candidates,
            *sorted(linking),
            *sorted(graph.tables - {*candidates, *linking}),
        ]
        self.places = {table: at for at, table in enumerate(self.tables)}
        self.scores = np.array([found.get(table, 0.0) for table in self.tables])
        self.joined = np.zeros((len(self.tables), len(self.tables)), bool)
        for at, table in enumerate(self.tables):
            self.joined[at, [self.places[one] for one in graph.neighbours(table)]] = True
        schemas = np.array([table.rpartition("/")[0] for table in self.tables])
        beside = schemas[:, None] == schemas
        beside[:, min(_BESIDE, len(candidates)) :] = False
        self.near = self.joined | beside
        self.near[:, len(candidates) + len(linking) :] = False
        shares = [[one.tables.get(table, 0.0) for one in mentions] for table in self.tables]
        self.shares = np.array(shares).reshape(len(self.tables), len(mentions))
        self.worth = _worth(mentions)
        self.weights = np.array([WEIGHTS[name] for name in PARTS])

    def ranked(self, most: int) -> list[GroupResult]:
        """Return up to `most` sets, best first; none of them within a better one."""
        grown = dict(self.groups())
        groups, heap = {*grown}, [self._placed(*one) for one in grown.items()]
        heapify(heap)
        ranked: list[GroupResult] = []
        while heap and len(ranked) < most:
            *_, places, parts = heappop(heap)
            tables = tuple(self.tables[at] for at in places)
            group = frozenset(tables)
            surer = group if "guess" in parts else self.graph.beyond_guesses(group, MOST_TABLES)
            if surer == group:
                if not any(group.issubset(better.tables) for better in ranked):
                    joins = self.graph.joins(tables)
                    ranked.append(GroupResult(tables, joins, _score(parts), parts))
            else:
                surer_parts = self.parts(surer)
                less = min(0.0, _score(surer_parts) - _score(parts))
                heappush(heap, self._placed(group, {**parts, "guess": less}))
                if surer not in groups:
                    groups.add(surer)
                    heappush(heap, self._placed(surer, surer_parts))
        return ranked

    def _placed(self, group: Group, parts: Mapping[str, float]) -> _Placed:
        """Return a set and its score, as sets are ordered; of equal ones a guess comes last."""
        places = sorted(self.places[table] for table in group)
        return -_score(parts), "guess" in parts, len(group), places, parts

    def groups(self) -> Iterator[tuple[Group, dict[str, float]]]:
        """Yield the sets that are kept, each once, with what each part adds to its score."""
        alone = self._features([]) * self.weights
        layer: _Layer = {(at,): alone[at] for at in range(min(SEEDS, len(self.tables)))}
        for _ in range(MOST_TABLES):
            for places, values in layer.items():
                yield frozenset(self.tables[at] for at in places), _named(values)
            layer = self._grown(layer)

    def parts(self, group: Group) -> dict[str, float]:
        """Return what each part adds to a set's score."""
        *others, last = (self.places[table] for table in sorted(group))
        return _named((self._features(others) * self.weights)[last])

    def _grown(self, layer: Iterable[tuple[int, ...]]) -> _Layer:
        """Return the best sets of one table more."""
        grown: _Layer = {}
        for places in layer:
            inside = list(places)
            joins_in = self.near[inside].any(axis=0)
            joins_in[inside] = False
            values = self._features(inside) * self.weights
            grown |= {
                tuple(sorted((*places, at))): values[at] for at in np.flatnonzero(joins_in).tolist()
            }
        scores = {places: float(values.sum()) for places, values in grown.items()}
        best = sorted(grown, key=lambda places: (-scores[places], places))[:_KEPT]
        return {places: grown[places] for places in best}

    def _features(self, inside: Sequence[int]) -> Numbers:
        """Return the parts of the score of a set with each of the tables, before they are weighted.

        Shape (tables, parts). `columns` and `values` are the shares of what is mentioned that the
        set has, each mention weighted; `best` and `mean` are of how well its tables were found;
        `more` is the number of tables beyond the first, `apart` that of parts beyond the first that
        no join connects.
        """
        found = np.zeros((len(self.tables), len(PARTS)))
        own, connected = self.scores[inside], components(self.joined[np.ix_(inside, inside)])
        covered = self.shares[inside].max(axis=0, initial=0.0)
        touched = [self.joined[np.array(inside)[part]].any(axis=0) for part in connected]
        found[:, :2] = np.maximum(covered, self.shares) @ self.worth
        found[:, 2] = np.maximum(own.max(initial=0.0), self.scores)
        found[:, 3] = (own.sum() + self.scores) / (len(inside) + 1)
        found[:, 4] = len(inside)
        found[:, 5] = len(connected) - np.sum(touched, axis=0)
        return found


def _named(values: Numbers) -> dict[str, float]:
    return {name: value for name, value in zip(PARTS, values.tolist(), strict=True) if value}


def _worth(mentions: Sequence[Mention]) -> Numbers:
    """Return what each mention is worth among those of names, and of values."""
    worth = np.zeros((len(mentions), 2))
    for at, one in enumerate(mentions):
        worth[at, int(one.is_value)] = one.weight
    worth /= np.maximum(worth.sum(axis=0), 1e-12)
    return worth


def components(joined: Mask) -> list[Mask]:
    """Return the parts that joins connect, of the tables of a matrix of who joins whom."""
    left, parts = np.ones(len(joined), bool), []
    while left.any():
        part = np.zeros(len(joined), bool)
        part[left.argmax()] = True
        while (wider := part | joined[part].any(axis=0)).sum() > part.sum():
            part = wider
        parts.append(part)
        left &= ~part
    return parts
