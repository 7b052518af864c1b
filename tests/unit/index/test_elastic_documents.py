"""Tables as documents of an Elasticsearch index, and back."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.errors import IndexDamagedError, SearchIndexError
from pneuma_assets.core.index.base import TableContents
from pneuma_assets.core.index.elastic import documents
from pneuma_assets.core.index.elastic.documents import (
    Prepared,
    actions_of,
    block_from,
    block_id_of,
    evidence_from,
    evidence_text,
    facts_action,
    facts_of,
    joined,
    prepared,
    removal_of,
    sources_of,
    unit,
)
from pneuma_assets.core.index.elastic.mapping import escape, unescape
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, TableFacts, TableTerms
from pneuma_assets.core.terms.fields import Field, field_entries, query_terms
from pneuma_assets.core.text.analysis import ENGLISH

ANY_TEXT = st.text(st.characters() | st.characters(categories=["Cs"]) | st.just("\ufdd0"))
"""All of Unicode, lone surrogates and the escape itself often."""


@given(ANY_TEXT)
def test_any_text_survives(text):
    stored = escape(text)
    stored.encode("utf-8")  # what cannot be encoded cannot be sent
    assert unescape(stored) == text


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\ufdd0")))
def test_a_text_that_utf8_holds_is_stored_as_it_is(text):
    assert escape(text) == text


def embedded(text: str, *, table_id: str = "lake/a", seed: int = 0) -> EmbeddedBlock:
    drawn = np.random.default_rng(seed).standard_normal(8)
    vector = (drawn / np.linalg.norm(drawn)).astype(np.float32)
    return EmbeddedBlock(Block(table_id, DocumentKind.ROWS, text), vector)


def of_blocks(*items: EmbeddedBlock) -> Prepared:
    return prepared("lake/a", TableContents(items))


def test_a_table_becomes_its_blocks_and_a_record_that_counts_them():
    first, second = embedded("the rains of Kiel"), embedded("rained", seed=1)
    *blocks, record = actions_of("lake/a", of_blocks(first, second), 7, ENGLISH)
    for action, item in zip(blocks, (first, second), strict=True):
        source = action["_source"]
        assert action["_op_type"] == "index"
        assert action["_id"] == f"{item.block.block_id}-7"
        assert block_id_of(action) == item.block.block_id
        assert source["terms"].split() == list(ENGLISH.terms(item.block.text))
        assert source["vector"] is item.vector
        assert block_from(action) == item.block
    assert record["_id"] == "table-7"
    assert record["_source"] == {
        "doc": "table",
        "generation": 7,
        "table_id": "lake/a",
        "source": "lake",
        "blocks": 2,
        "documents": 0,
        "digest": of_blocks(second, first).digest,
    }
    kinds = [action["_source"]["doc"] for action in blocks]
    assert kinds == ["block", "block"]
    assert {action["_source"]["generation"] for action in (*blocks, record)} == {7}


def test_a_late_write_cannot_bring_back_what_was_removed():
    """The server refuses a write whose version is below that of the removal."""
    actions = list(actions_of("lake/a", of_blocks(embedded("x")), 1, ENGLISH))
    for action in actions:
        removal = removal_of({"_id": action["_id"], "_index": "pneuma-000001"})
        assert (removal["_op_type"], removal["_id"]) == ("delete", action["_id"])
        assert removal["version_type"] == action["version_type"] == "external_gte"
        assert removal["version"] > action["version"]


@given(ANY_TEXT, ANY_TEXT, st.from_regex(r"[a-z][a-z0-9_]{0,31}", fullmatch=True).map(DocumentKind))
def test_any_block_survives(name, text, kind):
    item = EmbeddedBlock(Block(f"lake/{name}", kind, text), embedded("x").vector)
    action, record = actions_of(item.block.table_id, of_blocks(item), 1, ENGLISH)
    stored = {key: value for key, value in action["_source"].items() if key != "vector"}
    json.dumps([stored, record], ensure_ascii=False).encode("utf-8")
    assert block_from({**action, "_source": stored}) == item.block
    assert record["_source"]["source"] == "lake"


@given(st.lists(st.text(max_size=4), min_size=2, max_size=5, unique=True), st.randoms())
def test_a_digest_names_the_blocks_whatever_their_order(texts, random):
    items = [embedded(text) for text in texts]
    shuffled = random.sample(items, len(items))
    assert of_blocks(*items).digest == of_blocks(*shuffled).digest
    assert of_blocks(*items).digest != of_blocks(*items[1:]).digest


def test_a_digest_tells_vectors_apart():
    assert of_blocks(embedded("x")).digest != of_blocks(embedded("x", seed=1)).digest
    assert of_blocks().digest != of_blocks(embedded("")).digest


SOURCE = {"table_id": "lake/a", "kind": "rows", "text": "words"}


@pytest.mark.parametrize(
    "hit",
    [
        {},
        {"_source": None},
        {"_source": {"kind": "rows", "text": "words"}},
        {"_source": {**SOURCE, "kind": "A poem"}},
        {"_source": {**SOURCE, "text": ["words"]}},
    ],
    ids=str,
)
def test_a_document_that_is_none_of_ours_is_refused(hit):
    with pytest.raises(IndexDamagedError, match=r"'abc-1' of the index 'pneuma-000001'.*--rebuild"):
        block_from({"_id": "abc-1", "_index": "pneuma-000001", **hit})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(sorted(SOURCE)), inner)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["_source", "_id", "_index"]), JSON))
def test_any_hit_is_a_block_or_refused(hit):
    try:
        block = block_from(hit)
    except IndexDamagedError:
        return
    assert isinstance(block.kind, DocumentKind)


@pytest.mark.parametrize("length", [1.0, 1.0 + 1e-7, 0.995, 1.004])
def test_stored_vectors_have_unit_length(length):
    given_vector = (embedded("x").vector * length).astype(np.float32)
    found = unit(given_vector)
    assert found.dtype == np.float32
    assert np.linalg.norm(found.astype(np.float64)) == pytest.approx(1.0, abs=1e-6)
    assert np.allclose(found * length, given_vector, atol=1e-6)


def test_facts_become_a_document_and_come_back():
    facts = TableFacts(("w/\udcff", "ana"), 1.5, copy_of="lake/\ufdd0")
    action = facts_action("lake/a", facts, 9)
    assert (action["_id"], action["_source"]["generation"]) == ("facts-9", 9)
    assert facts_of(action) == facts
    with pytest.raises(IndexDamagedError):
        facts_of({"_id": "facts-9", "_source": {"facts": "[]"}})


TABLE = "lake/caf\udce9"
RIVERS = TableTerms(
    names=("lake", "rivers"),
    columns=("river", "length"),
    spelled_names="river",
    spelled_columns="length",
    rows=(("Danube delta", "2850"), ("?", None), ("Rhine", "1230")),
    cells=("Elbe",),
)

TEXTS = st.lists(ANY_TEXT, max_size=3).map(tuple)
EVIDENCE = st.builds(
    TableTerms,
    names=TEXTS,
    columns=st.tuples(ANY_TEXT, ANY_TEXT),
    spelled_names=ANY_TEXT,
    spelled_columns=ANY_TEXT,
    rows=st.lists(st.tuples(ANY_TEXT, st.none() | ANY_TEXT), max_size=3).map(tuple),
    cells=TEXTS,
)


def documents_of(evidence: TableTerms) -> list[dict]:
    contents = prepared(TABLE, TableContents((), evidence))
    return [one["_source"] for one in actions_of(TABLE, contents, 7, ENGLISH)]


def test_a_table_has_a_document_for_its_rows_and_one_for_the_rest():
    contents = prepared(TABLE, TableContents((), RIVERS))
    actions = list(actions_of(TABLE, contents, 7, ENGLISH))
    assert [action["_id"] for action in actions] == [
        *("row0-7", "row1-7", "row2-7"),
        *("evidence-7", "table-7"),
    ]
    *rows, whole, record = (action["_source"] for action in actions)
    assert [row["row"] for row in rows] == [0, 1, 2]
    by_field = {entry.field: entry.terms for entry in field_entries(RIVERS, ENGLISH)}
    of_rows = [entry.terms for entry in field_entries(RIVERS, ENGLISH) if entry.field == Field.ROWS]
    assert [row["rows"].split(" ") for row in rows] == of_rows
    for field in set(Field) - {Field.ROWS}:
        assert whole[field].split(" ") == list(by_field[field])
    assert (record["blocks"], record["documents"]) == (0, 4)
    shared = {(one["generation"], one["table_id"]) for one in (*rows, whole, record)}
    assert len(shared) == 1


def test_what_has_no_word_is_kept_without_a_document():
    first, *_ = documents_of(TableTerms(columns=("?",), rows=(("!",), ("Danube",))))
    assert (first["row"], first["rows"]) == (1, "danub")
    whole, record = documents_of(TableTerms(rows=(("?",),), columns=("!",)))
    assert record["documents"] == 1
    assert not whole.keys() & {field.value for field in Field} - {Field.HEADERS}
    assert evidence_from({"_source": whole})[1].rows == (("?",),)


@given(EVIDENCE)
def test_any_evidence_survives(evidence):
    source = {"table_id": "lake/a"}
    for _, document in sources_of(evidence, evidence_text(evidence), ENGLISH):
        source |= document
    sent = json.dumps(source, ensure_ascii=False).encode("utf-8")  # else it cannot be sent
    assert evidence_from({"_source": json.loads(sent)}) == ("lake/a", evidence)


@given(EVIDENCE, EVIDENCE)
def test_different_evidence_has_different_texts_and_digests(first, second):
    digests = {prepared("lake/a", TableContents((), one)).digest for one in (first, second)}
    assert len(digests) == (1 if first == second else 2)


def test_other_rules_of_evidence_have_other_digests(monkeypatch):
    """Else the terms of evidence that is as it was would never be made anew."""
    known, bare = (prepared(TABLE, TableContents((), one)).digest for one in (RIVERS, TableTerms()))
    monkeypatch.setattr(documents, "TERM_RULES", documents.TERM_RULES + 1)
    assert prepared(TABLE, TableContents((), RIVERS)).digest != known
    assert prepared(TABLE, TableContents((), TableTerms())).digest == bare


def test_a_long_term_is_one_term_for_the_server():
    """It cuts what is longer than 255 characters, and takes the pieces for terms."""
    long = "\u6f22" * 3_000
    fields = {
        entry.field: entry.terms for entry in field_entries(TableTerms(cells=(long,)), ENGLISH)
    }
    (term,) = fields[Field.CELLS]
    (stored,) = joined([term]).split(" ")
    assert len(stored) < 255
    assert stored in joined(query_terms(long, ENGLISH)[Field.CELLS]).split(" ")
    assert joined([term + "x"]) != stored


def test_evidence_beyond_all_bounds_is_refused_by_name(monkeypatch):
    monkeypatch.setattr(documents, "MAX_EVIDENCE", 100)
    with pytest.raises(SearchIndexError, match=r"evidence of table 'lake/a' has 2\d\d characters"):
        prepared("lake/a", TableContents((), TableTerms(cells=("x" * 200,))))


GOOD_EVIDENCE = json.dumps([["a"], ["b", "B"], "c", "x", [["d", None]], ["e"]])


@pytest.mark.parametrize(
    "stored",
    [
        None,
        "",
        "{}",
        "[]",
        "[" * 100_000,
        GOOD_EVIDENCE.replace('["a"]', "[1]"),
        GOOD_EVIDENCE.replace('["d", null]', '"d"'),
        GOOD_EVIDENCE.replace('"c"', '["c"]'),
        GOOD_EVIDENCE.replace('[["d", null]]', "[7]"),
        GOOD_EVIDENCE.replace('["e"]', "[null]"),
    ],
    ids=lambda one: str(one)[:20],
)
def test_evidence_that_is_none_of_ours_is_refused(stored):
    hit = {"_id": "evidence-7", "_index": "i", "_source": {"table_id": "a", "evidence": stored}}
    with pytest.raises(IndexDamagedError, match=r"'evidence-7' of the index 'i'.*--rebuild"):
        evidence_from(hit)
