"""What the stages hand to each other: documents, blocks on their way to the index, embeddings."""

import numpy as np
import pytest
from sqlalchemy import update

from pneuma_assets.core.store.schema import tables
from pneuma_assets.core.tables import Block, Document, DocumentKind, EmbeddedBlock
from tests.conformance.store.lake import claim, finish

ROWS, CONTEXT, SCHEMA = DocumentKind.ROWS, DocumentKind.CONTEXT, DocumentKind.SCHEMA


def document(name: str, kind: DocumentKind, text: str) -> Document:
    return Document(f"lake/{name}", kind, text)


def replace(store, name: str, kind: DocumentKind, *texts: str) -> None:
    store.documents.replace(kind, [(f"lake/{name}", [document(name, kind, t) for t in texts])])


def embedded(name: str, text: str, first: float = 0.25, kind=ROWS) -> EmbeddedBlock:
    vector = np.array([first, 1e-30, -0.0, np.pi], np.float32)
    return EmbeddedBlock(Block(f"lake/{name}", kind, text), vector)


def test_documents_of_a_kind_are_replaced_as_a_whole(store):
    texts = [f"row {number}" for number in range(12)]
    replace(store, "a", ROWS, *texts)
    assert [d.text for d in store.documents.of_tables(["lake/a"])["lake/a"]] == texts
    replace(store, "a", CONTEXT, "readme")
    replace(store, "b", ROWS, "other")
    replace(store, "a", ROWS, "z", "a")
    store.add_context("lake/a", "wiki", "by hand")
    assert store.documents.of_tables(["lake/a"])["lake/a"] == [
        document("a", CONTEXT, "readme"),
        document("a", ROWS, "z"),
        document("a", ROWS, "a"),
        document("a", CONTEXT, "by hand"),
    ]
    replace(store, "a", ROWS)
    assert [d.text for d in store.documents.of_tables(["lake/a"])["lake/a"]] == [
        "readme",
        "by hand",
    ]
    assert [d.text for d in store.documents.of_tables(["lake/b"])["lake/b"]] == ["other"]


def test_a_preview_shows_the_first_of_what_a_run_holds(store):
    claim(store, "b", "a", "c")
    for name in "abcd":
        replace(store, name, ROWS, f"{name} 1", f"{name} 2")
    replace(store, "a", SCHEMA, "schema")
    assert store.documents.preview("run", ROWS, 2) == [("lake/a", "a 1"), ("lake/b", "b 1")]
    assert store.documents.preview("another", ROWS, 2) == []


def test_blocks_wait_for_the_index_to_the_last_bit(store):
    claim(store, "a", "b")
    other = DocumentKind("unheard_of")
    replace(store, "a", other, "evidence")
    assert store.documents.of_tables(["lake/a"])["lake/a"] == [document("a", other, "evidence")]
    store.documents.stage("words", [("lake/a", [embedded("a", "evidence", kind=other)])])
    assert [one.block.kind for one in store.documents.staged("words", ["lake/a"])["lake/a"]] == [
        other
    ]
    blocks = [embedded("a", f"text {number}", 1 / (number + 3)) for number in range(12)]
    store.documents.stage("words", [("lake/a", blocks), ("lake/b", [embedded("b", "b")])])
    found = store.documents.staged("words", ["lake/a"])["lake/a"]
    assert [one.block for one in found] == [one.block for one in blocks]
    assert [one.vector.tobytes() for one in found] == [one.vector.tobytes() for one in blocks]
    assert store.documents.staged("other words", ["lake/a"])["lake/a"] == []
    store.documents.stage("words", [("lake/a", blocks[:1]), ("lake/b", [])])


def leave_source(store, table_id: str) -> None:
    """Let a table leave its source and, after its run, the store."""
    with store._db.write() as connection:
        connection.execute(update(tables).values(claimed_by=None))
        gone = update(tables).where(tables.c.table_id == table_id).values(state="gone")
        connection.execute(gone)
    store.removals.forget([table_id])


@pytest.mark.parametrize("leave", ["finished", "forgotten", "taken back"])
def test_blocks_wait_no_longer_than_their_table(store, leave):
    claim(store, "a", "b")
    store.documents.stage("words", [(f"lake/{n}", [embedded(n, n)]) for n in "ab"])
    match leave:
        case "finished":
            finish(store, "a")
        case "forgotten":
            leave_source(store, "lake/a")
        case "taken back":
            store.removals.retract("lake/a")
    assert store.documents.staged("words", ["lake/a"])["lake/a"] == []
    assert len(store.documents.staged("words", ["lake/b"])["lake/b"]) == 1


def test_a_forgotten_table_leaves_what_people_wrote(store):
    claim(store, "a")
    replace(store, "a", ROWS, "row")
    store.problems.record_of_tables("contexts", {"lake/a": "odd"})
    store.add_context("lake/a", "wiki", "by hand")
    leave_source(store, "lake/a")
    assert store.documents.of_tables(["lake/a"])["lake/a"] == [document("a", CONTEXT, "by hand")]
    assert store.problems.all() == []


def test_embeddings_are_known_by_encoder_and_text(store):
    one = embedded("a", "\u2603 it's")
    store.embeddings.keep("words", [("lake/a", [one, embedded("a", "two")])])
    known = store.embeddings.known("words", ["\u2603 it's", "missing"])
    assert list(known) == ["\u2603 it's"]
    assert known["\u2603 it's"].tobytes() == one.vector.tobytes()
    assert store.embeddings.known("other", ["two"]) == {}
    assert store.embeddings.known("words", []) == {}
    texts = [f"text {number}" for number in range(2500)]
    store.embeddings.keep("words", [("lake/a", [embedded("a", text) for text in texts])])
    assert set(store.embeddings.known("words", texts)) == set(texts)


def test_a_shared_embedding_stays_for_as_long_as_a_table_says_it(store):
    both = [(f"lake/{n}", [embedded(n, "shared"), embedded(n, f"own {n}")]) for n in "ab"]
    store.embeddings.keep("words", both)
    assert store.embeddings.tables() == {"lake/a", "lake/b"}
    store.embeddings.prune(["lake/a"])
    assert set(store.embeddings.known("words", ["shared", "own a", "own b"])) == {"shared", "own b"}
    store.embeddings.keep("words", [("lake/b", [embedded("b", "new")])])
    store.embeddings.prune([])
    assert set(store.embeddings.known("words", ["shared", "own b", "new"])) == {"new"}
    assert store.embeddings.tables() == {"lake/b"}
    store.embeddings.prune(["lake/b", "lake/never"])
    assert store.embeddings.tables() == set()


def test_the_newest_embedding_of_a_text_is_there_when_opened_again(open_store):
    with open_store() as store:
        for first in (0.25, 0.75):
            store.embeddings.keep("words", [("lake/a", [embedded("a", "text", first)])])
    with open_store() as store:
        assert store.embeddings.known("words", ["text"])["text"][0] == 0.75
