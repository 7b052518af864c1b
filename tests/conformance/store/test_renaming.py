"""A table or a column under another name keeps what is known of it."""

from dataclasses import replace
from unittest.mock import Mock

import pytest

from pneuma_assets.core.changes.changed_share import Change, Measure
from pneuma_assets.core.store import Store, renaming, schema, tables
from pneuma_assets.core.store.narrations import AnswerKey
from pneuma_assets.core.store.profiles import SampleSnapshot
from pneuma_assets.core.store.queue import Finished, Sampled, Stage
from pneuma_assets.core.tables import (
    Column,
    Description,
    Document,
    DocumentKind,
    Problem,
    Provenance,
    RowMark,
    Table,
    TableRef,
    TableTerms,
)
from tests.conformance.store import lake
from tests.conformance.store.lake import states
from tests.support.narrations import said_before
from tests.unit.changes.test_sketch import of_cells

OWN, SHARED = AnswerKey("m", of_table=True), AnswerKey("m")
COLUMNS = (Column("a", "DATE", identity="1"), Column("b", "DATE"))
SKETCH = of_cells(["x", "y"], ["1", None])


def ref(name: str, identity: str | None = None, **more) -> TableRef:
    return lake.ref(name, identity=identity or name, **more)


def table(name: str, columns=COLUMNS) -> Table:
    return Table(f"lake/{name}", columns, 3, f"/lake/{name}", "comment")


def listing(store: Store, *refs: TableRef):
    return store.listings.sync("lake", refs)


def make(store: Store, *refs: TableRef) -> None:
    """Do what a run does with new tables."""
    listing(store, *refs)
    store.queue.claim("run", 1000, 3, ["lake"])
    for item in store.queue.claimed("run"):
        one = replace(table("x"), table_id=item.ref.table_id)
        store.queue.save_profiles("run", [one])
        rows = {DocumentKind.ROWS: [Document(one.table_id, DocumentKind.ROWS, "x | 1")]}
        store.queue.save_samples("run", [Sampled(one.table_id, 3, [RowMark(0, 7)], rows)])
        store.profiles.save_snapshots({one.table_id: SampleSnapshot(COLUMNS, SKETCH)})
        store.profiles.save_terms({one.table_id: TableTerms(cells=("x",))})
        for key in (OWN, SHARED):
            answers = {0: f"{one.table_id} a", 1: f"{one.table_id} b"}
            store.narrations.save(key, [(key.subject(one), p, t) for p, t in answers.items()])
        said = {p: Description(t, Provenance.MODEL, "m") for p, t in answers.items()}
        store.narrations.assign(
            [(one, said, store.narrations.answers([OWN], [one])[one.table_id])], asked=True
        )
        done = Finished(one.table_id, one.schema_hash, 2)
        store.queue.finish("run", [done])


def test_a_renamed_table_keeps_all_that_was_read_and_said(store):
    make(store, ref("old"), ref("other"))
    store.add_context("lake/old", "note", "Said by hand.")
    store.correct("lake/old", "a", "The day", "ada")
    store.correct("lake/old", None, "All days", "ada")
    found = listing(store, ref("new", "old"), ref("other"))
    counts = (found.new, found.changed, found.unchanged, found.gone, found.held, found.renamed)
    assert counts == (0, 0, 1, 0, 0, 1)
    assert states(store) == {"lake/new": "pending", "lake/other": "indexed"}
    assert store.removals.gone() == ["lake/old"], "for the index to lose it"
    assert store.removals.renamed() == ["lake/old"]

    assert said_before(store, OWN, table("new")) == {0: "lake/old a", 1: "lake/old b"}
    assert said_before(store, OWN, table("old")) == {}
    assert set(store.narrations.of_tables(["lake/new"])["lake/new"]) == {"a", "b"}
    assert [one.text for one in store.documents.user_contexts(["lake/new"])["lake/new"]] == [
        "Said by hand."
    ]
    assert {c.column for c in store.descriptions.corrections(["lake/new"])} == {None, "a"}
    assert store.descriptions.corrections(["lake/old"]) == []
    assert store.profiles.snapshots(["lake/new"]).get("lake/new") == SampleSnapshot(COLUMNS, SKETCH)
    texts = {one.text for one in store.documents.of_tables(["lake/new"])["lake/new"]}
    assert texts == {"x | 1", "Said by hand.", "All days"}

    store.queue.claim("next", 10, 3, ["lake"])
    (item,) = store.queue.claimed("next", Stage.LISTED)
    assert item.ref == ref("new", "old")
    assert (item.sampled, item.sampled_row_count) == ((RowMark(0, 7),), 3)
    assert item.table.columns == COLUMNS
    store.removals.forget(["lake/old"])
    assert said_before(store, OWN, table("new")) == {0: "lake/old a", 1: "lake/old b"}
    assert store.tables.known() == {"lake/new", "lake/other"}
    store.check()


