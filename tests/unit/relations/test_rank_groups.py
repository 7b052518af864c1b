"""Sets of tables are ranked by what they cover, and by how well each of them was found."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.relations.join_graph import JoinEdge, JoinGraph, JoinKind
from pneuma_assets.core.relations.rank_groups import (
    MOST_TABLES,
    WEIGHTS,
    Mention,
    components,
    rank_groups,
)


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
    first, *others = rank_groups(joined, FOUND | {"s/writes": 0.8}, asked, 10)
    assert first.tables == ("s/author", "s/domain", "s/writes")
    assert len(first.joins) == 2
    assert not any({*first.tables} >= {*one.tables} for one in others)
    assert [one.score for one in others] == sorted((o.score for o in others), reverse=True)


def test_what_one_table_covers_needs_no_other():
    joined = graph("writes author", "writes domain", "noise author")
    asked = [mention("author", "author", "noise"), mention("name", "author")]
    assert rank_groups(joined, FOUND, asked, 3)[0].tables == ("s/author",)


@pytest.mark.parametrize(
    ("joined", "tables", "parts"),
    [
        pytest.param(graph("author domain"), ("s/author", "s/domain"), 1, id="joined"),
        pytest.param(graph(), ("s/author", "s/domain"), 2, id="no join is known"),
    ],
)
def test_tables_of_one_schema_are_a_set_also_where_no_join_is_known(joined, tables, parts):
    asked = [mention("author", "author"), mention("domain", "domain")]
    first = rank_groups(joined, FOUND, asked, 10)[0]
    assert first.tables == tables
    assert len(first.joins) == 2 - parts
    assert first.parts.get("apart", 0.0) == WEIGHTS["apart"] * (parts - 1)


def test_without_a_join_so_many_tables_come_alone():
    found = {"s/author": 1.0, "t/domain": 1.0}
    asked = [mention("author", "author"), Mention("domain", 1.0, {"t/domain": 1.0})]
    assert [one.tables for one in rank_groups(graph(), found, asked, 9)] == [
        ("s/author",), ("t/domain",)]  # fmt: skip
    found = dict.fromkeys(("t/b", "s/a", "u/c"), 1.0)
    assert [one.tables for one in rank_groups(graph(), found, [], 2)] == [("t/b",), ("s/a",)]


TABLES = [f"{schema}/{name}" for schema in "st" for name in "abcd"]
PAIRS = st.sets(st.tuples(st.sampled_from(TABLES), st.sampled_from(TABLES)), max_size=8)
MENTIONS = st.lists(
    st.builds(
        Mention,
        st.text("xyz", max_size=2),
        st.floats(0.1, 5.0),
        st.dictionaries(st.sampled_from(TABLES), st.floats(0.1, 1.0), min_size=1),
        st.booleans(),
    ),
    max_size=4,
)


@given(PAIRS, st.dictionaries(st.sampled_from(TABLES), st.floats(0.0, 1.0), min_size=1), MENTIONS)
def test_a_set_is_scored_by_what_its_tables_have(pairs, found, mentions):
    joined = JoinGraph(
        JoinEdge(one, ("k",), other, ("k",), JoinKind.DECLARED, 1.0) for one, other in pairs
    )
    ranked = rank_groups(joined, found, mentions, 20)
    for at, group in enumerate(ranked):
        scores = [found.get(table, 0.0) for table in group.tables]
        expected = {
            "columns": covered(group.tables, mentions, is_value=False),
            "values": covered(group.tables, mentions, is_value=True),
            "best": max(scores),
            "mean": sum(scores) / len(scores),
            "more": len(group.tables) - 1,
            "apart": len(group.tables) - 1 - len(group.joins),
        }
        weighted = {name: WEIGHTS[name] * value for name, value in expected.items() if value}
        assert group.parts == pytest.approx(weighted)
        assert group.score == pytest.approx(sum(weighted.values()))
        assert len(group.tables) <= MOST_TABLES
        assert not any({*group.tables} <= {*better.tables} for better in ranked[:at])
    assert [one.score for one in ranked] == sorted((o.score for o in ranked), reverse=True)


def covered(tables: Sequence[str], mentions: Sequence[Mention], *, is_value: bool) -> float:
    some = [one for one in mentions if one.is_value is is_value]
    best = sum(one.weight * max(one.tables.get(t, 0.0) for t in tables) for one in some)
    return best / sum(one.weight for one in some) if some else 0.0


def test_a_lake_in_which_all_is_joined_takes_no_more_sets_than_others():
    names = [f"s/t{n:02}" for n in range(60)]
    everything = graph(*(f"{one[2:]} {other[2:]}" for one, other in combinations(names, 2)))
    found = {name: 1 - at / 100 for at, name in enumerate(names)}
    groups = rank_groups(everything, found, [mention("x", *(n[2:] for n in names))], 10_000)
    assert 10 <= len(groups) <= 10 + 60 * (MOST_TABLES - 1)


def test_components_are_the_parts_that_joins_connect():
    joined = np.zeros((5, 5), bool)
    for one, other in ((0, 3), (3, 1)):
        joined[one, other] = joined[other, one] = True
    assert [np.flatnonzero(part).tolist() for part in components(joined)] == [[0, 1, 3], [2], [4]]


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
    assert [one.score for one in ranked] == sorted((o.score for o in ranked), reverse=True)
    assert all(one.score == sum(one.parts.values()) for one in ranked)
