"""A table's page says by which columns it is joined with others that have a page."""

import dagster as dg
import pytest

from pneuma_assets.assets.table_assets import JOINS, table_specs
from pneuma_assets.core.relations.join_graph import JoinEdge, JoinKind
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.asset_keys import PublishedPage
from pneuma_assets.core.store.dagster_manifest import read_manifest
from pneuma_assets.core.store.dagster_manifest_write import (
    MOST_JOINS,
    joins_of_pages,
    keep_manifest,
)
from pneuma_assets.core.tables import TableRef
from tests.support.pipeline_support import deployment

A, B, C = (TableRef(f"lake/{name}", "lake", f"/{name}", "csv", "1") for name in "abc")
EDGE = JoinEdge("lake/a", ("b_id",), "lake/b", ("id",), JoinKind.INFERRED, 0.8, 0.96)


@pytest.fixture
def loaded(tmp_path):
    (tmp_path / "lake").mkdir()
    found = deployment(tmp_path, tmp_path / "lake")
    found.home.mkdir()
    return found


@pytest.fixture
def store(loaded):
    with Store(loaded.home / "state.db") as store:
        store.listings.sync("lake", [A, B, C])
        for table in "ab":
            store.asset_keys.record(
                store.asset_keys.deployment(),
                {f"pneuma/lake/{table}": PublishedPage(f"lake/{table}")},
            )
        yield store


def shown(loaded) -> dict[str, dg.MetadataValue | None]:
    specs = table_specs(read_manifest(loaded, {}).tables, loaded.deployment)
    return {spec.key.path[-1]: spec.metadata.get(JOINS) for spec in specs}


def test_both_tables_say_how_they_are_joined_and_follow_what_people_say(loaded, store):
    store.joins.replace([EDGE, JoinEdge("lake/c", *EDGE.on[1:], JoinKind.INFERRED, 1.0)], ["1"])
    assert keep_manifest(store, loaded.deployment)
    assert shown(loaded) == {
        "a": dg.MetadataValue.md("- b_id refers to lake/b (id): inferred, 96% of cells found"),
        "b": dg.MetadataValue.md(
            "- id is referred to by lake/a (b_id): inferred, 96% of cells found"
        ),
    }, "c has no page"
    assert not keep_manifest(store, loaded.deployment)
    store.joins.judge(EDGE, confirmed=False, author="ana")
    assert keep_manifest(store, loaded.deployment)
    assert shown(loaded) == {"a": None, "b": None}
    store.joins.withdraw(EDGE.on)
    assert keep_manifest(store, loaded.deployment)
    store.joins.replace([], ["2"])
    assert keep_manifest(store, loaded.deployment)
    assert shown(loaded) == {"a": None, "b": None}


def test_names_are_shown_as_they_are_and_link_to_nothing(store):
    evil = "[x](http://evil)\n# h", "a|b"
    store.joins.replace(
        [JoinEdge("lake/a", evil, "lake/b", ("<b>", "c"), JoinKind.INFERRED, 1.0)], []
    )
    (line,) = joins_of_pages(store, {"lake/a", "lake/b"})["lake/a"]
    assert line.startswith("\\[x\\](http\\://evil) # h, a\\|b refers to lake/b (\\<b\\>, c)")


def test_of_a_key_that_many_refer_to_some_are_shown_those_that_are_believed_first(store):
    edges = [
        JoinEdge("lake/a", (f"c{n}" + "x" * 500,), "lake/b", ("id",), JoinKind.INFERRED, n / 100)
        for n in range(50)
    ]
    store.joins.replace(edges, [])
    found = joins_of_pages(store, {"lake/a", "lake/b"})
    assert [len(found[table]) for table in ("lake/a", "lake/b")] == [MOST_JOINS, MOST_JOINS]
    assert found["lake/a"][0].startswith("c49" + "x" * 97 + " refers to")
