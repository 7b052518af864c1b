"""The area under the ROC curve, against numbers worked out by hand and by brute force."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_bench.measure import auroc


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
    assert auroc(np.array(answerable), np.array(unanswerable))[0] == pytest.approx(expected)


CONFIDENCES = st.lists(st.sampled_from([-1.0, 0.0, 0.1, 0.25, 0.9, 1.0]), min_size=1, max_size=9)


@given(CONFIDENCES, CONFIDENCES)
def test_auroc_is_the_share_of_pairs_won(answerable, unanswerable):
    pairs = [(a > b) + 0.5 * (a == b) for a in answerable for b in unanswerable]
    found, _ = auroc(np.array(answerable), np.array(unanswerable))
    assert found == pytest.approx(sum(pairs) / len(pairs))
    other, _ = auroc(-np.array(answerable), -np.array(unanswerable))
    assert other == pytest.approx(1 - found)


def test_the_interval_of_auroc_holds_the_truth():
    """Of normal confidences a standard deviation apart it is Phi(1 / sqrt(2)), about 0.760."""
    generator = np.random.default_rng(3)
    held = 0
    for _ in range(60):
        _, (low, high) = auroc(generator.normal(1, 1, 150), generator.normal(0, 1, 100))
        held += low <= 0.7602 <= high
    assert held >= 52


def test_without_pairs_there_is_no_auroc():
    assert math.isnan(auroc(np.array([0.5]), np.empty(0))[0])
