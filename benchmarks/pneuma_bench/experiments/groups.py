"""Whether all tables that a question needs are found: among ten tables, and as one set.

    python -m pneuma_bench.experiments.groups FOLDER --keep KEPT

FOLDER holds sets as `NAME.tables.jsonl` and `NAME.queries.jsonl`, whose ids are names
(`schema.table`); of `NAME.copies.jsonl`, where there is one, a copy of a table counts as right.
Joins are inferred as an index run does. A set of tables is a hit if it has all that the
question needs (Octopus, section 7.1) and exact if it has no other: ever larger sets would always be
hits, so both are told, and the number of tables of the first set.

"fitted": as shipped. "left out": the weights by which the first tables are completed, and those of
sets, as the other sets of questions choose them; the signals' are shipped (`experiments.weights`).
Sets without names or joins (FeTaQA, TabFact) have no part in it. Intervals are 95 %, over
questions.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pneuma_assets.core.config.query import QueryOptions, Weights
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import NO_FILTER, IndexQuery, SearchIndex, SideHits, TableScores
from pneuma_assets.core.relations import rank_groups
from pneuma_assets.core.relations.rank_groups import CANDIDATES, PARTS, SetGrowth
from pneuma_assets.core.search import completion
from pneuma_assets.core.search.completion import complete
from pneuma_assets.core.search.groups import GroupSearch
from pneuma_assets.core.search.retrieve import retrieve_candidates
from pneuma_assets.core.search.signals import RankedTable, proposed_tables, rank_tables
from pneuma_assets.core.search.table_search import SILENT
from pneuma_assets.core.tables import TableFacts
from pneuma_bench.experiments.support.sets import UNNAMED, arguments, copies_of, means, sets_of
from pneuma_bench.lab import Lab
from pneuma_bench.relations import Relations
from pneuma_bench.sets import RetrievalSet

COMPLETIONS = [*product((0.1, 0.2, 0.3), (0.1, 0.2, 0.3), (0.0, 0.1, 0.2, 0.3))]
"""JOINED, ALIKE and SAID, among which the other sets choose."""
MOVES = 200
"""Of one weight of a set's parts each, that are tried."""
Way = tuple[float, ...]
FIGURES = ("hit@1", "hit@10", "exact@1", "tables")
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Asked:
    """A question, what the index says of its candidates, and which tables it needs."""

    text: str
    words: Sequence[str]
    scores: Mapping[str, TableScores]
    side: SideHits
    needed: frozenset[str]


@dataclass(frozen=True)
class Questions:
    """A set that was asked; `copies` tells of a table which one it is a copy of."""

    name: str
    index: SearchIndex
    asked: Sequence[Asked]
    related: Relations
    copies: Mapping[str, str]

    def same(self, tables: Iterable[str]) -> frozenset[str]:
        """Return tables with the originals of copies in their place."""
        return frozenset(self.copies.get(one, one) for one in tables)

    def ranked(self, one: Asked, weights: Weights) -> list[RankedTable]:
        """Return the tables as `search` has them, but for what copies and trust change."""
        facts = {i: TableFacts(joins=self.related.facts[i].joins) for i in one.scores}
        return complete(rank_tables(one.scores, weights, one.side, one.words), facts)

    def growth(self, one: Asked, weights: Weights) -> SetGrowth:
        """Return the sets of tables of a question as `find_groups` has them."""
        ranked = rank_tables(one.scores, weights, one.side, one.words)[:CANDIDATES]
        scores = {i.table_id: i.score for i in ranked}
        headers = {i.table_id: i.scores.headers for i in ranked}
        search = GroupSearch(self.index, self.related.joins_of)
        return SetGrowth(*search.known(one.text, scores, headers, NO_FILTER))


def main() -> None:
    options = arguments(__doc__).parse_args()
    with ExitStack() as stack:
        sets = [
            ask(options.folder, name, dataset, options.keep, stack)
            for name, dataset in sets_of(options.folder).items()
            if name not in UNNAMED
        ]
        shipped = Weights()
        figures = [{some: completed(one, some) for some in COMPLETIONS} for one in sets]
        for at, one in enumerate(sets):
            report(f"{one.name}, tables, fitted", tables_found(one, shipped))
            best = chosen(COMPLETIONS, figures, at, ("R@10", "all@10"))
            report(f"{one.name}, tables, left out {best}", figures[at][best])
        examples = {one.name: [example(one, asked) for asked in one.asked] for one in sets}
        for one in sets:
            report_groups(f"{one.name}, sets, fitted", one, shipped)
            rest = [examples[other.name] for other in sets if other is not one]
            left_out = chosen_weights(rest)
            ranked_by(left_out, f"{one.name}, sets, left out", one, shipped)
            print("  " + ", ".join(f"{name} {value:.1f}" for name, value in left_out.items()))


def ranked_by(parts: Mapping[str, float], what: str, one: Questions, weights: Weights) -> None:
    """Report sets that are ranked by other weights of their parts."""
    rank_groups.WEIGHTS, shipped = parts, rank_groups.WEIGHTS
    report_groups(what, one, weights)
    rank_groups.WEIGHTS = shipped


def completed(one: Questions, way: Way) -> dict[str, Numbers]:
    with completed_by(way):
        return tables_found(one, Weights())


