"""Tables that complete the best ones come before those that say the same again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.index.base import TableScores
from pneuma_assets.core.search.completion import ALIKE, AMONG, JOINED, KEPT, complete
from pneuma_assets.core.search.signals import RankedTable
from pneuma_assets.core.tables import TableFacts
from pneuma_assets.core.terms.fields import Field

BUILDING = {"building": 1.0, "name": 1.0}


def table(own: str, score: float, /, **headers: float) -> RankedTable:
    return RankedTable(f"dw/{own}", score, {}, TableScores(headers=headers))


def order(ranked: list[RankedTable], **joins: str) -> list[str]:
    facts = {
        f"dw/{name}": TableFacts(joins=tuple(f"dw/{one}" for one in others.split()))
        for name, others in joins.items()
    }
    return [one.table_id.removeprefix("dw/") for one in complete(ranked, facts)]


FIRST = [table(name, 1.0 - at / 100, **BUILDING) for at, name in enumerate("abc")]


@pytest.mark.parametrize("joins", [{"rooms": "a"}, {"a": "rooms"}], ids=["either", "says so"])
def test_what_joins_one_of_the_first_comes_before_what_is_slightly_better(joins):
    ranked = [*FIRST, table("other", 0.80, fee=1.0), table("rooms", 0.75, room=1.0)]
    assert order(ranked, **joins) == ["a", "b", "c", "rooms", "other"]
    assert order(ranked, x="y") == ["a", "b", "c", "other", "rooms"]


def test_what_is_much_better_or_not_joined_stays():
    ranked = [*FIRST, table("other", 0.80), table("rooms", 0.80 - JOINED - 0.01)]
    assert order(ranked, rooms="a") == ["a", "b", "c", "other", "rooms"]
    ranked = [table(f"sales_{n}", 1.0 - n / 100, **BUILDING) for n in range(9)]
    assert complete(ranked, {"dw/sales_1": TableFacts(joins=("dw/elsewhere",))}) == ranked


@pytest.mark.parametrize("place", ["dw", "elsewhere"])
def test_what_says_the_same_as_a_chosen_table_of_its_schema_waits_for_something_else(place):
    ranked = [
        *FIRST,
        RankedTable(f"{place}/house", 0.85, {}, TableScores(headers=BUILDING)),
        table("organisation", 0.85 * (1 - ALIKE) + 0.01, organisation=1.0),
    ]
    last = ["organisation", "house"] if place == "dw" else ["elsewhere/house", "organisation"]
    assert order(ranked, a="b") == ["a", "b", "c", *last]


@pytest.mark.parametrize(
    ("signals", "headers"),
    [({Field.ROWS: 0.1}, {}), ({}, {"organisation": 1.0})],
    ids=["a row of the other", "its names"],
)
def test_names_tell_better_than_one_row_what_is_needed_beside_the_first(signals, headers):
    other = RankedTable("dw/other", 0.85, signals, TableScores())
    named = RankedTable("dw/named", 0.80, {}, TableScores(headers=headers))
    assert order([*FIRST, other, named], a="b") == ["a", "b", "c", "named", "other"]
    assert order([*FIRST, other, named]) == ["a", "b", "c", "other", "named"]


@given(
    st.lists(st.floats(0, 1), max_size=AMONG + 5),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=9),
)
def test_every_table_is_there_once_and_the_first_stay_first(scores, pairs):
    ranked = [table(f"t{n}", score) for n, score in enumerate(sorted(scores, reverse=True))]
    joins: dict[str, tuple[str, ...]] = {}
    for one, other in pairs:
        joins[f"dw/t{one}"] = (*joins.get(f"dw/t{one}", ()), f"dw/t{other}")
    found = complete(ranked, {i: TableFacts(joins=some) for i, some in joins.items()})
    assert found[:KEPT] == ranked[:KEPT]
    assert sorted(one.table_id for one in found) == sorted(one.table_id for one in ranked)
