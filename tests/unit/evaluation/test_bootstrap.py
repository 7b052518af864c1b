"""Intervals that hold what they promise, where the truth is known."""

import math

import numpy as np
import pytest

from pneuma_assets.core.evaluation.metrics import SAMPLES, drawn, interval_of, mean_intervals


def test_95_of_100_intervals_hold_the_true_share():
    generator = np.random.default_rng(7)
    held = 0
    for _ in range(300):
        hits = (generator.random(250) < 0.37).astype(np.float64)
        low, high = mean_intervals({"hit": hits})["hit"]
        held += low <= 0.37 <= high
    assert 0.91 <= held / 300 <= 0.985


def test_the_same_values_have_one_interval_and_those_that_never_vary_are_sure():
    values = np.array([0.0, 1.0, 1.0, 0.0, 1.0])
    both = mean_intervals({"one": values, "other": values.copy()})
    assert both["one"] == both["other"] == mean_intervals({"one": values})["one"]
    assert mean_intervals({"all": np.ones(40)})["all"] == (1.0, 1.0)
    assert all(map(math.isnan, mean_intervals({"hit": np.empty(0)})["hit"]))
    assert all(map(math.isnan, interval_of(np.full(5, np.nan))))
    assert mean_intervals({}) == {}


@pytest.mark.parametrize("step", [None, 1, 7, SAMPLES, 10 * SAMPLES])
def test_every_sample_holds_as_many_questions_as_there_are(step):
    weights = np.concatenate([*drawn(13, step)])
    assert weights.shape == (SAMPLES, 13)
    assert (weights.sum(axis=1) == 13).all()
    assert abs(weights.mean() - 1) < 1e-9
