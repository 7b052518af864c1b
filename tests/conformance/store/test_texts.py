"""Texts come from anywhere: they come back as they were, or as near as a database can keep them."""

import random

import numpy as np
import pytest

from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store.asset_keys import PublishedPage
from pneuma_assets.core.store.narrations import Answer, AnswerKey, Subject
from pneuma_assets.core.tables import (
    Block,
    Column,
    Description,
    Document,
    DocumentKind,
    EmbeddedBlock,
    Problem,
    Provenance,
    Table,
    TableRef,
)

HOSTILE = {
    "quotes": 'it\'s "quoted"; DROP TABLE tables; -- $$ $1 :name %(name)s ?',
    "backslashes": "C:\\new\\table \\x00 \\' E'\\n'",
    "percent": "100 % of %s and %%, _ and LIKE '%'",
    "emoji": "\U0001f427 family: \U0001f468\u200d\U0001f469\u200d\U0001f467, e\u0301 and \u00e9",
    "right to left": "\u202eevil\u202c \u05d0\u05d1\u05d2 \ufeff",
    "lines": "one\r\ntwo\rthree\u2028four\ttab\x1b[31m\x7f\x01",
    "last": "\U0010ffff\ufffe\uffff",
    "empty": "",
    "blank": " \n ",
    "large": "\u5b57'\\ " * 250_000,
}
IDS = [
    f"lake/{name}"
    for name in (
        *("a", "B", "_", "%", "a%", "a\\b", 'it\'s "x"', "\u00e4", "z", "Z", "\u00df", "ss"),
        *("I", "i", "\u0130", "\u0131", "e\u0301", "\u00e9", "\uffff", "\U0001f427"),
        *("a b", "a-b", "ab", "10", "9"),
    )
]
"""Languages disagree about their order, and some about which of them are the same."""


def ref(table_id: str, version: str = "1") -> TableRef:
    return TableRef(table_id, "lake", f"/{table_id}.csv", "csv", version)


def test_every_text_comes_back_as_it_was(store):
    for number, hostile in enumerate(HOSTILE.values()):
        comes_back(store, hostile, f"run {number}")
    store.check()


def comes_back(store, hostile: str, run: str) -> None:
    profile = Table(
        "lake/a", (Column(hostile, hostile, hostile),), 1, "/lake/a.csv", hostile, (hostile,)
    )
    store.listings.sync(
        "lake", [TableRef("lake/a", "lake", hostile, "csv", hostile, (hostile, "x"))], [hostile]
    )
    store.queue.release_claims(run)
    store.queue.claim(run, 1, 3, ["lake"])
    store.queue.save_profiles(run, [profile])
    store.narrations.save(AnswerKey("m"), [(Subject("", "hash"), 0, hostile)])
    store.documents.replace(
        DocumentKind.ROWS, [("lake/a", [Document("lake/a", DocumentKind.ROWS, hostile)])]
    )
    store.problems.record("lake", "contexts", [Problem("lake/a", "contexts", hostile)])
    (item,) = store.queue.claimed(run)
    assert (item.ref.location, item.ref.version) == (hostile, hostile)
    assert item.ref.context_locations == (hostile, "x")
    assert item.table is not None
    assert (item.table.columns, item.table.notes) == (profile.columns, (hostile,))
    assert item.table.comment == hostile
    assert [d.text for d in store.documents.of_tables(["lake/a"])["lake/a"]] == [hostile]
    assert store.problems.all() == [Problem("lake/a", "contexts", hostile)]


def test_what_no_database_can_keep_is_replaced(store):
    given, kept = "a\udcff\0\U0001f427", "a?\ufffd\U0001f427"
    store.add_context("lake/a", f"name {given}", given)
    (context,) = store.documents.user_contexts(["lake/a"])["lake/a"]
    assert (context.name, context.text) == (f"name {kept}", kept)
    assert store.remove_context("lake/a", f"name {given}")
    store.documents.replace(
        DocumentKind.ROWS, [("lake/a", [Document("lake/a", DocumentKind.ROWS, given)])]
    )
    assert [d.text for d in store.documents.of_tables(["lake/a"])["lake/a"]] == [kept]
    store.problems.record_of_tables("narrations", {"lake/a": given})
    assert store.problems.all() == [Problem("lake/a", "narrations", kept)]
    store.check()


