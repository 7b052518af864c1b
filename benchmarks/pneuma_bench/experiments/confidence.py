"""Fits how sure an answer is to scores, and measures it on sets that it was not fitted on.

    python -m pneuma_bench.experiments.confidence FOLDER [--keep KEPT] [--questions 300]

A question is asked of the tables of its set, again of these without its own, and of the tables of
the other sets; a set's own questions that no table answers count as the second kind. All sets count
alike, half of each being answerable, and of the others half are of other sets. A set whose columns
are described is asked without and with documents; a copy of a right table (`NAME.copies.jsonl`) is
right. Scores are those of all signals, before copies and families are folded.

For each set: the area under the ROC curve (AUROC) of the best score against both kinds, whatever is
fitted. Then by what is fitted to all, and by what is fitted to the sets of other tables (left out):
which share of each kind is refused below the threshold, the highest that refuses at most one of 100
answerable questions of every set it is fitted to; the calibration of the first ten tables'
probabilities (their mean distance from the share of right ones, in ten bins); how many of these a
cut at the threshold shows, and the share of the right ones that it keeps. Then the constants of
`core/search/confidence.py`, and the threshold.
"""

import random
from argparse import Namespace
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression

from pneuma_assets.core.config.query import Weights
from pneuma_bench.experiments.support.asking import candidates_of
from pneuma_bench.experiments.support.sets import arguments, copies_of, files_of, left_out, sets_of
from pneuma_bench.lab import Lab
from pneuma_bench.measure import auroc
from pneuma_bench.sets import RetrievalSet

Numbers = npt.NDArray[np.float64]
KINDS = {"answerable": 0, "without its tables": 1, "of other sets": 2}
ANSWERED, WITHOUT, OTHERS = KINDS.values()
REFUSED, MOST, BINS = 0.01, 10, 10


@dataclass(frozen=True)
class Asked:
    """Questions of a set: the kind of each, its best tables' scores, which of these are right.

    The best one is first; where there are fewer tables, the scores are 0.
    """

    kinds: npt.NDArray[np.int64]
    scores: Numbers
    right: npt.NDArray[np.bool_]

    @property
    def best(self) -> Numbers:
        """What tells of a question whether any table answers."""
        return self.scores[:, :1]

    @property
    def tables(self) -> Numbers:
        """What tells of a table whether it answers: its score, and how far ahead it is."""
        ahead = self.scores - self.best
        ahead[:, 0] = self.scores[:, 0] - self.scores[:, 1]
        return np.stack([self.scores, ahead], axis=-1)

    @property
    def weights(self) -> Numbers:
        """What each table of a question counts, and so the question."""
        counts = np.bincount(self.kinds, minlength=len(KINDS))
        shares = np.where(counts > 0, [0.5, 0.25, 0.25], 0) / np.maximum(counts, 1)
        return np.where(self.scores > 0, shares[self.kinds][:, np.newaxis], 0)


@dataclass(frozen=True)
class Fitted:
    """Two logistic regressions, the intercept last, and the threshold."""

    question: Numbers
    table: Numbers
    least: float

    def answerable(self, asked: Asked) -> Numbers:
        """Return the probability that any table answers, as `confidence.answerable`."""
        return probability(asked.best, self.question)

    def confidences(self, asked: Asked) -> Numbers:
        """Return the probability that each table answers, as `confidence.confidences`."""
        most = self.answerable(asked)[:, np.newaxis]
        return np.minimum(most, probability(asked.tables, self.table))


def probability(features: Numbers, fitted: Numbers) -> Numbers:
    return 1 / (1 + np.exp(-features @ fitted[:-1] - fitted[-1]))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--questions", type=int, default=300, help="of each set, drawn")
    given = parser.parse_args()
    read = sets_of(given.folder, documents=True)
    sets = {name: ask(name, read, given) for name in read}
    fitted = fit(sets.values())
    for name, asked in sets.items():
        print(f"{name}: AUROC {separated(asked)}", shown(fitted, asked), sep="\n  fitted:   ")
        others = left_out(sets, name).values()
        print("  left out:", shown(fit(others), asked) if others else "nothing")
    print("BEST, NONE_DOES = {:.2f}, {:.2f}".format(*fitted.question))
    print("SCORE, AHEAD, NOT_IT = {:.2f}, {:.2f}, {:.2f}".format(*fitted.table))
    print(f"threshold {fitted.least:.3f}")


