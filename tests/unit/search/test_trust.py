"""The prior: small, bounded, and without effect where tables are equal."""

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.index.base import TableScores
from pneuma_assets.core.search.rerank import HALF_AGE, trust_of, with_trust
from pneuma_assets.core.search.signals import RankedTable
from pneuma_assets.core.tables import TableFacts

shares = st.floats(0, 1)
facts_of_a_table = st.builds(
    TableFacts,
    updated_at=st.none() | st.floats(0, 2e9),
    owned=st.booleans(),
    documented=shares,
    feeds=st.integers(0, 10**6),
)
several = st.lists(st.tuples(shares, facts_of_a_table), min_size=1, max_size=8)


def ranked_as(scores):
    tables = [RankedTable(f"t{at}", one, {}, TableScores()) for at, one in enumerate(scores)]
    return sorted(tables, key=lambda one: -one.score)


def facts_by_id(tables):
    return {f"t{at}": facts for at, (_, facts) in enumerate(tables)}


@given(several, st.floats(0, 0.2))
def test_a_table_loses_no_more_than_the_weight_of_its_score(tables, weight):
    before = {one.table_id: one.score for one in ranked_as([score for score, _ in tables])}
    for one in with_trust(ranked_as([s for s, _ in tables]), facts_by_id(tables), weight):
        assert -weight * before[one.table_id] - 1e-12 <= one.trust <= 0
        assert one.found == pytest.approx(before[one.table_id])
        assert 0 <= one.score <= before[one.table_id]


@given(several, st.floats(0, 0.2))
def test_no_table_passes_one_that_is_clearly_better(tables, weight):
    before = {one.table_id: one.score for one in ranked_as([score for score, _ in tables])}
    after = with_trust(ranked_as([s for s, _ in tables]), facts_by_id(tables), weight)
    for place, one in enumerate(after):
        for behind in after[place + 1 :]:
            assert before[one.table_id] >= (1 - weight) * before[behind.table_id] - 1e-12


@given(st.lists(shares, min_size=1, max_size=8), facts_of_a_table, st.floats(0, 0.2))
def test_equal_facts_change_nothing(scores, facts, weight):
    ranked = ranked_as(scores)

    assert with_trust(ranked, {one.table_id: facts for one in ranked}, weight) == ranked
    assert with_trust(ranked, {}, weight) == ranked


@given(several)
def test_without_weight_nothing_changes(tables):
    ranked = ranked_as([score for score, _ in tables])

    assert with_trust(ranked, facts_by_id(tables), 0.0) == ranked


BETTER = [
    lambda one: replace(one, owned=True),
    lambda one: replace(one, documented=min(1.0, one.documented + 0.3)),
    lambda one: replace(one, feeds=one.feeds + 5),
    lambda one: (
        one if one.updated_at is None else replace(one, updated_at=one.updated_at + HALF_AGE)
    ),
]


@given(several, st.sampled_from(BETTER))
def test_what_is_more_trusted_never_stands_behind_for_it(tables, better):
    facts = facts_by_id(tables)
    more = facts | {"t0": better(facts["t0"])}
    before, after = trust_of(facts), trust_of(more)
    for other in facts:
        assert after["t0"] - after[other] >= before["t0"] - before[other] - 1e-9


@given(st.dictionaries(st.text(max_size=3), facts_of_a_table, max_size=8))
def test_trust_is_a_share(facts):
    assert all(0 <= value <= 1 for value in trust_of(facts).values())


def test_what_is_not_told_is_average_and_the_future_no_age():
    now = time.time()
    told = {"a": now, "b": now - 5 * HALF_AGE, "c": None}
    trusted = trust_of({name: TableFacts(updated_at=at) for name, at in told.items()})
    assert trusted["a"] > trusted["c"] > trusted["b"]
    facts = {"new": TableFacts(updated_at=now), "old": TableFacts(updated_at=now - 5 * HALF_AGE)}
    beside = trust_of({**facts, "future": TableFacts(updated_at=now + 500 * HALF_AGE)})
    assert beside["new"] == pytest.approx(trust_of(facts)["new"])
    assert beside["old"] == pytest.approx(trust_of(facts)["old"])
    assert beside["future"] == pytest.approx(beside["new"])


def test_a_near_tie_is_decided():
    ranked = ranked_as([0.5, 0.495])
    after = with_trust(ranked, {"t1": TableFacts(owned=True, documented=1.0, feeds=9)}, 0.02)

    assert [one.table_id for one in after] == ["t1", "t0"]
    assert after[0].trust == 0
    assert after[1].trust < 0