def test_a_held_table_comes_back_under_another_name(store):
    make(store, *(ref(f"old/{n}") for n in range(30)))
    assert listing(store).held == 30
    found = listing(store, *(ref(f"new/{n}", f"old/{n}") for n in range(29)))
    assert (found.renamed, found.held) == (29, 1), "the last one is still held"
    assert listing(store, *(ref(f"new/{n}", f"old/{n}") for n in range(30))).held == 0


def test_a_table_renamed_there_and_back_before_the_index_knows(store):
    make(store, ref("a"))
    listing(store, ref("b", "a"))
    found = listing(store, ref("a"))
    assert (found.renamed, found.new, found.gone) == (1, 0, 0)
    assert states(store) == {"lake/a": "pending"}
    assert store.removals.gone() == ["lake/b"]
    assert said_before(store, OWN, table("a")) == {0: "lake/a a", 1: "lake/a b"}


def test_a_table_that_takes_the_name_of_another_keeps_nothing_of_that(store):
    make(store, ref("left"), ref("stays"))
    for name in ("left", "stays"):
        store.add_context(f"lake/{name}", "note", f"Said of {name}.")
    for name in ("left", "stays"):
        texts = [Document(f"lake/{name}", DocumentKind.ROWS, f"{name} | 1")]
        store.documents.replace(DocumentKind.ROWS, [(f"lake/{name}", texts)])
    store.profiles.save_snapshots({"lake/left": SampleSnapshot(COLUMNS)})
    listing(store, ref("stays"))
    found = listing(store, ref("left", "stays"))
    assert (found.renamed, found.new, found.changed) == (1, 0, 0)
    texts = [one.text for one in store.documents.of_tables(["lake/left"])["lake/left"]]
    assert texts == ["stays | 1", "Said of left."], "but what people said of it"
    assert store.profiles.snapshots(["lake/left"]).get("lake/left") == SampleSnapshot(
        COLUMNS, SKETCH
    )
    assert said_before(store, OWN, table("left")) == {0: "lake/stays a", 1: "lake/stays b"}
    assert store.narrations.of_tables(["lake/left"])["lake/left"]["a"].text == "lake/stays a"


def test_what_a_table_was_built_from_is_found_anew_under_its_new_name(store):
    make(store, ref("old"))
    texts = [Document("lake/old", DocumentKind.LINEAGE, "built from others")]
    store.documents.replace(DocumentKind.LINEAGE, [("lake/old", texts)])
    listing(store, ref("new", "old"))
    for name in ("old", "new"):
        texts = [one.text for one in store.documents.of_tables([f"lake/{name}"])[f"lake/{name}"]]
        assert "built from others" not in texts


def test_many_tables_are_renamed_by_few_statements(store, monkeypatch):
    make(store, *(ref(f"old/{n}") for n in range(30)))
    monkeypatch.setattr(schema, "AT_ONCE", 20)
    asked = Mock(wraps=renaming._move_said)
    monkeypatch.setattr(renaming, "_move_said", asked)
    found = listing(store, *(ref(f"new/{n}", f"old/{n}") for n in range(30)))
    assert (found.renamed, found.held, found.gone, found.new) == (30, 0, 0, 0), "no accident"
    assert store.problems.all() == []
    assert [len(call.args[1]) for call in asked.call_args_list] == [20, 10]
    for n in range(30):
        known = said_before(store, OWN, table(f"new/{n}"))
        assert known == {0: f"lake/old/{n} a", 1: f"lake/old/{n} b"}


def test_a_table_that_leaves_while_a_run_reads_it_has_not_failed(store):
    make(store, ref("a"), ref("b"))
    listing(store, replace(ref("a"), version="2"), ref("b"))
    store.queue.claim("run", 10, 3, ["lake"])
    listing(store, ref("b"))
    assert not store.queue.fail(Problem("lake/a", "profile", "No such file"), "run")
    assert store.problems.all() == []
    assert store.removals.gone() == ["lake/a"], "for the index to lose it, and nobody holds it"


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ({"a": "c"}, {"c": "of a", "b": "of b"}),
        ({"a": "b", "b": "a"}, {"b": "of a", "a": "of b"}),
        ({"a": "b"}, {"b": "of a"}),
        ({}, {"a": "of a", "b": "of b"}),
        ({"absent": "c"}, {"a": "of a", "b": "of b"}),
    ],
    ids=["one", "swapped", "in the place of one that left", "none", "one of which nothing is said"],
)
def test_what_was_said_of_a_column_follows_it(store, names, said):
    one = table("t")
    for column in "ab":
        store.correct("lake/t", column, f"of {column}", "ada")
    store.correct("lake/t", None, "the table", "ada")
    store.correct("lake/other", "a", "of another", "ada")
    store.narrations.save(OWN, [(OWN.subject(one), p, f"of {c}") for p, c in enumerate("ab")])
    shown = {p: Description(f"of {c}", Provenance.MODEL, "m") for p, c in enumerate("ab")}
    store.narrations.assign(
        [(one, shown, store.narrations.answers([OWN], [one])[one.table_id])], asked=True
    )
    store.renaming.columns("lake/t", names)
    assert {c: d.text for c, d in store.narrations.of_tables(["lake/t"])["lake/t"].items()} == said
    corrected = {c.column: c.text for c in store.descriptions.corrections(["lake/t"])}
    assert corrected == {None: "the table", **said}
    assert len(store.descriptions.corrections(["lake/other"])) == 1
    now = table("t", [Column(name, "DATE") for name in said])
    store.narrations.carry_over(OWN, [now])
    assert said_before(store, OWN, now) == dict(enumerate(said.values()))


