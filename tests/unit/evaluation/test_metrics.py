"""Metrics against numbers worked out by hand."""

import math
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.evaluation.metrics import (
    all_at,
    capped_recall_at,
    first_place,
    hit_at,
    ndcg_at,
    ranking_metrics,
    recall_at,
    reciprocal_rank,
)

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
        (partial(capped_recall_at, 1), {"d", "a"}, 1.0),  # one place, and it is used well
        (partial(capped_recall_at, 2), {"a", "b", "x"}, 0.5),
        (partial(capped_recall_at, 10), {"a", "b", "x"}, 2 / 3),
        (partial(all_at, 1), {"d", "a"}, 0.0),
        (partial(all_at, 2), {"d", "a"}, 1.0),
        (partial(all_at, 10), {"d", "x"}, 0.0),
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


def test_the_place_of_the_first_relevant_id():
    assert first_place(RANKED, {"c", "b"}) == 3
    assert first_place(RANKED, {"x"}) is None


IDS = st.lists(st.sampled_from("abcdefghijklmnop"), unique=True, max_size=12)
RELEVANT = st.frozensets(st.sampled_from("abcdefghijklmnop"), min_size=1)


@given(IDS, RELEVANT)
def test_every_metric_is_between_0_and_1_and_deeper_is_never_worse(ranked, relevant):
    found = {name: metric(ranked, relevant) for name, metric in ranking_metrics().items()}
    assert all(0.0 <= value <= 1.0 for value in found.values())
    for name in ("hit", "recall", "all"):
        assert found[f"{name}@1"] <= found[f"{name}@5"] <= found[f"{name}@10"]
    for k in (1, 5, 10):
        assert found[f"all@{k}"] <= found[f"recall@{k}"] <= found[f"capped_recall@{k}"]
        assert found[f"capped_recall@{k}"] <= found[f"hit@{k}"] == found[f"R@{k}"]
        if len(relevant) == 1:
            assert found[f"all@{k}"] == found[f"hit@{k}"]
    assert found["MRR"] >= found["hit@1"]


@given(IDS.filter(bool), st.data())
def test_the_best_order_has_the_best_gain(ranked, data):
    relevant = data.draw(st.frozensets(st.sampled_from(ranked), min_size=1))
    best = sorted(ranked, key=lambda one: one not in relevant)
    assert ndcg_at(10, best, relevant) == pytest.approx(1.0)
    assert ndcg_at(10, ranked, relevant) <= 1.0 + 1e-9
