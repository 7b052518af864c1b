"""Joins that are declared, inferred or said by people are one answer; what is said stays."""

from dataclasses import replace
from itertools import pairwise

import pytest

from pneuma_assets.core.lineage.edges import Edge, EdgeKind
from pneuma_assets.core.relations.join_graph import JoinEdge, JoinKind
from pneuma_assets.core.store.edges import Origin
from pneuma_assets.core.store.renaming import move_tables
from tests.conformance.store.lake import finish, ref, table

HOSTILE = 'o"; DROP --'
A, B, C = map(ref, "abc")
INFERRED = JoinEdge("lake/a", ("b_id",), "lake/b", ("id",), JoinKind.INFERRED, 0.8, 0.9)
OTHER = JoinEdge("lake/c", (HOSTILE,), "lake/b", ("id",), JoinKind.INFERRED, 0.5)


@pytest.fixture
def listed(store):
    store.listings.sync("lake", [A, B, C])
    store.queue.claim("run", 100, 3, ["lake"])
    names = {"a": ("b_id", "x"), "b": ("id", "y"), "c": (HOSTILE,)}
    store.queue.save_profiles("run", [table(name, *some) for name, some in names.items()])
    return store


def on(store, *tables: str) -> list[tuple[str, str]]:
    return [(edge.table, str(edge.kind)) for edge in store.joins.of_tables(tables)]


def test_inferred_joins_are_replaced_as_a_whole_and_counted(listed):
    assert listed.joins.made_of() == ()
    assert listed.joins.replace([INFERRED, OTHER], ["1"]) == 2
    assert [e.table for e in listed.joins.of_tables(["lake/b"])] == ["lake/a", "lake/c"]
    assert listed.joins.of_tables(["lake/c"]) == [OTHER]
    assert listed.joins.of_tables([]) == []
    assert listed.joins.replace([INFERRED], ["2", "3"]) == 1
    assert listed.joins.replace([replace(INFERRED, score=0.7)], ["2", "3"]) == 0
    assert listed.joins.of_tables(["lake/b"]) == [replace(INFERRED, score=0.7)]
    assert listed.joins.made_of() == ("2", "3")


def test_what_is_declared_stands_before_what_is_inferred(listed):
    listed.joins.replace([INFERRED], [])
    key = Edge("lake/b", "lake/a", EdgeKind.FOREIGN_KEY, (("id", "b_id"),))
    view = Edge("lake/b", "lake/c", EdgeKind.VIEW, (("id", HOSTILE),))
    listed.edges.replace([Origin("table:lake/a", "d", edges=(key, view))])
    [edge] = listed.joins.of_tables(["lake/a", "lake/b", "lake/c"])
    assert edge == replace(INFERRED, kind=JoinKind.DECLARED, score=1.0)


def test_people_have_the_last_word(listed):
    listed.joins.replace([INFERRED], [])
    listed.joins.judge(INFERRED, confirmed=False, author="ana")
    assert on(listed, "lake/a") == []
    listed.joins.replace([INFERRED], ["again"])
    assert on(listed, "lake/a") == []
    listed.joins.judge(INFERRED, confirmed=True, author="bob")
    assert on(listed, "lake/a") == [("lake/a", "person")]
    [verdict] = listed.joins.verdicts()
    assert (verdict.confirmed, verdict.author, verdict.edge.on) == (True, "bob", INFERRED.on)
    assert listed.joins.withdraw(INFERRED.on)
    assert not listed.joins.withdraw(INFERRED.on)
    assert on(listed, "lake/a") == [("lake/a", "inferred")]


def test_pairs_are_what_any_join_connects_whoever_says_it(listed):
    own = JoinEdge("lake/a", ("x",), "lake/a", ("b_id",), JoinKind.INFERRED, 0.5)
    listed.joins.replace([INFERRED, replace(INFERRED, columns=("x",)), own], [])
    key = Edge("lake/b", "lake/c", EdgeKind.FOREIGN_KEY, (("id", HOSTILE),))
    listed.edges.replace([Origin("table:lake/c", "d", edges=(key,))])
    both = {("lake/a", "lake/b"), ("lake/b", "lake/c")}
    assert listed.joins.pairs() == both
    listed.joins.judge(INFERRED, confirmed=False, author="ana")
    assert listed.joins.pairs() == both, "they are joined by other columns, too"
    listed.joins.judge(replace(INFERRED, columns=("x",)), confirmed=False, author="ana")
    assert listed.joins.pairs() == {("lake/b", "lake/c")}
    listed.joins.judge(INFERRED, confirmed=True, author="ana")
    assert listed.joins.pairs() == both