def test_a_table_takes_over_what_was_said_of_one_that_left(store):
    make(store, ref("old"), ref("new"))
    store.add_context("lake/old", "note", "Said by hand.")
    listing(store, ref("new"))
    assert store.profiles.snapshots_of_gone("lake") == {"lake/old": SampleSnapshot(COLUMNS, SKETCH)}
    assert store.profiles.snapshots_of_gone("hill") == {}
    store.renaming.take_over("lake/old", "lake/new")
    assert store.removals.renamed() == ["lake/old"]
    assert [one.text for one in store.documents.user_contexts(["lake/new"])["lake/new"]] == [
        "Said by hand."
    ]
    assert said_before(store, OWN, table("old")) == {}
    store.removals.forget(["lake/old"])
    assert store.profiles.snapshots(["lake/old"]).get("lake/old") is None
    assert store.profiles.snapshots(["lake/new"]).get("lake/new") == SampleSnapshot(COLUMNS, SKETCH)


def test_a_table_that_left_is_remembered_until_new_ones_are_read(store):
    make(store, ref("old"), ref("other"))
    listing(store, ref("new"), ref("other"))
    assert store.removals.gone() == ["lake/old"], "the index is to lose it at once"
    store.removals.forget(["lake/old"])
    assert store.removals.gone() == [], "and once"
    assert store.queue.counts(3, ["lake"]).gone == 0
    assert store.queue.counts(3, ["lake"]).indexed == 1
    assert store.profiles.snapshots_of_gone("lake") == {"lake/old": SampleSnapshot(COLUMNS, SKETCH)}
    make(store, ref("new"), ref("other"))
    assert store.removals.gone() == ["lake/old"]
    store.removals.forget(["lake/old"])
    assert store.tables.known() == {"lake/new", "lake/other"}
    store.check()


@pytest.mark.parametrize("late", [True, False])
def test_a_table_that_left_is_not_remembered_for_long_nor_for_another_source(
    store, monkeypatch, late
):
    make(store, ref("old"))
    if late:
        monkeypatch.setattr(tables, "REMEMBERED_S", 0.0)
        store.listings.sync("lake", [ref("new")], rule=None)
    else:
        store.listings.sync("hill", [lake.ref("new", source="hill")])
        store.listings.sync("lake", [], rule=None)
    store.removals.forget(["lake/old"])
    assert store.tables.known() == {"lake/new" if late else "hill/new"}


def test_what_a_table_was_drawn_from_is_kept(store):
    known = SampleSnapshot(COLUMNS, SKETCH, Change(0.25, Measure.SKETCH))
    store.profiles.save_snapshots({"lake/a": known, "lake/b": SampleSnapshot(COLUMNS)})
    assert store.profiles.snapshots(["lake/a"]).get("lake/a") == known
    assert store.profiles.snapshots(["lake/b"]).get("lake/b") == SampleSnapshot(COLUMNS)
    assert store.profiles.snapshots(["lake/c"]).get("lake/c") is None
    assert store.profiles.changes(["lake/a", "lake/b", "lake/c"]) == {"lake/a": known.change}
    with store._db.write() as connection:  # as a former version did, by another measure
        connection.execute(schema.drawn.update().values(measured_by="counters"))
    assert store.profiles.changes(["lake/a"]) == {}
    assert store.profiles.snapshots(["lake/a"]) == {"lake/a": replace(known, change=None)}
    store.profiles.save_snapshots({"lake/a": SampleSnapshot(())})
    assert store.profiles.snapshots(["lake/a"]).get("lake/a") == SampleSnapshot(())


def test_of_a_table_that_left_it_is_known_whether_it_has_another_name(store):
    make(store, ref("a"), ref("b"), ref("c"))
    listing(store, ref("a2", "a"), ref("b2", "b"))
    to_do = store.queue.counts(3, ["lake"])
    assert (to_do.gone, to_do.renamed, to_do.waiting) == (3, 2, 2)
    listing(store, ref("a3", "a"))
    assert store.removals.renamed() == ["lake/a", "lake/a2"], "b was renamed and dropped"
    assert "lake/b" in store.removals.gone()
    listing(store, ref("a"), ref("b"))
    assert store.removals.renamed() == ["lake/a2", "lake/a3"], "a has its name again"
