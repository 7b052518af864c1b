"""What signals add up to: words of names, words and meaning of texts, and their fusion."""

from dataclasses import replace
from itertools import permutations
from math import log

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pneuma_assets.core.config.query import Weights
from pneuma_assets.core.index.base import Hit, SideHits, TableScores
from pneuma_assets.core.search.fold import Families
from pneuma_assets.core.search.rerank import with_trust
from pneuma_assets.core.search.retrieve import fuse, min_max
from pneuma_assets.core.search.signals import (
    RankedTable,
    coverage,
    proposed_tables,
    rank_tables,
    rarity,
)
from pneuma_assets.core.search.table_search import _parts
from pneuma_assets.core.tables import Block, DocumentKind, TableFacts
from pneuma_assets.core.terms.fields import Field
from pneuma_assets.core.text.analysis import ENGLISH

FIELDS = (Field.NAMES, Field.VALUES, Field.ROWS, Field.CELLS)
SURE = TableScores(fields=dict.fromkeys(FIELDS, 3.0))
NAMES = ("names", "rows", "cells", "own", "rare")


def shown(weights: dict[str, float], trust: float) -> list[float]:
    """Return each score and what words say of it, the best table being best in every signal."""
    found = {"lake/a/one": SURE, "lake/b/two": TableScores(fields={Field.NAMES: 1.0})}
    ranked = rank_tables(found, Weights(**weights), SideHits())
    facts = {"lake/a/one": TableFacts(), "lake/b/two": TableFacts(owned=True)}
    return [
        value
        for one in with_trust(ranked, facts, trust)
        for value in (one.score, _parts(one).lexical)
    ]


@given(
    st.dictionaries(st.sampled_from((*NAMES, "coverage", "place")), st.floats(0, 1), max_size=6),
    st.floats(0, 0.2),
)
@example({}, 0.02)
@example({"names": 0.1, "rows": 0.7, "cells": 0.1, "own": 0.7}, 0.0)
def test_no_score_is_beyond_its_bounds(weights, trust):
    assert all(0.0 <= value <= 1.0 for value in shown(weights, trust))


def test_a_word_that_one_table_holds_counts_whatever_else_is_asked():
    side = SideHits(holders={"zyx": ["a"], "qwv": ["a", "b", "c"], "vbn": ["b"]})
    held = rarity(side)
    assert held["a"] == held["b"] > 0.5 > held["c"] > 0
    found = {"a": TableScores(fields={Field.VALUES: 0.1}), "d": SURE, "e": SURE}
    (first, *_, last) = rank_tables(found, Weights(), SideHits(holders={"zyx": ["a"]}))
    assert (first.table_id, last.table_id) == ("d", "a")
    assert "rare" not in first.signals
    assert last.signals["rare"] > 0.02
    alone = rank_tables(found, Weights(), SideHits(holders={"zyx": ["z"]}))
    assert "rare" not in alone[0].signals


def test_a_table_that_holds_a_word_is_a_candidate():
    assert proposed_tables(SideHits(holders={"zyx": ["b", "a"]})) == ["b", "a"]


def test_a_signal_is_a_share_of_what_the_question_could_reach():
    """So the best of bad matches counts for little."""
    side = SideHits(reach={None: 20.0, Field.NAMES: 10.0, Field.VALUES: 8.0})
    scores = {Field.NAMES: 1.0, Field.ROWS: 2.0, Field.VALUES: 4.0, Field.CELLS: 2.0}
    hit = Hit(Block("a", DocumentKind.CONTEXT, "text"), 5.0)
    (one,) = rank_tables({"a": TableScores(hit, None, scores)}, Weights(), side)
    given = Weights().model_dump()
    shares = {name: part * sum(given.values()) / given[name] for name, part in one.signals.items()}
    assert shares == pytest.approx({"words": 0.25, "names": 0.1, "rows": 0.5, "cells": 0.25})


@pytest.mark.parametrize(
    ("table_id", "prefix", "share"),
    [
        ("s/orders", "", 1.0),
        ("s/orders_old", "", 0.5),
        ("s/orderLines%2Fx", "", 1 / 3),
        ("s/customerorders", "", 0.5),
        ("s/xxorders", "xx", 1.0),
        ("s/people", "", 0.0),
    ],
)
def test_a_name_says_the_share_of_it_that_is_asked(table_id, prefix, share):
    facts = {table_id: TableFacts(prefix=prefix)}
    alone = Weights(**dict.fromkeys(Weights.model_fields, 0.0) | {"own": 1.0})
    found = {table_id: TableScores(headers=dict.fromkeys(ENGLISH.terms("late orders"), 0.5))}
    (one,) = rank_tables(found, alone, SideHits(), facts=facts)
    assert one.signals.get("own", 0.0) == pytest.approx(share)