def test_tables_are_ordered_by_code_point(store):
    shuffled = random.Random(3).sample(IDS, len(IDS))
    store.listings.sync("lake", [ref(table_id) for table_id in shuffled])
    assert store.tables.listed() == sorted(IDS)
    assert [record.table_id for record in store.tables.records()] == sorted(IDS)
    assert store.tables.known() == set(IDS)
    half = len(IDS) // 2
    assert store.queue.claim("run", half, 3, ["lake"]) == half
    assert [item.ref.table_id for item in store.queue.claimed("run")] == sorted(IDS)[:half]


def test_what_is_done_of_one_table_is_done_of_no_other(store):
    """No name is a pattern, and none is another's, whatever a language takes as the same."""
    for table_id in IDS:
        store.listings.sync("lake", [ref(one) for one in IDS])
        store.add_context(table_id, table_id, "text")
        assert [one for one in IDS if store.documents.user_contexts([one])[one]] == [table_id]
        store.remove_context(table_id, table_id)
        assert store.listings.sync("lake", [ref(one) for one in IDS if one != table_id]).gone == 1
        assert store.removals.gone() == [table_id]
        store.removals.forget([table_id])
        assert store.tables.known() == set(IDS) - {table_id}


def test_contexts_and_problems_are_ordered_by_code_point(store):
    for name in IDS:
        store.add_context("lake/a", name, f"about {name}")
    assert [c.name for c in store.documents.user_contexts(["lake/a"])["lake/a"]] == sorted(IDS)
    store.problems.record("lake", "listing", [Problem(name, "listing", "x") for name in IDS])
    assert [problem.subject for problem in store.problems.all()] == sorted(IDS)


def test_a_name_that_is_too_long_for_the_database_costs_its_own_table_only(store):
    long = "lake/" + "".join(map(chr, range(0x4E00, 0x5A00)))
    listed = store.listings.sync("lake", [ref("lake/a"), ref(long), ref("lake/b")])
    store.problems.record("lake", "contexts", [Problem(long, "contexts", "odd")])
    if store._db.fits(long):
        assert listed.new == 3
        assert store.tables.known() == {"lake/a", "lake/b", long}
        return
    assert listed.new == 2
    assert store.tables.known() == {"lake/a", "lake/b"}
    told = {problem.stage: problem for problem in store.problems.all()}
    assert set(told) == {"name", "contexts"}
    assert "shorten its path" in told["name"].cause
    assert all(long.startswith(one.subject.removesuffix("\u2026")) for one in told.values())
    with pytest.raises(StateError, match="choose a shorter one"):
        store.add_context("lake/a", long, "text")
    store.listings.sync("lake", [ref("lake/a"), ref("lake/b")])
    assert {problem.stage for problem in store.problems.all()} == {"contexts"}


def test_names_of_a_thousand_bytes_fit_everywhere(store):
    """Of the worst kind: an index can compress none of it."""
    chance = random.Random(1)
    name = "".join(chr(chance.randrange(0x4E00, 0x9000)) for _ in range(331)) + "xy"
    table_id = f"lake/{name}"
    assert len(table_id.encode()) == 1000
    store.listings.sync("lake", [ref(table_id)])
    store.queue.claim("run", 1, 3, ["lake"])
    profile = Table(table_id, (Column(name, "INT"),), 1, "/x")
    said = Description("said", Provenance.MODEL, "m")
    store.narrations.assign([(profile, {0: said}, {0: Answer("said", "m")})], asked=True)
    assert store.narrations.of_tables([table_id])[table_id] == {name: said}
    store.add_context(table_id, name, "text")
    store.asset_keys.record("mark", {f"pneuma/{table_id}": PublishedPage(table_id)})
    block = EmbeddedBlock(Block(table_id, DocumentKind.ROWS, "text"), np.ones(3, np.float32))
    store.documents.stage("words", [(table_id, [block])])
    store.embeddings.keep("words", [(table_id, [block])])
    store.problems.record("lake", "contexts", [Problem(table_id, "contexts", "odd")])
    assert store.problems.all() == [Problem(table_id, "contexts", "odd")]
    assert store.embeddings.tables() == {table_id}


def test_contexts_that_say_nothing_or_too_much_are_refused(store):
    for name, text in (("", "text"), ("name", " \n"), ("name", "x" * 200_001)):
        with pytest.raises(StateError):
            store.add_context("lake/a", name, text)
    assert store.documents.user_contexts(["lake/a"])["lake/a"] == []
    for text in ("old", "x" * 200_000):
        store.add_context("lake/a", "wiki", text)
    assert [c.text for c in store.documents.user_contexts(["lake/a"])["lake/a"]] == ["x" * 200_000]
