"""Scores as decisions, against numbers worked out by hand and by brute force."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_bench.outcome import at_threshold, auroc

RANKINGS = [
    [("a", 0.9), ("b", 0.6), ("c", 0.1)],
    [("d", 0.7), ("a", 0.7)],
    [("x", 0.2)],
    [],
]
RELEVANT = [{"a", "c"}, {"a"}, {"x"}, {"y"}]


@pytest.mark.parametrize(
    ("threshold", "precision", "recall"),
    [
        (0.5, 2 / 4, 2 / 5),  # kept: a b | d a; right: a | a; wanted: a c | a | x | y
        (0.0, 4 / 6, 4 / 5),
        (0.8, 1 / 1, 1 / 5),
    ],
)
def test_precision_and_recall_over_all_tables(threshold, precision, recall):
    found = at_threshold(RANKINGS, RELEVANT, threshold)
    assert found["precision"].value == pytest.approx(precision)
    assert found["recall"].value == pytest.approx(recall)
    f1 = 2 * precision * recall / (precision + recall)
    assert found["F1"].value == pytest.approx(f1)
    for one in found.values():
        assert one.interval.low <= one.value <= one.interval.high


def test_where_nothing_is_kept_there_is_no_precision():
    found = at_threshold(RANKINGS, RELEVANT, 2.0)
    assert math.isnan(found["precision"].value)
    assert (found["recall"].value, found["F1"].value) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("answerable", "unanswerable", "expected"),
    [
        ([0.9, 0.8], [0.1], 1.0),
        ([0.1], [0.9, 0.8], 0.0),
        ([0.5], [0.5], 0.5),
        ([0.9, 0.4], [0.5, 0.4], 2.5 / 4),  # wins 2 of 2, then 0 and a tie
    ],
)
def test_auroc_by_hand(answerable, unanswerable, expected):
    assert auroc(np.array(answerable), np.array(unanswerable)).value == pytest.approx(expected)


CONFIDENCES = st.lists(st.sampled_from([-1.0, 0.0, 0.1, 0.25, 0.9, 1.0]), min_size=1, max_size=9)


@given(CONFIDENCES, CONFIDENCES)
def test_auroc_is_the_share_of_pairs_won(answerable, unanswerable):
    pairs = [(a > b) + 0.5 * (a == b) for a in answerable for b in unanswerable]
    found = auroc(np.array(answerable), np.array(unanswerable))
    assert found.value == pytest.approx(sum(pairs) / len(pairs))
    assert auroc(-np.array(answerable), -np.array(unanswerable)).value == pytest.approx(
        1 - found.value
    )


def test_the_interval_of_auroc_holds_the_truth():
    """Of normal confidences a standard deviation apart it is Phi(1 / sqrt(2)), about 0.760."""
    generator = np.random.default_rng(3)
    held = 0
    for _ in range(60):
        found = auroc(generator.normal(1, 1, 150), generator.normal(0, 1, 100))
        held += found.interval.low <= 0.7602 <= found.interval.high
    assert held >= 52


def test_without_pairs_there_is_no_auroc():
    assert math.isnan(auroc(np.array([0.5]), np.empty(0)).value)
