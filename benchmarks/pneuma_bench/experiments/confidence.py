"""Fits the confidence of an answer, and measures it on questions that it was not fitted on.

    python -m pneuma_bench.experiments.confidence --keep FOLDER \
        T1.jsonl Q1.jsonl T2.jsonl Q2.jsonl ...

Each pair is a set as `pneuma-bench run` reads them. A question with tables is asked of all
tables, and again without its own; a set with questions that no table answers has those instead.
All sets count alike, and half of each is answerable.

Printed are the area under the ROC curve (AUROC) of every sign alone and of all together, and how
many unanswerable questions are refused where 95 of 100 answerable ones are kept: by
cross-validation over questions (both copies of one are in the same part), and for each set by what
was fitted on the others. Then the coefficients that `core/search/confidence.py` has.
"""

import argparse
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import closing
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
from pneuma_assets.core.search.confidence import answerable as probability
from pneuma_assets.core.search.retrieve import retrieve_candidates
from pneuma_assets.core.search.signals import RankedTable, proposed_tables, rank_tables
from pneuma_assets.core.tables import TableTerms
from pneuma_assets.core.text.analysis import ENGLISH
from pneuma_bench.lab import Lab
from pneuma_bench.outcome import auroc
from pneuma_bench.reading import read_files
from pneuma_bench.sets import RetrievalSet
from pneuma_bench.settings import setting_of

Numbers = npt.NDArray[np.float64]
PARTS, KEPT, PENALTY = 5, 0.95, 0.1


@dataclass(frozen=True)
class Asked:
    """A question's answer: its signs, and of its best tables the scores and which are right."""

    group: int
    answerable: bool
    signs: Sequence[float]
    scores: Sequence[float]
    right: Sequence[bool]


@dataclass(frozen=True)
class Fitted:
    """A logistic regression over the signs as they are."""

    slopes: Numbers
    intercept: float

    def of(self, asked: Sequence[Asked]) -> Numbers:
        """Return the probability of each answer."""
        odds = signs(asked) @ self.slopes + self.intercept
        return np.asarray(1 / (1 + np.exp(-odds)), np.float64)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="T.jsonl Q.jsonl")
    parser.add_argument("--keep", type=Path, help="keeps embeddings and indexes")
    given = parser.parse_args()
    pairs = [*zip(given.files[::2], given.files[1::2], strict=True)]
    sets = {tables.name.split(".")[0]: collected(tables, q, given.keep) for tables, q in pairs}
    alone(sets)
    validated(sets)
    final(sets)
    shipped(sets)


def collected(tables: Path, queries: Path, keep: Path | None) -> list[Asked]:
    """Index a set and ask its questions, with and without the tables that answer them."""
    dataset = read_files(tables, queries)
    setting = setting_of(Deployment(), {})
    with Lab(dataset, keep, os.environ) as lab:
        index, _ = lab.index(setting)
        with closing(index):
            return [*ask(index, lab.encoder(setting), dataset, setting.deployment)]


def ask(
    index: SearchIndex, encoder: Encoder, dataset: RetrievalSet, deployment: Deployment
) -> Iterator[Asked]:
    has_unanswerable = not all(dataset.relevant)
    query = QueryOptions.of(deployment.query)
    asked = enumerate(zip(dataset.questions, dataset.relevant, strict=True))
    for some in chunks([*asked], 50):
        texts = [text for _, (text, _) in some]
        vectors = encoder.encode_queries(texts)
        queries = [IndexQuery(t, v, evidence=t) for t, v in zip(texts, vectors, strict=True)]
        proposals = retrieve_candidates(index, queries, query.k, query.n, where=NO_FILTER)
        tables = [proposed_tables(one.side) for one in proposals]
        scores = index.table_scores(queries, tables)
        for (group, (text, gold)), one, found in zip(some, proposals, scores, strict=True):
            for left_out in [set(), *([] if has_unanswerable or not gold else [set(gold)])]:
                left = {i: table for i, table in found.items() if i not in left_out}
                ranked = rank_tables(left, query.weights, one.side)[:MOST]
                evidence = index.evidence([table.table_id for table in ranked])
                yield seen(group, text, ranked, evidence, set(gold) - left_out)


def seen(
    group: int,
    question: str,
    ranked: Sequence[RankedTable],
    evidence: dict[str, TableTerms],
    gold: set[str],
) -> Asked:
    words = words_of_question(question, ENGLISH)
    contenders = [features_of(one, evidence[one.table_id], words, ENGLISH) for one in ranked]
    values = signs_of(words, contenders)
    return Asked(
        group,
        bool(gold),
        [values[name] for name in SIGNS],
        [one.score for one in ranked],
        [one.table_id in gold for one in ranked],
    )


def signs(asked: Sequence[Asked]) -> Numbers:
    return np.array([one.signs for one in asked], np.float64)


def answerable(asked: Sequence[Asked]) -> npt.NDArray[np.bool_]:
    return np.array([one.answerable for one in asked])


def fit(sets: Sequence[Sequence[Asked]]) -> Fitted:
    """Fit to sets of equal weight, each half answerable."""
    values = np.concatenate([signs(one) for one in sets])
    labels = [answerable(one) for one in sets]
    weights = [np.where(one, 0.5 / one.mean(), 0.5 / (1 - one.mean())) for one in labels]
    weight = np.concatenate([1000 * one / len(one) for one in weights])
    mean, spread = values.mean(axis=0), values.std(axis=0) + 1e-9
    model = LogisticRegression(C=PENALTY, max_iter=1000)
    model.fit((values - mean) / spread, np.concatenate(labels), sample_weight=weight)
    slopes = model.coef_[0] / spread
    return Fitted(slopes, float(model.intercept_[0] - slopes @ mean))


