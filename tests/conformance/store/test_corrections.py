"""What people say of tables and columns is kept until they take it back, come what may."""

import pytest

from pneuma_assets.core.store.corrections import Correction
from pneuma_assets.core.store.worklist.items import Finished
from pneuma_assets.core.tables import Column, DocumentKind, Provenance, Table
from tests.conformance.store.test_worklist import ref


def said(store, table_id="lake/a"):
    return {one.column: (one.text, one.author) for one in store.corrections.of_table(table_id)}


def test_the_last_word_stands_with_author_and_date(store):
    began = store.now()
    store.correct("lake/a", "x", "How far.", "Ann")
    store.correct("lake/a", "x", "How high.", "Bo")
    store.correct("lake/a", None, "Peaks of the Alps.", "Ann")
    own, one = store.corrections.of_table("lake/a")
    assert (own.column, own.text) == (None, "Peaks of the Alps.")
    assert one == Correction("lake/a", "x", "How high.", "Bo", one.said_at)
    assert began <= one.said_at <= store.now()
    assert one.description.provenance == Provenance.CORRECTION
    assert store.corrections.of_table("lake/b") == []


def test_what_is_taken_back_is_gone(store):
    store.correct("lake/a", "x", "", "Ann")
    assert store.corrections.of_table("lake/a")[0].rejects
    assert not store.withdraw_correction("lake/a", None)
    assert not store.withdraw_correction("lake/b", "x")
    assert store.withdraw_correction("lake/a", "x")
    assert store.corrections.all() == []


def test_a_column_without_a_name_is_not_the_table(store):
    store.correct("lake/a", "", "No name.", "Ann")
    store.correct("lake/a", None, "A table.", "Ann")
    assert said(store) == {None: ("A table.", "Ann"), "": ("No name.", "Ann")}
    assert store.withdraw_correction("lake/a", "")
    assert said(store) == {None: ("A table.", "Ann")}


@pytest.mark.parametrize("name", ["it's", "a\nb", "\u202eevil", "a\0b", "\ud800", "\u5b57" * 200])
def test_names_from_anywhere_are_found_again(store, name):
    store.correct(f"lake/{name}", name, f"About {name}.", name)
    (one,) = store.corrections.of_table(f"lake/{name}")
    assert one.is_of(name)
    assert not one.is_of(name + "x")
    assert store.withdraw_correction(f"lake/{name}", name)


def test_a_corrected_table_waits_for_the_next_run(store):
    store.inventory.reconcile("lake", [ref("a"), ref("b")])
    store.work.claim("run", 9, 3, ["lake"])
    store.results.finish("run", [Finished(f"lake/{name}", "hash", 1) for name in "ab"])
    assert store.backlog.pending() == 0
    store.correct("lake/a", "x", "How far.", "Ann")
    assert store.backlog.waiting(["lake"]) == 1
    store.work.claim("run", 9, 3, ["lake"])
    store.withdraw_correction("lake/a", "x")
    store.results.finish("run", [Finished("lake/a", "hash", 1)])
    assert store.backlog.waiting(["lake"]) == 1  # the run had read what has been withdrawn


def test_it_outlives_its_table(store):
    store.inventory.reconcile("lake", [ref("a"), ref("b")])
    store.correct("lake/a", "x", "How far.", "Ann")
    store.correct("lake/b", None, "", "Bo")
    store.inventory.reconcile("lake", [])
    store.leaving.forget(["lake/a", "lake/b"])
    assert store.tables.known() == set()
    assert [one.table_id for one in store.corrections.all()] == ["lake/a", "lake/b"]
    store.inventory.reconcile("lake", [ref("a")])
    store.leaving.take_back("lake/a")
    assert said(store) == {"x": ("How far.", "Ann")}


def test_what_is_said_of_a_table_is_a_text_about_it(store):
    store.correct("lake/a", None, "Peaks of the Alps.", "Ann")
    store.correct("lake/a", "x", "How far.", "Ann")
    (document,) = store.documents.of_table("lake/a")
    assert (document.kind, document.text) == (DocumentKind.CONTEXT, "Peaks of the Alps.")
    store.correct("lake/a", None, "", "Ann")
    assert store.documents.of_table("lake/a") == []


def test_profiles_do_not_touch_it(store):
    store.inventory.reconcile("lake", [ref("a")])
    store.correct("lake/a", "x", "How far.", "Ann")
    store.work.claim("run", 9, 3, ["lake"])
    store.results.save_profiles("run", [Table("lake/a", (Column("y", "INT"),), 1, "/a")])
    assert said(store) == {"x": ("How far.", "Ann")}