@contextmanager
def completed_by(way: Way) -> Iterator[None]:
    """Complete the first tables by other weights meanwhile."""
    names = "JOINED", "ALIKE", "SAID"
    shipped = {name: getattr(completion, name) for name in names}
    vars(completion).update(zip(names, way, strict=True))
    try:
        yield
    finally:
        vars(completion).update(shipped)


def ask(
    folder: Path, name: str, dataset: RetrievalSet, keep: Path | None, stack: ExitStack
) -> Questions:
    """Index a set and ask its questions."""
    lab = stack.enter_context(Lab(dataset, keep))
    (index, _, related), query, encoder = lab.index(), QueryOptions(), lab.encoder()
    asked = []
    answerable = [one for one in dataset.asked if one.relevant]
    for some in chunks(answerable, 50):
        vectors = encoder.encode_queries([one.text for one in some])
        queries = [
            IndexQuery(one.text, vector, one.text, SILENT)
            for one, vector in zip(some, vectors, strict=True)
        ]
        proposals = retrieve_candidates(index, queries, CANDIDATES, query.n, NO_FILTER)
        tables = [proposed_tables(one.side) for one in proposals]
        scores = index.table_scores(queries, tables)
        for one, proposal, found in zip(some, proposals, scores, strict=True):
            words = list(dict.fromkeys(index.analyzer.question_terms(one.text)))
            asked.append(Asked(one.text, words, found, proposal.side, frozenset(one.relevant)))
    copies = copies_of(folder, name, dataset)
    return Questions(name, index, asked, related, copies)


def tables_found(one: Questions, weights: Weights) -> dict[str, Numbers]:
    """Return of each question whether a needed table is first, among ten, and all among ten."""
    rows = []
    for asked in one.asked:
        needed = one.same(asked.needed)
        ranked = (table.table_id for table in one.ranked(asked, weights))
        found = list(dict.fromkeys(one.copies.get(i, i) for i in ranked))[:10]
        rows.append((found[0] in needed, bool(needed & {*found}), needed <= {*found}))
    columns = np.array(rows, np.float64).T
    return dict(zip(("R@1", "R@10", "all@10"), columns, strict=True))


def chosen(
    ways: Sequence[Way],
    figures: Sequence[Mapping[Way, Mapping[str, Numbers]]],
    left_out: int,
    by: Sequence[str],
) -> Way:
    """Return the weights by which the other sets are found best, by the sum of these figures."""
    others = [one for at, one in enumerate(figures) if at != left_out]
    return max(ways, key=lambda way: sum(one[way][f].mean() for one in others for f in by))


Example = tuple[Numbers, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]
"""The parts of the sets of a question, unweighted; which are hits, and which exact."""


def example(one: Questions, asked: Asked) -> Example:
    needed, grown = one.same(asked.needed), [*one.growth(asked, Weights()).groups()]
    sets = [one.same(group) for group, _ in grown]
    shipped = np.array([rank_groups.WEIGHTS[name] for name in PARTS])
    parts = np.array([[some.get(name, 0.0) for name in PARTS] for _, some in grown]) / shipped
    return parts, np.array([needed <= one for one in sets]), np.array([needed == s for s in sets])


def chosen_weights(sets: Sequence[Sequence[Example]]) -> dict[str, float]:
    """Return weights moved at random as long as the right sets come first more often.

    Right is a hit, among the ten first half as much, and an exact set as much again.
    """

    def worth(values: Numbers) -> float:
        return float(np.mean([np.mean([_worth(one, values) for one in some]) for some in sets]))

    drawn = np.random.default_rng(0)
    values = np.array([rank_groups.WEIGHTS[name] for name in PARTS])
    best = worth(values)
    for at in range(MOVES):
        moved = values.copy()
        moved[drawn.integers(len(values))] += drawn.normal() * (2.0 if at < MOVES / 2 else 0.6)
        if (reached := worth(moved)) > best:
            values, best = moved, reached
    return dict(zip(PARTS, values.tolist(), strict=True))


def _worth(example: Example, values: Numbers) -> float:
    parts, hits, exact = example
    scores = parts @ values
    first = scores.argmax()
    ten = np.argpartition(-scores, min(9, len(scores) - 1))[:10]
    return float(hits[first]) + 0.5 * float(hits[ten].any()) + float(exact[first])


def report_groups(what: str, one: Questions, weights: Weights) -> None:
    """Print how often the first set and one of ten have all tables, for all and for several."""
    rows, several = [], []
    for asked in one.asked:
        needed = one.same(asked.needed)
        found = one.growth(asked, weights).ranked(10)
        sets = [one.same(group.tables) for group in found]
        hits = [needed <= some for some in sets] or [False]
        rows.append((hits[0], any(hits), sets[:1] == [needed], len(sets[0]) if sets else 0))
        several.append(len(needed) > 1)
    values = np.array(rows, np.float64)
    report(f"{what}, all", dict(zip(FIGURES, values.T, strict=True)))
    if any(several) and not all(several):
        report(f"{what}, several", dict(zip(FIGURES, values[several].T, strict=True)))


def report(what: str, figures: Mapping[str, Numbers]) -> None:
    print(f"{what} ({len(next(iter(figures.values())))}): {means(figures)}", flush=True)


if __name__ == "__main__":
    main()
