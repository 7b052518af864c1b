"""Connected sets of tables are found from their best tables on, and by joins alone."""

from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.relations.join_graph import JoinEdge, JoinGraph, JoinKind


def edge(one: str, other: str, kind: JoinKind = JoinKind.INFERRED, score: float = 1.0, on="x"):
    return JoinEdge(one, (on,), other, ("id",), kind, score)


def is_connected(group: frozenset[str], pairs: set[frozenset[str]]) -> bool:
    reached, waiting = set(), [min(group)]
    while waiting:
        table = waiting.pop()
        reached.add(table)
        waiting += [o for o in group - reached if frozenset((table, o)) in pairs]
    return reached == group


PAIRS = st.sets(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg")), max_size=14)


@given(PAIRS, st.lists(st.sampled_from("abcdefg"), unique=True, min_size=1, max_size=3),
       st.sets(st.sampled_from("abcdefg")), st.integers(1, 4))  # fmt: skip
def test_all_connected_sets_around_the_seeds_are_found(pairs, seeds, within, most):
    graph = JoinGraph(edge(*pair) for pair in pairs)
    joined = {frozenset(pair) for pair in pairs if len(set(pair)) == 2}
    expected = {
        group
        for group in map(
            frozenset, chain.from_iterable(combinations("abcdefg", n) for n in range(1, most + 1))
        )
        if any(seed in group and group - {seed} <= within for seed in seeds)
        and is_connected(group, joined)
    }
    assert graph.connected(seeds, sorted(within), most, 10_000) == expected
    for group in expected:
        tree = graph.tree(sorted(group))
        assert len(tree) == len(group) - 1
        assert is_connected(group, {frozenset(one.tables) for one in tree})


def test_a_graph_that_explodes_is_cut_at_the_smaller_sets():
    names = [f"t{n}" for n in range(60)]
    graph = JoinGraph(edge(*pair) for pair in combinations(names, 2))
    found = graph.connected(names[:3], names, 5, 600)
    assert 3 <= len(found) <= 3 + 600
    assert {frozenset([seed]) for seed in names[:3]} <= found
    assert max(map(len, found)) <= 4


def test_where_sets_are_too_many_those_of_the_tables_named_first_are_there():
    links = [f"link{n}" for n in range(300)]
    graph = JoinGraph(edge(other, "hub") for other in (*links, "wanted"))
    found = graph.connected(["hub"], ["hub", "wanted", *links], 5, 100)
    assert {"hub", "wanted"} in found
    assert len(found) <= 1 + 100 + 1


def test_of_two_joins_the_surer_one_is_shown():
    weak, strong, declared = (
        edge("a", "b", on="w", score=0.4),
        edge("a", "b", on="s", score=0.9),
        edge("b", "a", JoinKind.DECLARED, 0.5, on="d"),
    )
    assert JoinGraph([weak, strong]).between("b", "a") == strong
    assert JoinGraph([strong, declared, weak]).tree(["a", "b"]) == (declared,)


def test_bridges_join_two_of_the_tables():
    graph = JoinGraph([edge("a", "m"), edge("b", "m"), edge("a", "far")])
    assert graph.linking(["a", "b"]) == {"m"}
    assert graph.linking(["a"]) == set()


@pytest.mark.parametrize("group", [["a", "c"], ["a", "nobody"]])
def test_what_is_not_connected_has_no_tree(group):
    assert JoinGraph([edge("a", "b"), edge("b", "c")]).tree(group) == ()


def test_a_table_joined_with_itself_is_no_neighbour():
    graph = JoinGraph([edge("a", "a")])
    assert not graph.neighbours("a")
    assert graph.between("a", "a") is None