def test_a_word_among_hundreds_of_names_says_less():
    tables = found(ax={"course": 1.0}, bx={"course": 1.0})
    tables["b/bx"] = replace(tables["b/bx"], columns=900)
    said = coverage(tables, WORDS)
    assert 0 < said["b/bx"]["coverage"] < said["a/ax"]["coverage"] / 3
    assert said["b/bx"]["place"] < said["a/ax"]["place"]


@pytest.mark.parametrize(("signals", "first"), [({}, "s/t_2020"), ({"rare": 0.1}, "s/t_2019")])
def test_a_rare_word_tells_a_member_of_a_family_from_the_newest(signals, first):
    ranked = [RankedTable("s/t_2019", 0.8, signals, SURE), RankedTable("s/t_2020", 0.79, {}, SURE)]
    members = {"s/t_2019": ["s/t_2020", "s/t_2019"]}
    facts = {one.table_id: TableFacts(family="s/t_2019") for one in ranked}
    (kept,) = Families(members, members).fold(ranked, facts, 1)
    assert kept.table_id == first


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


def test_equal_scores_go_by_block_id_and_different_candidates_are_refused():
    ranked = fuse(dict.fromkeys("cab", 1.0), dict.fromkeys("cab", 1.0), alpha=0.5)
    assert [one.block_id for one in ranked] == ["a", "b", "c"]
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


WORDS = ("course", "student", "score")


def found(**headers: dict[str, float]) -> dict[str, TableScores]:
    """Return tables of two letters, of which the first is the schema."""
    return {f"{i[0]}/{i}": TableScores(headers=one) for i, one in headers.items()}


def test_a_word_counts_by_how_few_have_it_and_by_its_share_of_the_name():
    tables = found(ax={"course": 1.0}, ay={"course": 0.5, "student": 1.0}, az={})
    said = coverage(tables, WORDS)
    whole = log(1 + 3 / 2) + 2 * log(1 + 3)
    assert said["a/ax"] == {"coverage": pytest.approx(log(1 + 3 / 2) / whole)}
    assert said["a/ay"]["coverage"] == pytest.approx((log(1 + 3 / 2) / 2 + log(4)) / whole)
    assert said["a/az"] == {}


def test_the_best_two_tables_speak_for_a_schema_whatever_its_size():
    one, two, three = ({word: 1.0} for word in WORDS)
    few = coverage(found(ax=one, ay=two, bx=three), WORDS)
    many = coverage(found(ax=one, ay=two, az=three, bx=one | two), WORDS)
    assert few["a/ax"]["place"] == few["a/ay"]["place"] > few["b/bx"]["place"]
    whole = 2 * log(1 + 4 / 2) + log(1 + 4)
    assert many["a/az"]["place"] == pytest.approx((log(1 + 4) + log(1 + 4 / 2)) / whole)
    assert many["b/bx"]["place"] == many["b/bx"]["coverage"] == pytest.approx(2 * log(3) / whole)


def test_one_schema_alone_tells_nothing():
    assert "place" not in coverage(found(ax={"course": 1.0}, ay={"score": 1.0}), WORDS)["a/ax"]


@given(st.permutations(["ax", "ay", "az", "au", "bx"]))
def test_the_order_of_candidates_decides_nothing(order):
    headers = {
        "ax": {"course": 1.0, "student": 0.5},
        "ay": {"score": 1.0, "grade": 0.5},
        "az": {"course": 0.5},
        "au": {"score": 0.5, "student": 1.0},
        "bx": {"grade": 0.5},
    }
    words = (*WORDS, "grade")
    assert coverage(found(**{i: headers[i] for i in order}), words) == coverage(
        found(**headers), words
    )


SHARES = st.dictionaries(st.sampled_from([*WORDS, "unasked"]), st.floats(0.5, 1.0))


@given(st.dictionaries(st.sampled_from(["ax", "ay", "az", "bx", "by"]), SHARES))
def test_shares_are_bounded_and_a_schema_says_no_less_than_its_best_table(headers):
    tables = found(**headers)
    for table_id, parts in coverage(tables, WORDS).items():
        assert all(0.0 < value <= 1.0 + 1e-9 for value in parts.values())
        if "place" in parts:
            assert parts["place"] >= parts.get("coverage", 0.0)
        assert parts.keys() <= {"coverage", "place"}, table_id
