"""How sure an answer is: probabilities that follow the scores."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.search.confidence import (
    answerable,
    confidence_of,
    confidences,
    is_unlikely,
)

SCORES = st.lists(st.floats(0, 1), max_size=12)


@given(SCORES)
def test_a_better_score_is_never_less_sure_and_no_table_surer_than_any(scores):
    sure = confidences(scores)
    assert all(0.0 < one <= answerable(scores) < 1.0 for one in sure)
    by_score = [one for _, one in sorted(zip(scores, sure, strict=True))]
    assert by_score == sorted(by_score)


@given(SCORES.filter(len), st.floats(0, 1))
def test_more_of_the_first_table_is_never_less_sure(scores, more):
    first, *others = sorted(scores, reverse=True)
    assert answerable([first + more, *others]) >= answerable(scores)
    assert confidences([first + more, *others])[0] >= confidences([first, *others])[0]


def test_who_is_alone_is_surer_than_one_of_equals():
    assert confidences([0.3, 0.1])[0] > confidences([0.3, 0.3])[0] > confidences([0.1, 0.1])[0]


def test_nothing_found_is_no_answer():
    assert answerable([]) == 0.0
    assert confidences([]) == []
    assert confidence_of([]) == 0.0


@pytest.mark.parametrize("score", [math.inf, math.nan])
def test_a_score_that_is_no_number_breaks_nothing(score):
    assert 0.0 < answerable([score]) < 1.0


@pytest.mark.parametrize(("sure", "unlikely"), [(None, False), (0.0, True), (0.1, False)])
def test_what_is_not_known_is_not_refused(sure, unlikely):
    assert is_unlikely(sure, 0.1) is unlikely
