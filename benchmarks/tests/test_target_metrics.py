"""Figures as the package computes them, against values by hand and by scikit-learn."""

import math
import random

import pytest

from pneuma_bench.target.metrics import (
    capped_recall_as_target,
    recall_as_target,
    sacrebleu_of,
    same_rows,
    verdict_of,
    weighted_scores,
)


def test_recall_counts_tables_not_questions():
    found, gold = [["a", "b"], ["x", "y"]], [{"a"}, {"x", "p", "q", "r"}]
    assert recall_as_target(found, gold) == 2 / 5
    assert capped_recall_as_target(found, gold) == 2 / 3


def test_the_cap_is_what_was_returned():
    assert capped_recall_as_target([["x"]], [{"x", "y", "z"}]) == 1
    assert math.isnan(capped_recall_as_target([[]], [{"x"}]))
    assert math.isnan(recall_as_target([], []))


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("True", 1), ("it is FALSE.", 0), ("Not Enough Information", -1), ("", -1),
        ("not true", 1), ("false, not true", 1),
    ],
)  # fmt: skip
def test_a_verdict_is_looked_for_in_the_text(text, label):
    assert verdict_of(text) == label


def test_scores_are_those_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = random.Random(0)
    for labels in ([0, 1], [-1, 0, 1], [1]):
        gold = [rng.choice([0, 1]) for _ in range(40)]
        predicted = [rng.choice(labels) for _ in gold]
        ours = weighted_scores(gold, predicted)
        *theirs, _ = metrics.precision_recall_fscore_support(
            gold, predicted, average="weighted", zero_division=0
        )
        assert ours["accuracy"] == pytest.approx(metrics.accuracy_score(gold, predicted), abs=1e-12)
        assert [ours[name] for name in ("precision", "recall", "f1")] == pytest.approx(theirs)


def test_no_question_has_no_score():
    assert all(math.isnan(value) for value in weighted_scores([], []).values())


def test_rows_are_compared_as_sets():
    assert same_rows([(1, "a"), (2, "b")], [(2, "b"), (1, "a"), (1, "a")])
    assert not same_rows([(1,)], [("1",)])


def test_bleu_is_that_of_the_package():
    pytest.importorskip("sacrebleu")
    right = ["In 2014 the team won the cup for the second time."]
    assert sacrebleu_of(right, right) == pytest.approx(100)
    assert sacrebleu_of(["nothing of it"], right) < 10
