"""Fits how sure an answer is to scores, and measures it on sets that it was not fitted on.

    python -m pneuma_bench.experiments.confidence FOLDER [--keep KEPT] [--questions 300]

A question is asked of the tables of its set, again of these without its own, and of the tables of
the other sets; a set's own questions that no table answers count as the second kind. All sets count
alike, half of each being answerable, and of the others half are of other sets.

For each set, by what is fitted to all and by what is fitted to the others (left out): the area
under the ROC curve (AUROC) against both kinds, and which share of each is refused below the
threshold. That is the highest that refuses at most one of 100 answerable questions of every set it
is fitted to. Then the calibration of tables' probabilities: their mean distance from the share of
right ones, in ten bins. Then the constants of `core/search/confidence.py`.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.query import QueryOptions
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import NO_FILTER, IndexQuery, SearchIndex
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.search.confidence import (
    MOST,
    SIGNS,
    features_of,
    signs_of,
    words_of_question,
)
from pneuma_assets.core.search.retrieve import retrieve_candidates
from pneuma_assets.core.search.signals import proposed_tables, rank_tables
from pneuma_assets.core.search.table_search import SILENT
from pneuma_assets.core.terms.rare_words import sought_words
from pneuma_assets.core.text.analysis import ENGLISH
from pneuma_bench.experiments.support.sets import arguments, sets_of
from pneuma_bench.lab import Lab
from pneuma_bench.measure import auroc
from pneuma_bench.sets import RetrievalSet

Numbers = npt.NDArray[np.float64]
ANSWERED, WITHOUT, OTHERS = 0, 1, 2
REFUSED, PENALTY = 0.01, 0.1


@dataclass(frozen=True)
class Asked:
    """A question's answer: which kind it is of, its signs, its best tables' scores, the right."""

    kind: int
    signs: Sequence[float]
    scores: Sequence[float]
    right: Sequence[bool]


@dataclass(frozen=True)
class Fitted:
    """A logistic regression over the signs as they are, and below which odds it refuses."""

    slopes: Numbers
    intercept: float
    least: float = 0.0

    def of(self, asked: Sequence[Asked]) -> Numbers:
        """Return the log odds of each answer."""
        return np.array([one.signs for one in asked]) @ self.slopes + self.intercept


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--questions", type=int, default=300, help="of each set, drawn")
    given = parser.parse_args()
    read = sets_of(given.folder)
    sets = {name: collected(name, read, given.keep, given.questions) for name in read}
    fitted = fit([*sets.values()])
    for name, asked in sets.items():
        print(name, shown(fitted, asked), sep="\n  fitted:   ")
        others = [one for other, one in sets.items() if other != name]
        print("  left out:", shown(fit(others), asked) if others else "nothing")
    for sign, slope in zip(SIGNS, fitted.slopes, strict=True):
        print(f'    "{sign}": {slope:.2f},')
    least = 1 / (1 + np.exp(-fitted.least))
    print(f"INTERCEPT = {fitted.intercept:.2f}, refuse below {least:.3f}")
    print("SHARE_AHEAD, SHARE_INTERCEPT = {:.2f}, {:.2f}".format(*share([*sets.values()])))


def collected(
    name: str, read: dict[str, RetrievalSet], keep: Path | None, most: int
) -> list[Asked]:
    """Index a set and ask its questions, with and without their tables, and those of others."""
    dataset = read[name]
    own = [*zip(dataset.questions, map(set, dataset.relevant), strict=True)]
    chance = random.Random(name)
    asked = [(text, gold, WITHOUT) for text, gold in chance.sample(own, min(most, len(own)))]
    for other in read.values():
        if other is not dataset:
            texts = [q for q, gold in zip(other.questions, other.relevant, strict=True) if gold]
            few = chance.sample(texts, min(len(texts), most // (len(read) - 1)))
            asked += [(text, set(), OTHERS) for text in few]
    with Lab(dataset, keep) as lab:
        return [*ask(lab.index()[0], lab.encoder(), asked)]


def ask(
    index: SearchIndex, encoder: Encoder, asked: Sequence[tuple[str, set[str], int]]
) -> Iterator[Asked]:
    query = QueryOptions.of(Deployment().query)
    for some in chunks(asked, 50):
        texts = [text for text, _, _ in some]
        vectors = encoder.encode_queries(texts)
        queries = [
            IndexQuery(t, v, t, SILENT, sought_words(t, ENGLISH))
            for t, v in zip(texts, vectors, strict=True)
        ]
        proposals = retrieve_candidates(index, queries, query.k, query.n, where=NO_FILTER)
        tables = [proposed_tables(one.side) for one in proposals]
        scores = index.table_scores(queries, tables)
        for (text, gold, kind), one, found in zip(some, proposals, scores, strict=True):
            words = words_of_question(text, ENGLISH)
            for gone in [set[str](), gold] if gold else [gold]:
                left = {i: table for i, table in found.items() if i not in gone}
                ranked = rank_tables(left, query.weights, one.side, [*words])[:MOST]
                known = index.evidence([table.table_id for table in ranked])
                signs = signs_of(
                    words, [features_of(i, known[i.table_id], words, ENGLISH) for i in ranked]
                )
                yield Asked(
                    ANSWERED if gold and not gone else kind,
                    [signs[name] for name in SIGNS],
                    [table.score for table in ranked],
                    [table.table_id in gold for table in ranked],
                )


def kinds(asked: Sequence[Asked]) -> npt.NDArray[np.int64]:
    return np.array([one.kind for one in asked])


def fit(sets: Sequence[Sequence[Asked]]) -> Fitted:
    """Fit to sets of equal weight, each half answerable."""
    values = np.array([one.signs for asked in sets for one in asked])
    labels = [kinds(asked) for asked in sets]
    weights = []
    for one in labels:
        counts = np.bincount(one, minlength=3)
        shares = np.where(counts > 0, [0.5, 0.25, 0.25], 0) / np.maximum(counts, 1)
        weights.append(1000 * shares[one])
    mean, spread = values.mean(axis=0), values.std(axis=0) + 1e-9
    model = LogisticRegression(C=PENALTY, max_iter=1000)
    answered = np.concatenate(labels) == ANSWERED
    model.fit((values - mean) / spread, answered, sample_weight=np.concatenate(weights))
    slopes = model.coef_[0] / spread
    fitted = Fitted(slopes, float(model.intercept_[0] - slopes @ mean))
    odds = [fitted.of([one for one in asked if one.kind == ANSWERED]) for asked in sets]
    return Fitted(slopes, fitted.intercept, min(float(np.quantile(one, REFUSED)) for one in odds))


def shown(fitted: Fitted, asked: Sequence[Asked]) -> str:
    odds, labels = fitted.of(asked), kinds(asked)
    said = [f"answerable refused {np.mean(odds[labels == ANSWERED] < fitted.least):.3f}"]
    for kind, what in ((WITHOUT, "without its tables"), (OTHERS, "of other sets")):
        area, (low, high) = auroc(odds[labels == ANSWERED], odds[labels == kind])
        refused = np.mean(odds[labels == kind] < fitted.least)
        said.append(f"{what} AUROC {area:.3f} ({low:.3f} to {high:.3f}), {refused:.3f}")
    return "; ".join(said)


def share(sets: Sequence[Sequence[Asked]]) -> tuple[float, float]:
    """Return the log odds that a table is right, if any is, by how far its score is ahead."""
    ahead, labels, weights = [], [], []
    for asked in sets:
        some = [one for one in asked if one.kind == ANSWERED]
        for one in some:
            for place, score in enumerate(one.scores):
                others = [*one.scores[:place], *one.scores[place + 1 :]]
                ahead.append([score - max(others, default=0.0)])
                labels.append(one.right[place])
                weights.append(1000 / len(some))
    model = LogisticRegression(C=1e6).fit(np.array(ahead), labels, sample_weight=weights)
    return float(model.coef_[0][0]), float(model.intercept_[0])


if __name__ == "__main__":
    main()
