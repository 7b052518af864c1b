"""What the package `target_benchmark` 0.1.3 computes, by its own rules (Ji et al., 2025).

They are not those of `bench.metrics`: there a figure is a mean over questions, so each question
counts alike; here `recall` counts tables, so a question with five counts five times. With one table
a question the two are equal.
"""

import math
from collections.abc import Collection, Sequence
from typing import Any

from pneuma_assets.core.errors import BenchmarkError

TRUE, FALSE, UNKNOWN = 1, 0, -1
"""The labels of fact verification: true, false, not enough information."""


def recall_as_target(found: Sequence[Sequence[Any]], gold: Sequence[Collection[Any]]) -> float:
    """Return how many of all questions' tables were found, of all there are (`recall`).

    The paper's R@k (section 3.2) where a question has one table. NaN without a table.
    """
    return _share(_hits(found, gold), sum(len(set(wanted)) for wanted in gold))


def capped_recall_as_target(
    found: Sequence[Sequence[Any]], gold: Sequence[Collection[Any]]
) -> float:
    """Return the same, of as many tables as the answers have places for (`capped_recall`).

    The cap is what was returned, not k: an answer of fewer tables than k makes it smaller. NaN
    where nothing was returned.
    """
    places = (
        min(len(set(wanted)), len(ranked)) for ranked, wanted in zip(found, gold, strict=True)
    )
    return _share(_hits(found, gold), sum(places))


def sacrebleu_of(predictions: Sequence[str], references: Sequence[str]) -> float:
    """Return the BLEU score of answers, 0 to 100, by the package `sacrebleu` and its defaults.

    Raises:
        BenchmarkError: The package is not installed.
    """
    try:
        import sacrebleu
    except ImportError as error:
        raise BenchmarkError(
            "the score of answers needs sacrebleu; run: pip install 'pneuma-assets[bench]'"
        ) from error
    return float(sacrebleu.corpus_bleu([*predictions], [[*references]]).score)


def verdict_of(text: str) -> int:
    """Return the label that a text stands for: it is looked for, 'true' before 'false'.

    So "not true" counts as true, in an answer as in a label: it is what the package counts.
    """
    lower = text.lower()
    return TRUE if "true" in lower else FALSE if "false" in lower else UNKNOWN


def weighted_scores(gold: Sequence[int], predicted: Sequence[int]) -> dict[str, float]:
    """Return accuracy, precision, recall and F1, each label weighted by how often it is right.

    As scikit-learn's `average="weighted"`: a label that nobody predicted has a precision of 0, one
    that is never right weighs nothing. All are NaN without a question.
    """
    pairs = [*zip(gold, predicted, strict=True)]
    of_labels = [_of_label(pairs, label) for label in sorted({*gold, *predicted})]
    scores = {"accuracy": _share(sum(right == said for right, said in pairs), len(pairs))}
    for at, name in enumerate(("precision", "recall", "f1"), start=1):
        weighted = math.fsum(one[0] * one[at] for one in of_labels)
        scores[name] = weighted / len(pairs) if pairs else math.nan
    return scores


def same_rows(one: Sequence[tuple[Any, ...]], other: Sequence[tuple[Any, ...]]) -> bool:
    """Return whether two results hold the same rows; order and repetition do not count."""
    return set(one) == set(other)


def _of_label(pairs: Sequence[tuple[int, int]], label: int) -> tuple[int, float, float, float]:
    """Return how often a label is right, and its precision, recall and F1."""
    support = sum(right == label for right, _ in pairs)
    claimed = sum(said == label for _, said in pairs)
    hits = sum(right == said == label for right, said in pairs)
    precision = hits / claimed if claimed else 0.0
    recall = hits / support if support else 0.0
    f1 = 2 * hits / (claimed + support)
    return support, precision, recall, f1


def _hits(found: Sequence[Sequence[Any]], gold: Sequence[Collection[Any]]) -> int:
    return sum(len({*ranked} & {*wanted}) for ranked, wanted in zip(found, gold, strict=True))


def _share(part: int, of: int) -> float:
    return part / of if of else math.nan
