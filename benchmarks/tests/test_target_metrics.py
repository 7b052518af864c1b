"""Figures as the package computes them."""

import math

from pneuma_bench.target.writing import capped_recall_as_target, recall_as_target


def test_recall_counts_tables_not_questions():
    found, gold = [["a", "b"], ["x", "y"]], [{"a"}, {"x", "p", "q", "r"}]
    assert recall_as_target(found, gold) == 2 / 5
    assert capped_recall_as_target(found, gold) == 2 / 3


def test_the_cap_is_what_was_returned():
    assert capped_recall_as_target([["x"]], [{"x", "y", "z"}]) == 1
    assert math.isnan(capped_recall_as_target([[]], [{"x"}]))
    assert math.isnan(recall_as_target([], []))
