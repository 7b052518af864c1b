"""Fits the weights of the signals to questions, and measures them on sets left out.

    python -m pneuma_bench.experiments.weights FOLDER [--keep KEPT]

A softmax regression: the weights, none negative, by which it is likeliest that a table that a
question needs is first. Sets of tables count alike; one whose columns are described is asked
without and with documents, which count half each. A copy (`NAME.copies.jsonl`) is the same table.

For each set: how often a needed table is first (hit@1), and all are among ten (all@10), by the
weights as shipped, fitted to all sets, and fitted to the sets of other tables (left out). That is
the ranking by signals alone, before copies and families are folded, trust counts and tables that
belong together move up. Then the weights that are fitted to all, for `core/config/query.py`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from pneuma_assets.core.config.query import Weights
from pneuma_bench.experiments.support.asking import candidates_of
from pneuma_bench.experiments.support.sets import (
    arguments,
    copies_of,
    files_of,
    left_out,
    means,
    sets_of,
)
from pneuma_bench.lab import Lab
from pneuma_bench.sets import RetrievalSet

Numbers = npt.NDArray[np.float64]
SIGNALS = tuple(Weights.model_fields)
PENALTY = 2e-5
"""Of squared weights: it decides where no question does."""


@dataclass(frozen=True)
class Asked:
    """A question: its candidates, the share of each signal of each, and the tables it needs.

    A copy is named as its original.
    """

    tables: Sequence[str]
    shares: Numbers
    needed: frozenset[str]

    def found(self, weights: Numbers) -> tuple[bool, bool]:
        """Tell whether a needed table is first, and all are among ten."""
        order = np.argsort(-self.shares @ weights, kind="stable")
        first = [*dict.fromkeys(self.tables[at] for at in order)][:10]
        return not self.needed.isdisjoint(first[:1]), self.needed <= {*first}


def main() -> None:
    given = arguments(__doc__).parse_args()
    sets = {
        name: ask(dataset, copies_of(given.folder, name, dataset), given.keep)
        for name, dataset in sets_of(given.folder, documents=True).items()
    }
    to_all, shipped = fit(sets), np.array([*Weights().model_dump().values()])
    for name, asked in sets.items():
        print(f"{name} ({len(asked)})")
        ways = {"shipped": shipped, "fitted": to_all}
        if others := left_out(sets, name):
            ways["left out"] = fit(others)
        for way, weights in ways.items():
            hits, alls = zip(*(one.found(weights) for one in asked), strict=True)
            print(f"  {way + ':':9} {means({'hit@1': hits, 'all@10': alls})}", flush=True)
    for signal, weight in zip(SIGNALS, to_all, strict=True):
        print(f"{signal}: {weight:.2f}")


def ask(dataset: RetrievalSet, copies: Mapping[str, str], keep: Path | None) -> list[Asked]:
    """Index a set and ask its questions, but for those that no table answers."""
    asked = [one for one in dataset.asked if one.relevant]
    alike, some = Weights(**dict.fromkeys(SIGNALS, 1.0)), []
    with Lab(dataset, keep) as lab:
        found = candidates_of(lab, [one.text for one in asked])
        for question, candidates in zip(asked, found, strict=True):
            ranked = sorted(candidates.ranked(alike), key=lambda one: one.table_id)
            shares = [[one.signals.get(name, 0.0) for name in SIGNALS] for one in ranked]
            tables = [copies.get(one.table_id, one.table_id) for one in ranked]
            needed = frozenset(copies.get(i, i) for i in question.relevant)
            whole = len(SIGNALS) * np.array(shares).reshape(-1, len(SIGNALS))
            some.append(Asked(tables, whole, needed))
    return some


def fit(sets: Mapping[str, Sequence[Asked]]) -> Numbers:
    """Return the weights of the signals, which add up to 1."""
    variants, known, counts = Counter(map(files_of, sets)), list[Asked](), list[float]()
    for name, asked in sets.items():
        some = [one for one in asked if not one.needed.isdisjoint(one.tables)]
        known += some
        counts += [1 / len(some) / variants[files_of(name)] for _ in some]
    shares = np.concatenate([one.shares for one in known])
    right = np.array([table in one.needed for one in known for table in one.tables], float)
    sizes = [len(one.tables) for one in known]
    starts, of = np.cumsum([0, *sizes[:-1]]), np.repeat(np.arange(len(known)), sizes)
    counted = np.array(counts) / sum(counts)

    def loss(weights: Numbers) -> tuple[float, Numbers]:
        odds = shares @ weights
        odds = np.exp(odds - np.maximum.reduceat(odds, starts)[of])
        every, needed = np.add.reduceat(odds, starts), np.add.reduceat(odds * right, starts)
        needed = np.maximum(needed, np.finfo(float).tiny)
        gained = (odds * (right / needed[of] - 1 / every[of]) * counted[of]) @ shares
        likelihood = counted @ np.log(needed / every)
        return PENALTY / 2 * weights @ weights - likelihood, PENALTY * weights - gained

    first, bounds = np.full(len(SIGNALS), 3.0), [(0, None)] * len(SIGNALS)
    found = minimize(loss, first, jac=True, method="L-BFGS-B", bounds=bounds)
    return found.x / found.x.sum()


if __name__ == "__main__":
    main()
