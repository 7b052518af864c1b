"""What is listed of all tables, and the mark by which a change is noticed, by file and server."""

from tests.conformance.store.lake import ref
from tests.support.catalog_rows import link, own, row, write


def test_a_mark_is_another_one_after_each_change_by_anybody_and_else_the_same(open_store, store):
    with open_store() as other:
        marks = [store.catalog.mark()]
        assert store.catalog.mark() == marks[0]
        for writer in (store, other):
            write(writer, [row("lake/a", format=str(len(marks)))])
            marks.append(store.catalog.mark())
            assert store.tables.records()
    assert len(set(marks)) == 3


def test_tables_are_listed_with_their_texts_and_who_owns_them(store):
    write(store, [row("lake/b", "x", "y", comment="From the source.")])
    write(store, [row("lake/a", readers=("ana",)), row("lake/gone", state="gone")])
    store.listings.sync("w", [ref("t")])
    link(store, ("lake/a", "lake/b"))
    own(store, "lake/b", "ana", "team:x")
    listed = {one.table_id: one for one in store.tables.records()}
    assert list(listed) == sorted(listed)
    assert {"lake/a", "lake/b"} < listed.keys()
    assert "lake/gone" not in listed
    assert (listed["lake/a"].readers, listed["lake/b"].readers) == (("ana",), None)
    texts = store.catalog.texts({"lake/b": "From the source.", "lake/a": ""})
    assert texts["lake/b"].columns == ("x", "y")
    assert (texts["lake/b"].comment, texts["lake/a"].comment) == ("From the source.", "")
    said = store.catalog.lineage(None)
    assert said.owners == {"lake/b": ("ana", "team:x")}
    assert said.derived == (("lake/a", "lake/b"),)
    assert store.catalog.lineage(said) is said
    store.correct("lake/a", None, "Says ana.", "ana")
    store.correct("lake/b", None, "", "ana")
    assert store.catalog.corrected() == {"lake/a": "Says ana.", "lake/b": ""}
