"""What is up- and downstream of a table; circles end, and none is handed to Dagster."""

from pneuma_assets.core.lineage.edges import Direction, Edge, EdgeKind, Graph, without_circles

UP, DOWN = Direction.UPSTREAM, Direction.DOWNSTREAM


def view(upstream: str, downstream: str) -> Edge:
    return Edge(upstream, downstream, EdgeKind.VIEW)


def reached(graph: Graph, table_id: str, direction: Direction, **how: int) -> list:
    return [(one.table_id, one.depth) for one in graph.reach(table_id, direction, **how)]


def test_tables_are_reached_by_the_fewest_steps_and_circles_end():
    graph = Graph([view("a", "b"), view("b", "c"), view("a", "c"), view("c", "d")])
    assert reached(graph, "a", DOWN) == [("b", 1), ("c", 1), ("d", 2)]
    assert reached(graph, "d", UP) == [("c", 1), ("a", 2), ("b", 2)]
    assert reached(graph, "a", DOWN, depth=1) == [("b", 1), ("c", 1)]
    assert reached(graph, "a", DOWN, most=2) == [("b", 1), ("c", 1)]
    assert reached(graph, "nowhere", UP) == []
    graph = Graph([view("a", "b"), view("b", "c"), view("c", "a"), view("a", "a")])
    assert reached(graph, "a", DOWN, depth=99) == [("b", 1), ("c", 2)]


def test_edges_on_a_circle_are_left_out_of_chains_of_any_length():
    upstream = {"b": ["a"], "c": ["b", "x"], "a": ["c"], "d": ["c"], "e": ["e", "d"]}
    assert without_circles(upstream) == {"c": ("x",), "d": ("c",), "e": ("d",)}
    chain = {f"t{n}": [f"t{n - 1}"] for n in range(1, 20_000)}
    assert without_circles(chain) == {table: tuple(up) for table, up in chain.items()}
    assert without_circles({**chain, "t0": ["t19999"]}) == {}
