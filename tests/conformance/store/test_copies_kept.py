"""What is kept to tell copies, which tables are copies, and how far tables are used."""

import numpy as np
import pytest

from pneuma_assets.core.lineage.edges import Edge, EdgeKind
from pneuma_assets.core.lineage.external import ExternalTable, fields_of, text_about
from pneuma_assets.core.pipeline import relate
from pneuma_assets.core.relations.fingerprints import Fingerprint
from pneuma_assets.core.store.access import usage_of_tables
from pneuma_assets.core.store.edges import Origin
from pneuma_assets.core.tables import Description, Provenance, TableFacts
from tests.conformance.store.lake import finish, ref, table


def fingerprint(rows):
    hashes = np.arange(rows, dtype=np.uint64)
    return Fingerprint(rows, hashes[:2], hashes, True, np.zeros((2, 3), np.uint32))


@pytest.fixture
def indexed(store):
    """A store of three searchable tables, and of one that waits."""
    store.listings.sync("lake", [ref(name) for name in NAMES])
    store.queue.claim("run", 10, 3, ["lake"])
    columns = ("x", "y", "z", "w")
    store.queue.save_profiles("run", [table(name, *columns) for name in NAMES])
    finish(store, "a", "b", "c")
    return store


NAMES = "abcd"


def test_copies_are_exactly_those_noted_last(indexed):
    def noted(copies, families=None):
        return indexed.profiles.mark_copies(copies, families or {}, "")

    assert noted({"lake/b": "lake/a", "lake/c": "lake/a"}) == 2
    assert noted({"lake/b": "lake/a", "lake/c": "lake/a"}) == 0
    assert noted({"lake/c": "lake/b"}) == 2
    assert indexed.profiles.copies() == {"lake/c": "lake/b"}
    assert indexed.access.of_tables(["lake/c"])["lake/c"].copy_of == "lake/b"
    assert noted({}, {"lake/a": "lake/a", "lake/c": "lake/a"}) == 2
    assert indexed.profiles.copies() == {}
    assert indexed.access.of_tables()["lake/c"].family == "lake/a"
    assert noted({}) == 2


def test_copies_are_looked_for_anew_where_a_table_or_its_use_is_another(indexed, monkeypatch):
    looked = []
    found = dict[str, str](), dict[str, str]()
    monkeypatch.setattr(
        relate, "find_copies_and_families", lambda tables: looked.append(len(tables)) or found
    )
    used = {"lake/a": TableFacts(feeds=1)}
    for facts, times in (({}, 1), ({}, 1), (used, 2), (used, 2)):
        relate.mark_copies(indexed, facts)
        assert len(looked) == times
    finish(indexed, "d")
    relate.mark_copies(indexed, used)
    assert len(looked) == 3


def test_fingerprints_are_those_of_searchable_tables_and_leave_with_them(indexed):
    indexed.profiles.save_fingerprints({"lake/a": fingerprint(3), "lake/d": fingerprint(4)})
    indexed.profiles.save_fingerprints({"lake/a": fingerprint(5)})
    assert {i: one.rows for i, one in indexed.profiles.fingerprints().items()} == {"lake/a": 5}
    indexed.listings.sync("lake", [ref("b"), ref("c"), ref("d")], rule=None)
    assert indexed.profiles.fingerprints() == {}
    indexed.removals.forget(indexed.removals.gone())
    indexed.listings.sync("lake", [ref("a"), ref("b"), ref("c"), ref("d")])
    indexed.queue.claim("next", 10, 3, ["lake"])
    finish(indexed, "a", run="next")

    assert indexed.profiles.fingerprints() == {}


def test_described_are_the_columns_of_which_people_say_something(indexed):
    said = {"x": "person", "y": "document", "z": "model", "w": "profile"}
    one = table("a", *said)
    described = {
        p: Description("What it is.", Provenance(by), "") for p, by in enumerate(said.values())
    }
    indexed.narrations.assign([(one, described, {})], asked=False)
    found = usage_of_tables(indexed._db)

    assert found["lake/a"].documented == 0.5
    assert found["lake/b"].documented == 0.0


def test_a_table_feeds_those_that_are_built_from_it(indexed):
    edges = [
        Edge("lake/a", "lake/b", EdgeKind.VIEW),
        Edge("lake/a", "lake/c", EdgeKind.DBT),
        Edge("lake/b", "lake/c", EdgeKind.FOREIGN_KEY),
    ]
    indexed.edges.replace([Origin("dbt", "digest", edges=tuple(edges))])
    found = {table_id: facts.feeds for table_id, facts in indexed.access.of_tables().items()}

    assert found == {"lake/a": 2, "lake/b": 0, "lake/c": 0}


def test_a_deprecated_table_is_trusted_for_nothing_but_how_fresh_it_is(indexed):
    said = {
        f"lake/{name}": text_about(fields_of(ExternalTable((name,), owners=("ana",), facts=facts)))
        for name, facts in (("b", ("Deprecated: version 2 is the latest",)), ("c", ()))
    }
    edges = tuple(Edge("lake/a", f"lake/{name}", EdgeKind.DBT) for name in "bc")
    indexed.edges.replace([Origin("dbt", "digest", edges=edges, told=said)])
    found = usage_of_tables(indexed._db)

    assert found["lake/b"] == TableFacts()
    assert found["lake/c"].owned


@pytest.mark.parametrize(
    ("table", "owned"),
    [
        (ExternalTable(("a",), owners=("team:sales",)), True),
        (ExternalTable(("a",), description="Orders.", owners=("ana@example.org",)), True),
        (ExternalTable(("a",), description="Nobody's. Owners: wanted."), False),
    ],
)
def test_a_table_is_owned_where_metadata_names_owners(indexed, table, owned):
    said = {"lake/a": text_about(fields_of(table))}
    indexed.edges.replace([Origin("dbt", "digest", told=said)])
    found = indexed.access.of_tables()

    assert (found["lake/a"].owned, found["lake/b"].owned) == (owned, False)
