"""What signals add up to."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pneuma_assets.core.config.query import Weights
from pneuma_assets.core.index.base import SideHits, TableScores
from pneuma_assets.core.search.fold import Families
from pneuma_assets.core.search.rerank import with_trust
from pneuma_assets.core.search.signals import (
    RankedTable,
    proposed_tables,
    rank_tables,
    rarity,
    with_rare_words,
)
from pneuma_assets.core.search.table_search import _parts
from pneuma_assets.core.tables import TableFacts
from pneuma_assets.core.terms.fields import Field

FIELDS = (Field.NAMES, Field.VALUES, Field.ROWS, Field.CELLS, Field.PAIRS)
SURE = TableScores(fields=dict.fromkeys(FIELDS, 3.0))
NAMES = tuple(map(str, FIELDS))


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
@example({"names": 0.1, "values": 0.7, "rows": 0.1, "cells": 0.1, "pairs": 0.7}, 0.0)
def test_no_score_is_beyond_its_bounds(weights, trust):
    assert all(0.0 <= value <= 1.0 for value in shown(weights, trust))


def test_a_word_that_one_table_holds_counts_whatever_else_is_asked():
    side = SideHits(holders={"zyx": ["a"], "qwv": ["a", "b", "c"], "vbn": ["b"]})
    held = rarity(side)
    assert held["a"] == held["b"] > 0.5 > held["c"] > 0
    found = {"a": TableScores(fields={Field.VALUES: 1.0}), "d": SURE, "e": SURE}
    (first, *_, last) = rank_tables(found, Weights(), SideHits(holders={"zyx": ["a"]}))
    assert (first.table_id, last.table_id) == ("d", "a")
    assert "rare" not in first.signals
    assert last.signals["rare"] > 0.05
    alone = rank_tables(found, Weights(), SideHits(holders={"zyx": ["z"]}))
    assert "rare" not in alone[0].signals


def test_a_table_that_holds_a_word_is_a_candidate():
    assert proposed_tables(SideHits(holders={"zyx": ["b", "a"]})) == ["b", "a"]


@given(st.integers(0, 9), st.sets(st.integers(0, 12)), st.integers(0, 6))
def test_tables_with_rare_words_are_among_the_first(others, holding, k):
    """Nothing is lost, nothing that stands among the first and holds a word leaves them."""
    ranked = [
        RankedTable(f"t{n}", 1 - n / 50, {}, SURE, copies=(f"copy{n}",)) for n in range(others + 4)
    ]
    rare = {f"{'copy' if n % 2 else 't'}{n}": 0.5 for n in holding}
    kept = with_rare_words(ranked, rare, k)
    assert sorted(map(id, kept)) == sorted(map(id, ranked))
    holders = [one for n, one in enumerate(ranked) if n in holding]
    shown = [one for one in holders if one in kept[:k]]
    already = [one for one in holders if one in ranked[:k]]
    assert len(shown) == min(len(holders), len(already) + k // 2, max(len(already), k))
    assert all(one in shown for one in already)


@pytest.mark.parametrize(("signals", "first"), [({}, "s/t_2020"), ({"rare": 0.1}, "s/t_2019")])
def test_a_rare_word_tells_a_member_of_a_family_from_the_newest(signals, first):
    ranked = [RankedTable("s/t_2019", 0.8, signals, SURE), RankedTable("s/t_2020", 0.79, {}, SURE)]
    members = {"s/t_2019": ["s/t_2020", "s/t_2019"]}
    facts = {one.table_id: TableFacts(family="s/t_2019") for one in ranked}
    (kept,) = Families(members, members).fold(ranked, facts, 1)
    assert kept.table_id == first