def ask(name: str, read: Mapping[str, RetrievalSet], given: Namespace) -> Asked:
    """Index a set and ask its questions, with and without their tables, and those of others."""
    dataset, chance, most = read[name], random.Random(files_of(name)), given.questions
    own = [*zip(dataset.questions, dataset.relevant, strict=True)]
    asked = [(text, gold, WITHOUT) for text, gold in chance.sample(own, min(most, len(own)))]
    others = [one for other, one in left_out(read, name).items() if other == files_of(other)]
    for other in others:
        texts = [q for q, gold in zip(other.questions, other.relevant, strict=True) if gold]
        few = chance.sample(texts, min(len(texts), most // len(others)))
        asked += [(text, (), OTHERS) for text in few]
    copies, rows = copies_of(given.folder, name, dataset), []
    with Lab(dataset, given.keep) as lab:
        found = candidates_of(lab, [text for text, _, _ in asked])
        for (_, gold, kind), one in zip(asked, found, strict=True):
            needed = {copies.get(i, i) for i in gold}
            right = {i for i in one.found if copies.get(i, i) in needed}
            for way, gone in [(ANSWERED, ()), (WITHOUT, right)] if gold else [(kind, ())]:
                ranked = one.ranked(Weights(), gone)[:MOST]
                rest = [0.0] * (MOST - len(ranked))
                scores = [*(table.score for table in ranked), *rest]
                rows.append((way, scores, [*(table.table_id in right for table in ranked), *rest]))
    kinds, scores, are_right = zip(*rows, strict=True)
    return Asked(np.array(kinds), np.array(scores), np.array(are_right, bool))


def fit(sets: Collection[Asked]) -> Fitted:
    """Fit to sets of equal weight, each half answerable."""
    question = regression((one.best, one.kinds == ANSWERED, one.weights[:, 0]) for one in sets)
    table = regression((one.tables, one.right, one.weights) for one in sets)
    odds = (probability(one.best[one.kinds == ANSWERED], question) for one in sets)
    return Fitted(question, table, min(float(np.quantile(one, REFUSED)) for one in odds))


def regression(sets: Iterable[tuple[Numbers, npt.NDArray[np.bool_], Numbers]]) -> Numbers:
    """Return the slopes and the intercept for features, labels and weights."""
    parts = [(x.reshape(-1, x.shape[-1]), y.ravel(), 1000 * w.ravel()) for x, y, w in sets]
    features, labels, weights = map(np.concatenate, zip(*parts, strict=True))
    model = LogisticRegression(C=1e6, max_iter=1000).fit(features, labels, sample_weight=weights)
    return np.append(model.coef_[0], model.intercept_)


def separated(asked: Asked) -> str:
    """Return how well the best score alone parts answerable questions from each other kind."""
    best, said = [asked.best[asked.kinds == at, 0] for at in KINDS.values()], []
    for kind, at in [*KINDS.items()][1:]:
        area, (low, high) = auroc(best[ANSWERED], best[at])
        said.append(f"{kind} {area:.3f} ({low:.3f} to {high:.3f})")
    return ", ".join(said)


def shown(fitted: Fitted, asked: Asked) -> str:
    """Return what is refused, how tables' probabilities are calibrated, and what a cut does."""
    is_refused, sure = fitted.answerable(asked) < fitted.least, fitted.confidences(asked)
    refused = [f"{kind} {is_refused[asked.kinds == at].mean():.3f}" for kind, at in KINDS.items()]
    off = (asked.weights * (sure - asked.right)).ravel()
    bins = np.minimum(sure.ravel() * BINS, BINS - 1).astype(int)
    distance = np.abs(np.bincount(bins, off)).sum() / asked.weights.sum()
    cut, answered = (sure >= fitted.least) & (asked.scores > 0), asked.kinds == ANSWERED
    tables, none = (cut[those].sum(axis=1).mean() for those in (answered, ~answered))
    return (
        f"refused {', '.join(refused)}; calibration {distance:.3f}; cut at {fitted.least:.3f} "
        f"shows {tables:.1f} tables, {none:.1f} where none answers, "
        f"keeps {cut[asked.right].mean():.3f}"
    )


if __name__ == "__main__":
    main()