def test_a_shared_domain_is_told_where_nothing_else_joins_two_tables_and_makes_no_pair(listed):
    domain = JoinEdge("lake/a", ("x",), "lake/b", ("y",), JoinKind.DOMAIN, 0.96, 0.96)
    far = replace(domain, other="lake/c", other_columns=(HOSTILE,))
    listed.joins.replace([INFERRED, domain, far], [])
    assert listed.joins.of_tables(["lake/a"]) == [INFERRED, far]
    assert listed.joins.pairs() == {("lake/a", "lake/b")}
    listed.joins.judge(INFERRED, confirmed=False, author="ana")
    assert listed.joins.of_tables(["lake/b"]) == [domain]
    assert listed.joins.pairs() == set()
    listed.joins.judge(domain, confirmed=True, author="ana")
    assert (on(listed, "lake/b"), listed.joins.pairs()) == (
        [("lake/a", "person")], {("lake/a", "lake/b")},
    )  # fmt: skip


def test_what_is_rejected_is_no_join_the_other_way_round(listed):
    turned = replace(
        INFERRED, table="lake/b", columns=("id",), other="lake/a", other_columns=("b_id",)
    )
    listed.joins.replace([INFERRED, OTHER], [])
    listed.joins.judge(turned, confirmed=False, author="ana")
    assert on(listed, "lake/b") == [("lake/c", "inferred")]
    listed.joins.judge(INFERRED, confirmed=True, author="ana")
    assert on(listed, "lake/b") == [("lake/a", "person"), ("lake/c", "inferred")]


def test_what_was_confirmed_of_a_column_that_is_gone_is_not_shown(listed):
    listed.joins.judge(INFERRED, confirmed=True, author="ana")
    listed.joins.judge(OTHER, confirmed=True, author="ana")
    listed.queue.save_profiles("run", [table("a", "x")])
    assert on(listed, "lake/b") == [("lake/c", "person")]


def test_what_was_said_follows_renamed_columns_and_a_renamed_table(listed):
    listed.joins.judge(INFERRED, confirmed=True, author="ana")
    listed.renaming.columns("lake/a", {"b_id": "x", "x": "b_id"})
    listed.renaming.columns("lake/b", {"id": "key"})
    listed.listings.sync("lake", [A, C, replace(B, table_id="lake/new")])
    with listed._db.write() as connection:
        move_tables(connection, {"lake/b": "lake/new"})
    [verdict] = listed.joins.verdicts()
    assert verdict.edge.on == ("lake/a", ("x",), "lake/new", ("key",))


def test_the_stamp_is_another_when_a_searchable_table_comes_or_leaves(listed):
    stamps = [listed.joins.stamp()]
    for name in "ab":
        finish(listed, name)
        stamps.append(listed.joins.stamp())
    listed.listings.sync("lake", [A, C])
    stamps.append(listed.joins.stamp())
    assert all(before != after for before, after in pairwise(stamps))
    assert listed.joins.stamp() == stamps[-1]


def test_what_was_confirmed_is_looked_up_in_one_query_however_much_it_is(listed, monkeypatch):
    def queries() -> int:
        asked: list[object] = []
        read = listed._db.read
        with monkeypatch.context() as patched:
            patched.setattr(listed._db, "read", lambda one, **values: (
                asked.append(one), read(one, **values))[1])  # fmt: skip
            listed.joins.of_tables(["lake/a", "lake/b", "lake/c"])
        return len(asked)

    listed.joins.judge(INFERRED, confirmed=True, author="ana")
    one = queries()
    listed.joins.judge(OTHER, confirmed=True, author="ana")
    listed.joins.judge(replace(INFERRED, columns=("x",)), confirmed=True, author="ana")
    assert on(listed, "lake/a", "lake/c") == [(f"lake/{name}", "person") for name in "aac"]
    assert queries() == one


def test_joins_of_queries_are_compared_once_as_long_as_somebody_says_them(listed):
    view = JoinEdge("lake/b", ("id",), "lake/c", (HOSTILE,), JoinKind.VIEW, 1.0)
    key = JoinEdge("lake/a", ("b_id",), "lake/b", ("id",), JoinKind.VIEW, 1.0)
    listed.edges.replace(
        [Origin("table:lake/v", "d", joins=(view,)), Origin("dbt:x", "d", joins=(view, key))]
    )
    assert listed.joins.of_views() == [
        ("dbt:x", key), ("dbt:x", view), ("table:lake/v", view),
    ]  # fmt: skip
    turned = replace(view.turned(), share=0.5)
    listed.joins.compare_views([("table:lake/v", view, turned), ("dbt:gone", view, turned)])
    assert listed.joins.of_views(compared=False) == [("dbt:x", key), ("dbt:x", view)]
    assert turned in [edge for _, edge in listed.joins.of_views()]
    listed.edges.replace([Origin("table:lake/v", "e", joins=(view,))], gone=["dbt:x"])
    assert listed.joins.of_views(compared=False) == [("table:lake/v", view)]
    listed.edges.replace([], gone=["table:lake/v"])
    assert (listed.joins.of_views(), listed.joins.of_tables(["lake/b"])) == ([], [])
