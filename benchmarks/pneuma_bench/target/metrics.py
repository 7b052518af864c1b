"""What the package `target_benchmark` 0.1.3 computes, by its own rules (Ji et al., 2025).

They are not those of `core.measure.metrics`: there a figure is a mean over questions, so each
question counts alike; here `recall` counts tables, so a question with five counts five times. With
one table a question the two are equal.
"""

import math
from collections.abc import Collection, Sequence
from typing import Any


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


def _hits(found: Sequence[Sequence[Any]], gold: Sequence[Collection[Any]]) -> int:
    return sum(len({*ranked} & {*wanted}) for ranked, wanted in zip(found, gold, strict=True))


def _share(part: int, of: int) -> float:
    return part / of if of else math.nan
