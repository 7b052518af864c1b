"""Metrics against numbers worked out by hand."""

import math
from functools import partial

import pytest

from pneuma_assets.core.bench.metrics import hit_at, mean, ndcg_at, recall_at, reciprocal_rank

RANKED = ["d", "a", "c", "b"]


@pytest.mark.parametrize(
    ("metric", "relevant", "expected"),
    [
        (partial(recall_at, 1), {"a"}, 0.0),
        (partial(recall_at, 2), {"a"}, 1.0),
        (partial(recall_at, 2), {"a", "b"}, 0.5),
        (partial(recall_at, 10), {"a", "b", "x"}, 2 / 3),
        (partial(recall_at, 10), ["a", "a"], 1.0),
        (partial(hit_at, 1), {"a"}, 0.0),
        (partial(hit_at, 2), {"a", "x"}, 1.0),
        (partial(hit_at, 10), {"x"}, 0.0),
        (reciprocal_rank, {"d"}, 1.0),
        (reciprocal_rank, {"c", "b"}, 1 / 3),
        (reciprocal_rank, {"x"}, 0.0),
        (partial(ndcg_at, 10), {"d"}, 1.0),
        (partial(ndcg_at, 10), {"a"}, 1 / math.log2(3)),
        (partial(ndcg_at, 1), {"a"}, 0.0),
        (partial(ndcg_at, 4), {"a", "b"}, 0.6509209),  # (0.6309 + 0.4307) / (1 + 0.6309)
        (partial(ndcg_at, 1), {"d", "a"}, 1.0),  # one place cannot hold more than one
    ],
)
def test_metric(metric, relevant, expected):
    assert metric(RANKED, relevant) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("metric", [partial(recall_at, 3), partial(hit_at, 3), reciprocal_rank])
def test_an_empty_answer_scores_nothing(metric):
    assert metric([], {"a"}) == 0.0


def test_mean_over_questions():
    assert mean(reciprocal_rank, [["a"], ["b", "a"]], [{"a"}, {"a"}]) == 0.75
    assert mean(reciprocal_rank, [], []) == 0.0