def figures(name: str, confidence: Numbers, labels: npt.NDArray[np.bool_]) -> str:
    area = auroc(confidence[labels], confidence[~labels])
    bound = np.quantile(confidence[labels], 1 - KEPT)
    refused = np.mean(confidence[~labels] < bound)
    low, high = area.interval
    return f"{name:22} AUROC {area.value:.3f} ({low:.3f}-{high:.3f}), refused {refused:.2f}"


def alone(sets: dict[str, list[Asked]]) -> None:
    for set_name, asked in sets.items():
        labels = answerable(asked)
        first = np.mean([one.right[:1] == [True] for one in asked if one.answerable])
        print(f"{set_name}: {labels.sum()} answerable, {(~labels).sum()} not, R@1 {first:.3f}")
        for place, name in enumerate(SIGNS):
            print("  " + figures(name, signs(asked)[:, place], labels))


def validated(sets: dict[str, list[Asked]]) -> None:
    apart = {name: np.zeros(len(asked)) for name, asked in sets.items()}
    for part in range(PARTS):
        model = fit([[a for a in asked if a.group % PARTS != part] for asked in sets.values()])
        for name, asked in sets.items():
            here = np.array([one.group % PARTS == part for one in asked])
            apart[name][here] = model.of(asked)[here]
    for name, asked in sets.items():
        print(figures(f"{name}, other parts", apart[name], answerable(asked)))
        others = [other for key, other in sets.items() if key != name]
        if others:
            print(figures(f"{name}, other sets", fit(others).of(asked), answerable(asked)))
    kept = {name: np.sort(apart[name][answerable(asked)]) for name, asked in sets.items()}
    bound = threshold([*kept.values()])
    print(f"refuse below {bound:.2f}, by which 95 of 100 answerable are kept over all sets:")
    for name, asked in sets.items():
        refused = np.mean(apart[name][~answerable(asked)] < bound)
        print(f"  {name}: kept {np.mean(kept[name] >= bound):.3f}, refused {refused:.3f}")
    reliability(apart, sets)


def threshold(kept: Sequence[Numbers]) -> float:
    """Return from which confidence on 95 of 100 are kept where all sets count alike."""
    bounds = np.linspace(0, 1, 1001)
    shares = np.mean([[np.mean(one >= bound) for bound in bounds] for one in kept], axis=0)
    return float(bounds[np.flatnonzero(shares >= KEPT)[-1]])


def shipped(sets: dict[str, list[Asked]]) -> None:
    """Print what the shipped signs keep of a set below the threshold that the others choose.

    That is, in hundredths, the highest that keeps 95 of 100 answerable questions of each of them.
    """
    known = {
        name: np.array([probability(dict(zip(SIGNS, one.signs, strict=True))) for one in asked])
        for name, asked in sets.items()
    }
    low = {n: np.quantile(known[n][answerable(asked)], 1 - KEPT) for n, asked in sets.items()}
    for name, asked in sets.items():
        labels = answerable(asked)
        chosen = [("all sets", min(low.values()))]
        if len(sets) > 1:
            chosen.append(("other sets", min(low[other] for other in sets if other != name)))
        for by, lowest in chosen:
            bound = math.floor(100 * lowest) / 100
            kept = np.mean(known[name][labels] >= bound)
            refused = np.mean(known[name][~labels] < bound)
            print(f"{name}, by {by}: below {bound:.2f}, kept {kept:.3f}, refused {refused:.3f}")


def reliability(apart: dict[str, Numbers], sets: dict[str, list[Asked]]) -> None:
    """Print how often a table answers where so much confidence was said, sets counting alike."""
    print("said: answerable (half of each set being so)")
    for low in np.arange(0, 1, 0.1):
        true, false = 0.0, 0.0
        for name, asked in sets.items():
            here = (apart[name] >= low) & (apart[name] < low + 0.1)
            labels = answerable(asked)
            true += float(np.mean(here[labels]))
            false += float(np.mean(here[~labels]))
        share = true / (true + false) if true + false else math.nan
        print(f"  {low:.1f}-{low + 0.1:.1f}: {share:.2f}")


def final(sets: dict[str, list[Asked]]) -> None:
    model = fit([*sets.values()])
    for name, slope in zip(SIGNS, model.slopes, strict=True):
        print(f'    "{name}": {slope:.2f},')
    print(f"INTERCEPT = {model.intercept:.2f}")
    ahead, labels, weights = [], [], []
    for asked in sets.values():
        some = [one for one in asked if one.answerable]
        for one in some:
            for place, score in enumerate(one.scores):
                others = [*one.scores[:place], *one.scores[place + 1 :]]
                ahead.append([score - max(others, default=0.0)])
                labels.append(one.right[place])
                weights.append(1000 / len(some))
    share = LogisticRegression(C=1e6).fit(np.array(ahead), labels, sample_weight=weights)
    print(f"AHEAD, INTERCEPT of a share = {share.coef_[0][0]:.2f}, {share.intercept_[0]:.2f}")
    chance = share.predict_proba(np.array(ahead))[:, 1]
    print("share said: right")
    for low in np.arange(0, 1, 0.1):
        here = (chance >= low) & (chance < low + 0.1)
        right = np.average(np.array(labels)[here], weights=np.array(weights)[here])
        print(f"  {low:.1f}-{low + 0.1:.1f}: {right:.2f} of {here.sum()}")


if __name__ == "__main__":
    main()
