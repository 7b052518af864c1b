"""What people say of tables and columns is kept until they take it back, come what may."""

import pytest

from pneuma_assets.core.store.descriptions import Correction
from pneuma_assets.core.store.queue import Finished
from pneuma_assets.core.tables import Column, DocumentKind, Provenance, Table
from tests.conformance.store.test_worklist import ref


def said(store, table_id="lake/a"):
    return {one.column: (one.text, one.author) for one in store.descriptions.corrections(table_id)}


def test_the_last_word_stands_with_author_and_date(store):
    began = store.now()
    store.correct("lake/a", "x", "How far.", "Ann")
    store.correct("lake/a", "x", "How high.", "Bo")
    store.correct("lake/a", None, "Peaks of the Alps.", "Ann")
    own, one = store.descriptions.corrections("lake/a")
    assert (own.column, own.text) == (None, "Peaks of the Alps.")
    assert one == Correction("lake/a", "x", "How high.", "Bo", one.said_at)
    assert began <= one.said_at <= store.now()
    assert one.description.provenance == Provenance.CORRECTION
    assert store.descriptions.corrections("lake/b") == []


def test_what_is_taken_back_is_gone(store):
    store.correct("lake/a", "x", "", "Ann")
    assert store.descriptions.corrections("lake/a")[0].rejects
    assert not store.withdraw_correction("lake/a", None)
    assert not store.withdraw_correction("lake/b", "x")
    assert store.withdraw_correction("lake/a", "x")
    assert store.descriptions.corrections() == []


def test_a_column_without_a_name_is_not_the_table(store):
    store.correct("lake/a", "", "No name.", "Ann")
    store.correct("lake/a", None, "A table.", "Ann")
    assert said(store) == {None: ("A table.", "Ann"), "": ("No name.", "Ann")}
    assert store.withdraw_correction("lake/a", "")
    assert said(store) == {None: ("A table.", "Ann")}


@pytest.mark.parametrize("name", ["it's", "a\nb", "\u202eevil", "a\0b", "\ud800", "\u5b57" * 200])
def test_names_from_anywhere_are_found_again(store, name):
    store.correct(f"lake/{name}", name, f"About {name}.", name)
    (one,) = store.descriptions.corrections(f"lake/{name}")
    assert one.is_of(name)
    assert not one.is_of(name + "x")
    assert store.withdraw_correction(f"lake/{name}", name)


def test_a_corrected_table_waits_for_the_next_run(store):
    store.listings.sync("lake", [ref("a"), ref("b")])
    store.queue.claim("run", 9, 3, ["lake"])
    store.queue.finish("run", [Finished(f"lake/{name}", "hash", 1) for name in "ab"])
    assert len(store.queue.pending()) == 0
    store.correct("lake/a", "x", "How far.", "Ann")
    assert store.queue.waiting(["lake"]) == 1
    store.queue.claim("run", 9, 3, ["lake"])
    store.withdraw_correction("lake/a", "x")
    store.queue.finish("run", [Finished("lake/a", "hash", 1)])
    assert store.queue.waiting(["lake"]) == 1  # the run had read what has been withdrawn


def test_it_outlives_its_table(store):
    store.listings.sync("lake", [ref("a"), ref("b")])
    store.correct("lake/a", "x", "How far.", "Ann")
    store.correct("lake/b", None, "", "Bo")
    store.listings.sync("lake", [])
    store.removals.forget(["lake/a", "lake/b"])
    assert store.tables.known() == set()
    assert [one.table_id for one in store.descriptions.corrections()] == ["lake/a", "lake/b"]
    store.listings.sync("lake", [ref("a")])
    store.removals.retract("lake/a")
    assert said(store) == {"x": ("How far.", "Ann")}


def test_what_is_said_of_a_table_is_a_text_about_it(store):
    store.correct("lake/a", None, "Peaks of the Alps.", "Ann")
    store.correct("lake/a", "x", "How far.", "Ann")
    (document,) = store.documents.of_table("lake/a")
    assert (document.kind, document.text) == (DocumentKind.CONTEXT, "Peaks of the Alps.")
    store.correct("lake/a", None, "", "Ann")
    assert store.documents.of_table("lake/a") == []


def test_profiles_do_not_touch_it(store):
    store.listings.sync("lake", [ref("a")])
    store.correct("lake/a", "x", "How far.", "Ann")
    store.queue.claim("run", 9, 3, ["lake"])
    store.queue.save_profiles("run", [Table("lake/a", (Column("y", "INT"),), 1, "/a")])
    assert said(store) == {"x": ("How far.", "Ann")}
