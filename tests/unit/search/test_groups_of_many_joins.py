"""Of tables that join one that was found, only those that link two are looked up."""

from pneuma_assets.core.index.base import NO_FILTER
from pneuma_assets.core.relations.join_graph import JoinEdge, JoinKind
from pneuma_assets.core.search.groups import MOST_LINKING, GroupSearch
from pneuma_assets.core.search.mentions import link_mentions
from pneuma_assets.core.search.results import Found, ScoreParts, TableResult
from pneuma_assets.core.tables import DocumentKind, TableFacts


class Index:
    """Knows every table, and which ones were looked up."""

    def __init__(self) -> None:
        self.looked_up: list[str] = []

    def facts(self, table_ids):
        self.looked_up += table_ids
        return dict.fromkeys(table_ids, TableFacts())

    def holding(self, texts, where):
        return {}


def edge(one: str, other: str) -> JoinEdge:
    return JoinEdge(one, ("x",), other, ("id",), JoinKind.INFERRED, 1.0)


def result(table_id: str, score: float) -> TableResult:
    parts = ScoreParts(0.0, 0.0, None, 0.0, 0.0, 1, 1.0)
    return TableResult(table_id, score, parts, DocumentKind.ROWS, "", "", "")


def test_what_joins_one_found_table_alone_is_not_looked_up():
    edges = [edge(f"far{n}", "a") for n in range(500)] + [edge("link", "a"), edge("link", "b")]
    index = Index()
    search = GroupSearch(index, lambda _: edges)
    results = [result("a", 1.0), result("b", 0.9)]
    groups = search.group("a question", Found(results), 10, NO_FILTER)
    assert index.looked_up == ["link"]
    assert {table for group in groups for table in group.tables} == {"a", "b", "link"}


def test_of_many_tables_that_link_two_those_that_link_the_best_found_ones_are_in_sets():
    links = [f"link{n:04}" for n in range(3_000)]
    edges = [edge(link, table) for link in links for table in ("b", "c")]
    edges += [
        edge("zz", "a"),
        edge("zz", "b"),
        JoinEdge("yy", ("x",), "b", ("id",), JoinKind.VIEW, 1.0),
        edge("yy", "c"),
    ]
    results = [result("a", 1.0), result("b", 0.9), result("c", 0.8)]
    search = GroupSearch(Index(), lambda _: edges)
    graph = search._graph({one.table_id: one.score for one in results}, NO_FILTER)
    linking = graph.tables - {"a", "b", "c"}
    assert linking == {"zz", "yy", *links[: MOST_LINKING - 2]}


def test_the_order_in_which_an_engine_tells_words_decides_nothing():
    words = {"student": 1.0, "course": 0.5, "grade": 0.5}
    turned = dict(reversed(words.items()))
    one, other = (link_mentions(Index(), "?", {"a": some}, NO_FILTER) for some in (words, turned))
    assert one == other
