"""Min-max fusion: fixed cases, and what holds for any scores."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.search.retrieve import fuse, min_max

scores = st.floats(-1e6, 1e6, allow_nan=False)
candidates = st.dictionaries(st.text("abcdef0123456789", min_size=1), st.tuples(scores, scores))
alphas = st.floats(0.0, 1.0)


def sides(found):
    lexical = {key: pair[0] for key, pair in found.items()}
    semantic = {key: pair[1] for key, pair in found.items()}
    return lexical, semantic


@pytest.mark.parametrize(
    ("given_scores", "scaled"),
    [
        ({}, {}),
        ({"a": 2.0, "b": 4.0, "c": 3.0}, {"a": 0.0, "b": 1.0, "c": 0.5}),
        ({"a": -1.0, "b": 1.0}, {"a": 0.0, "b": 1.0}),
        ({"only": 7.5}, {"only": 1.0}),
        ({"a": 3.0, "b": 3.0}, {"a": 1.0, "b": 1.0}),
        ({"a": 0.0, "b": 0.0}, {"a": 0.0, "b": 0.0}),
        ({"a": -0.25}, {"a": 0.0}),
    ],
)
def test_min_max(given_scores, scaled):
    assert min_max(given_scores) == scaled


def test_fuse_weighs_the_sides():
    ranked = fuse({"a": 10.0, "b": 0.0, "c": 5.0}, {"a": 0.1, "b": 0.9, "c": 0.7}, alpha=0.25)
    assert [(one.block_id, round(one.score, 6)) for one in ranked] == [
        ("b", 0.75),
        ("c", 0.25 * 0.5 + 0.75 * 0.75),
        ("a", 0.25),
    ]


def test_equal_scores_are_ordered_by_block_id():
    ranked = fuse(dict.fromkeys("cab", 1.0), dict.fromkeys("cab", 1.0), alpha=0.5)
    assert [one.block_id for one in ranked] == ["a", "b", "c"]


def test_different_candidates_are_refused():
    with pytest.raises(ValueError, match="same candidates"):
        fuse({"a": 1.0}, {"b": 1.0}, alpha=0.5)


@given(candidates, alphas)
def test_every_part_is_between_0_and_1(found, alpha):
    for one in fuse(*sides(found), alpha):
        assert 0.0 <= one.lexical <= 1.0
        assert 0.0 <= one.semantic <= 1.0
        assert 0.0 <= one.score <= 1.0 + 1e-12


@given(candidates, alphas)
def test_who_is_better_on_both_sides_stands_no_lower(found, alpha):
    fused = {one.block_id: one.score for one in fuse(*sides(found), alpha)}
    assert list(fused.values()) == sorted(fused.values(), reverse=True)
    for better, worse in permutations(found, 2):
        if all(x > y for x, y in zip(found[better], found[worse], strict=True)):
            assert fused[better] >= fused[worse]


@given(candidates, alphas, st.randoms())
def test_the_order_of_candidates_does_not_matter(found, alpha, random):
    shuffled = list(found.items())
    random.shuffle(shuffled)
    assert fuse(*sides(dict(shuffled)), alpha) == fuse(*sides(found), alpha)
