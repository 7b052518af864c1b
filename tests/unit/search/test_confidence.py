"""The confidence of an answer: each sign, and the probability that comes of all of them."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.index.base import Hit, TableScores
from pneuma_assets.core.search.confidence import (
    SIGNS,
    ConfidenceFeatures,
    answerable,
    confidence_of,
    features_of,
    is_unlikely,
    shares,
    signs_of,
    words_of_question,
)
from pneuma_assets.core.search.signals import RankedTable
from pneuma_assets.core.tables import Block, DocumentKind, TableTerms
from pneuma_assets.core.terms.fields import Field
from pneuma_assets.core.text.analysis import ENGLISH

WORDS = words_of_question("which ships landed herring in 2020", ENGLISH)


def contender(said: str = "", cosine: float = 0.0, names: float = 0.0) -> ConfidenceFeatures:
    return ConfidenceFeatures(frozenset(ENGLISH.terms(said)), cosine, names)


numbers = st.floats(0, 1e6)
contenders = st.lists(
    st.builds(
        ConfidenceFeatures, st.frozensets(st.sampled_from(sorted(WORDS))), st.floats(-1, 1), numbers
    ),
    max_size=10,
)


@pytest.mark.parametrize(
    ("question", "telling"),
    [
        ("which ships landed herring", set()),
        ("Ships of Norway", {"norway"}),
        ("goals in 2020 and u21", {"2020", "u", "21"}),
        ('"Jane" of Leeds', {"jane", "leed"}),
    ],
)
def test_numbers_and_names_count_twice(question, telling):
    words = words_of_question(question, ENGLISH)
    assert {term for term, worth in words.items() if worth == 2.0} == telling
    assert set(words.values()) <= {1.0, 2.0}


@pytest.mark.parametrize(
    ("first", "behind", "least", "most"),
    [
        ("", [], 0.0, 0.0),
        ("ships landed herring 2020", [], 1.0, 1.0),
        ("ships landed herring 2020", ["ships landed herring 2020"], 1.0, 1.0),
        ("ships landed", [], 0.1, 0.5),
        ("ships", ["ships"] * 9, 0.01, 0.1),
        ("2020", ["ships"] * 9, 0.3, 0.6),
    ],
)
def test_what_is_said_counts_by_its_rarity(first, behind, least, most):
    found = [contender(first), *map(contender, behind)]
    assert least <= signs_of(WORDS, found)["said"] <= most


def test_the_nearest_of_all_tables_counts_and_names_by_the_word():
    found = [contender("ships", 0.2, 8.0), contender("herring", 0.6, 9.0)]
    signs = signs_of(WORDS, found)
    assert signs["meaning"] == 0.6
    assert signs["names"] == 8.0 / len(WORDS)


def test_of_a_table_its_names_best_row_and_best_blocks_are_read():
    block = Block("lake/catch", DocumentKind.SCHEMA, "ships of the port")
    rows = (("cod", "2019"), ("herring", "2020"), ("hake", None))
    evidence = TableTerms(names=("lake", "LandedFish"), columns=("species", "year"), rows=rows)
    scores = TableScores(semantic=Hit(block, 0.4), fields={Field.NAMES: 2.0}, row=1)
    one = RankedTable("lake/catch", 1.0, {}, scores)
    found = features_of(one, evidence, WORDS, ENGLISH)
    assert found.said == set(WORDS)
    assert (found.cosine, found.names) == (0.4, 2.0)
    assert (
        "herring" in features_of(one, evidence, words_of_question("herring", ENGLISH), ENGLISH).said
    )
    assert not features_of(one, evidence, words_of_question("hake", ENGLISH), ENGLISH).said


@pytest.mark.parametrize("row", [None, 3])
def test_a_table_of_no_block_and_a_row_that_is_gone(row):
    one = RankedTable("lake/catch", 0.0, {}, TableScores(row=row))
    assert features_of(one, TableTerms(), WORDS, ENGLISH) == ConfidenceFeatures(frozenset())


@given(contenders)
def test_any_answer_has_a_probability(found: Sequence[ConfidenceFeatures]):
    signs = signs_of(WORDS, found)
    assert set(signs) == set(SIGNS)
    assert 0.0 < answerable(signs) < 1.0
    assert 0.0 <= signs["said"] <= 1.0


@given(contenders.filter(len), st.sampled_from(["cosine", "names", "said"]), numbers)
def test_more_of_the_first_table_is_never_less_sure(found, what, more):
    first = found[0]
    said = first.said | set(WORDS) if what == "said" else first.said
    cosine = min(1.0, first.cosine + more) if what == "cosine" else first.cosine
    names = first.names + more if what == "names" else first.names
    better = [ConfidenceFeatures(said, cosine, names), *found[1:]]
    before, after = (answerable(signs_of(WORDS, one)) for one in (found, better))
    assert after >= before - 1e-12


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_makes_no_confidence_that_is_none(odd):
    assert 0.0 < answerable(dict.fromkeys(SIGNS, 0.0) | {"meaning": odd}) < 1.0


def test_words_that_are_none_and_no_table():
    assert signs_of({}, []) == dict.fromkeys(SIGNS, 0.0)
    assert signs_of({}, [contender()])["said"] == 0.0


@given(st.lists(st.floats(0, 1), max_size=20))
def test_a_better_score_is_a_greater_share(scores):
    each = shares(scores)
    assert all(0.0 < one < 1.0 for one in each)
    pairs = sorted(zip(scores, each, strict=True))
    assert [share for _, share in pairs] == sorted(each)


def test_more_distance_is_a_greater_share_and_no_table_is_no_confidence():
    near, far = shares([0.9, 0.8])[0], shares([0.9, 0.3])[0]
    assert 0.5 < near < far
    assert confidence_of([]) == 0.0
    assert is_unlikely(0.0, 0.25)
    assert not is_unlikely(0.25, 0.25)
    assert not is_unlikely(None, 1.0)
    assert not is_unlikely(0.0, 0.0)
