"""What people say of tables and columns is kept until they take it back, come what may."""

import pytest

from pneuma_assets.core.store.descriptions import Correction
from pneuma_assets.core.tables import DocumentKind, Provenance
from tests.conformance.store.lake import claim, finish, index, ref, table


def said(store, table_id="lake/a"):
    return {
        one.column: (one.text, one.author) for one in store.descriptions.corrections([table_id])
    }


def test_the_last_word_stands_with_author_and_date(store):
    began = store.now()
    store.correct("lake/a", "x", "How far.", "Ann")
    store.correct("lake/a", "x", "How high.", "Bo")
    store.correct("lake/a", None, "Peaks of the Alps.", "Ann")
    own, one = store.descriptions.corrections(["lake/a"])
    assert (own.column, own.text) == (None, "Peaks of the Alps.")
    assert one == Correction("lake/a", "x", "How high.", "Bo", one.said_at)
    assert began <= one.said_at <= store.now()
    assert one.description.provenance == Provenance.CORRECTION
    assert store.descriptions.corrections(["lake/b"]) == []


def test_a_column_without_a_name_is_not_the_table(store):
    store.correct("lake/a", "", "No name.", "Ann")
    store.correct("lake/a", None, "A table.", "Ann")
    assert said(store) == {None: ("A table.", "Ann"), "": ("No name.", "Ann")}
    assert store.withdraw_correction("lake/a", "")
    assert said(store) == {None: ("A table.", "Ann")}
    assert not store.withdraw_correction("lake/a", "")
    store.correct("lake/a", None, "", "Ann")
    assert store.descriptions.corrections(["lake/a"])[0].rejects
    assert store.withdraw_correction("lake/a", None)
    assert not store.withdraw_correction("lake/b", None)
    assert store.descriptions.corrections() == []


@pytest.mark.parametrize("name", ["it's", "a\nb", "\u202eevil", "a\0b", "\ud800", "\u5b57" * 200])
def test_names_from_anywhere_are_found_again(store, name):
    store.correct(f"lake/{name}", name, f"About {name}.", name)
    (one,) = store.descriptions.corrections([f"lake/{name}"])
    assert one.is_of(name)
    assert not one.is_of(name + "x")
    assert store.withdraw_correction(f"lake/{name}", name)


def test_a_corrected_table_waits_for_the_next_run(store):
    index(store, "a", "b")
    store.correct("lake/a", "x", "How far.", "Ann")
    assert store.queue.waiting(["lake"]) == 1
    store.queue.claim("run", 9, 3, ["lake"])
    store.withdraw_correction("lake/a", "x")
    finish(store, "a")
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
    (document,) = store.documents.of_tables(["lake/a"])["lake/a"]
    assert (document.kind, document.text) == (DocumentKind.CONTEXT, "Peaks of the Alps.")
    store.correct("lake/a", None, "", "Ann")
    assert store.documents.of_tables(["lake/a"])["lake/a"] == []


def test_profiles_do_not_touch_it(store):
    claim(store, "a")
    store.correct("lake/a", "x", "How far.", "Ann")
    store.queue.save_profiles("run", [table("a", "y")])
    assert said(store) == {"x": ("How far.", "Ann")}
