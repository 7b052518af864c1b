"""How joins connect tables."""

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


@given(PAIRS, st.sets(st.sampled_from("abcdefg"), min_size=1))
def test_a_tree_connects_what_joins_connect(pairs, group):
    inside = {frozenset(pair) for pair in pairs if len({*pair}) == 2 and group.issuperset(pair)}
    tree = JoinGraph(edge(*pair) for pair in pairs).tree(sorted(group))
    assert {frozenset(one.tables) for one in tree} <= inside
    assert (len(tree) == len(group) - 1) == is_connected(frozenset(group), inside)


def test_of_two_joins_the_surer_one_is_shown():
    weak, strong, declared = (
        edge("a", "b", on="w", score=0.4),
        edge("a", "b", on="s", score=0.9),
        edge("b", "a", JoinKind.DECLARED, 0.5, on="d"),
    )
    assert JoinGraph([weak, strong]).between("b", "a") == strong
    assert JoinGraph([strong, declared, weak]).tree(["a", "b"]) == (declared,)


def test_bridges_join_two_tables_and_none_with_itself():
    graph = JoinGraph([edge("a", "m"), edge("b", "m"), edge("a", "far")])
    assert graph.linking(["a", "b"]) == {"m"}
    assert graph.linking(["a"]) == set()
    graph = JoinGraph([edge("a", "a")])
    assert not graph.neighbours("a")
    assert graph.between("a", "a") is None


def test_a_shared_domain_makes_no_neighbours_and_joins_what_nothing_else_does():
    domain, key = edge("a", "b", JoinKind.DOMAIN), edge("b", "c", score=0.5)
    graph = JoinGraph([domain, key, edge("a", "m", JoinKind.DOMAIN)])
    assert (graph.tables, graph.neighbours("a")) == ({"b", "c"}, frozenset())
    assert graph.linking(["a", "b", "m"]) == set()
    assert graph.tree(["a", "b", "c"]) == (key, domain)
    assert JoinGraph([domain, key, edge("a", "c", score=0.5)]).tree(["a", "b", "c"]) == (
        edge("a", "c", score=0.5), key,
    )  # fmt: skip
    assert graph.beyond_guesses({"a", "b"}, 5) == {"a", "b"}
