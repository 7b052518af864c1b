"""Two tables may be joined in several ways; a set of tables has them all, and ranks as before."""

from itertools import permutations

import pytest

from pneuma_assets.core.answers.prompts import offer
from pneuma_assets.core.answers.prune import Cluster, sets_to_ask
from pneuma_assets.core.relations.join_graph import MOST_WAYS, JoinEdge, JoinGraph, JoinKind
from pneuma_assets.core.relations.rank_groups import GroupResult, rank_groups
from tests.support.answer_tables import answer_set, answer_table


def edge(table, columns, other, theirs, kind=JoinKind.INFERRED, score=0.7):
    return JoinEdge(table, tuple(columns.split()), other, tuple(theirs.split()), kind, score)


FROM = edge("flight", "from_airport", "airport", "code")
TO = edge("flight", "to_airport", "airport", "code")
OF = edge("flight", "airline", "airline", "code", score=0.9)


@pytest.mark.parametrize("edges", list(permutations([FROM, TO, OF])))
def test_a_set_has_all_joins_of_two_tables_the_surest_first(edges):
    graph = JoinGraph(edges)
    assert graph.joins(["airline", "airport", "flight"]) == (OF, FROM, TO)
    assert graph.tree(["airline", "airport", "flight"]) == (OF, FROM)
    assert graph.joins(["airline", "airport"]) == ()


@pytest.mark.parametrize(
    "same",
    [
        edge("airport", "code", "flight", "from_airport", JoinKind.VIEW),
        edge("flight", "from_airport day", "airport", "code day", JoinKind.DECLARED),
    ],
)
def test_what_equates_the_same_columns_is_one_join(same):
    assert JoinGraph([FROM, same]).joins(["airport", "flight"]) == (same,)


def test_of_very_many_joins_the_surest_are_kept():
    many = [edge("a", f"c{n:02}", "b", "id", score=1 - n / 100) for n in range(40)]
    assert JoinGraph(many[::-1]).joins(["a", "b"]) == tuple(many[:MOST_WAYS])


def test_scores_are_those_of_one_join():
    found = {"flight": 1.0, "airport": 0.9}
    one, other = (rank_groups(JoinGraph(e), found, [], 3) for e in ([FROM], [FROM, TO]))
    assert [(o.tables, o.score, o.parts) for o in one] == [
        (o.tables, o.score, o.parts) for o in other
    ]
    assert [o.joins for o in one if o.joins] == [(FROM,)]
    assert [o.joins for o in other if o.joins] == [(FROM, TO)]


def test_a_model_is_told_of_all_joins():
    flight = answer_table(
        "flight", {"id": "int", **{f"c{n}": "int" for n in range(9)}, "origin": "text",
                   "goal": "text"},
    )  # fmt: skip
    airport = answer_table("airport", {"code": "text"})
    tables = answer_set(
        flight, airport, joins=["flight.origin = airport.code", "flight.goal = airport.code"]
    )
    [(_, joins)] = sets_to_ask([GroupResult(("f", "a"), tables.joins, 1.0, {})], 1)
    assert joins == tables.joins
    text = offer("which?", [Cluster((tables,), "duckdb")], values=True, room=9_000).text
    assert "\n-- flight.origin = airport.code\n-- flight.goal = airport.code" in text
