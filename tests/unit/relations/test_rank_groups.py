"""Sets of tables are ranked by what they cover, and by how well each of them was found."""

from collections.abc import Sequence

import pytest

from pneuma_assets.core.relations.join_graph import JoinEdge, JoinGraph, JoinKind
from pneuma_assets.core.relations.rank_groups import WEIGHTS, Mention, features, rank_groups


def graph(*pairs: str) -> JoinGraph:
    return JoinGraph(
        JoinEdge(f"s/{one}", ("k",), f"s/{other}", ("k",), JoinKind.INFERRED, 1.0)
        for one, other in map(str.split, pairs)
    )


def mention(text: str, *tables: str, weight: float = 1.0, is_value: bool = False) -> Mention:
    return Mention(text, weight, {f"s/{table}": 1.0 for table in tables}, is_value)


FOUND = {"s/author": 1.0, "s/domain": 0.9, "s/noise": 0.5}


def test_tables_that_cover_a_question_together_come_before_each_alone():
    joined = graph("writes author", "writes domain", "noise author")
    asked = [mention("author", "author"), mention("domain", "domain")]
    first, *others = rank_groups(joined, FOUND, asked, 10)
    assert first.tables == ("s/author", "s/domain", "s/writes")
    assert len(first.joins) == 2
    assert ("s/author",) in [one.tables for one in others]
    assert [one.score for one in others] == sorted((o.score for o in others), reverse=True)


def test_what_one_table_covers_needs_no_other():
    joined = graph("writes author", "writes domain", "noise author")
    asked = [mention("author", "author", "noise"), mention("name", "author")]
    assert rank_groups(joined, FOUND, asked, 3)[0].tables == ("s/author",)


def test_without_joins_each_table_is_a_group():
    groups = rank_groups(graph(), FOUND, [mention("author", "author")], 10)
    assert [one.tables for one in groups] == [("s/author",), ("s/domain",), ("s/noise",)]
    assert all(one.joins == () for one in groups)


def test_only_so_many_are_returned_and_equal_ones_are_ordered_by_name():
    found = dict.fromkeys(("s/b", "s/a", "s/c"), 1.0)
    assert [one.tables for one in rank_groups(graph(), found, [], 2)] == [("s/a",), ("s/b",)]


def test_parts_are_the_weighted_features():
    group = frozenset(("s/author", "s/writes"))
    asked = [
        mention("author", "author", weight=3),
        mention("year", "noise", weight=1),
        mention("Ada", "author", is_value=True),
    ]
    values = features(group, FOUND, asked)
    assert values == {"columns": 0.75, "values": 1.0, "best": 1.0, "mean": 0.5, "more": 1.0}
    joined = graph("writes author")
    [shown] = [g for g in rank_groups(joined, FOUND | {"s/writes": 0.0}, asked, 9)
               if set(g.tables) == group]  # fmt: skip
    assert shown.parts == {name: WEIGHTS[name] * value for name, value in values.items()}
    assert shown.score == sum(shown.parts.values())


DOCTORS = {"s/doctors": 1.0, "s/patients": 0.95}
TREATED = ("treatments doctors declared", "treatments patients declared")


def said(*edges: str) -> JoinGraph:
    return JoinGraph(
        JoinEdge(f"s/{one}", (other,), f"s/{other}", ("id",), JoinKind(kind), 1.0)
        for one, other, kind in map(str.split, edges)
    )


@pytest.mark.parametrize(
    ("edges", "first"),
    [
        pytest.param(TREATED, "doctors patients treatments", id="a declared path"),
        pytest.param(
            [edge.replace("declared", "person") for edge in TREATED],
            "doctors patients treatments",
            id="a confirmed path",
        ),
        pytest.param(
            ("doctors visits declared", "visits stays view", "stays patients declared"),
            "doctors patients stays visits",
            id="a path through two",
        ),
        pytest.param(
            ("doctors country declared", "patients country declared"),
            "doctors patients",
            id="both refer to one: no path",
        ),
        pytest.param(
            ("doctors visits declared", "patients stays declared"),
            "doctors patients",
            id="nothing connects them",
        ),
        pytest.param(
            ("treatments doctors inferred", "treatments patients declared"),
            "doctors patients",
            id="a path with a guess",
        ),
    ],
)
def test_a_guessed_join_comes_behind_the_path_that_was_said(edges: Sequence[str], first: str):
    graph = said("doctors patients inferred", *edges)
    asked = [mention("doctor", "doctors"), mention("patient", "patients")]
    ranked = rank_groups(graph, DOCTORS, asked, 30)
    both = [sorted(one.tables) for one in ranked if {*DOCTORS} <= {*one.tables}]
    assert both[0] == [f"s/{table}" for table in first.split()]
    assert ["s/doctors", "s/patients"] in both
    assert [one.score for one in ranked] == sorted((o.score for o in ranked), reverse=True)
    assert all(one.score == sum(one.parts.values()) for one in ranked)
