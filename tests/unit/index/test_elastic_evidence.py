"""A table's evidence as documents of an Elasticsearch index, and back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.errors import IndexDamagedError, SearchIndexError
from pneuma_assets.core.index.base import TableContents
from pneuma_assets.core.index.elastic import documents
from pneuma_assets.core.index.elastic import documents as module
from pneuma_assets.core.index.elastic.documents import (
    actions_of,
    checked,
    checked_text,
    evidence_from,
    evidence_text,
    joined,
    sources_of,
)
from pneuma_assets.core.tables import TableTerms
from pneuma_assets.core.terms.fields import Field, field_entries, query_terms
from pneuma_assets.core.text.analysis import ENGLISH

TABLE = "lake/caf\udce9"
RIVERS = TableTerms(
    names=("lake", "rivers"),
    columns=("river", "length"),
    spelled_names="river",
    spelled_columns="length",
    rows=(("Danube delta", "2850"), ("?", None), ("Rhine", "1230")),
    cells=("Elbe",),
)

ANY_TEXT = st.text(st.characters() | st.characters(categories=["Cs"]) | st.just("\ufdd0"))
TEXTS = st.lists(ANY_TEXT, max_size=3).map(tuple)
EVIDENCE = st.builds(
    TableTerms,
    names=TEXTS,
    columns=TEXTS,
    spelled_names=ANY_TEXT,
    spelled_columns=ANY_TEXT,
    rows=st.lists(st.lists(st.none() | ANY_TEXT, max_size=3).map(tuple), max_size=3).map(tuple),
    cells=TEXTS,
)


def documents_of(evidence: TableTerms) -> list[dict]:
    contents = checked(TABLE, TableContents((), evidence), 8)
    return [one["_source"] for one in actions_of(TABLE, contents, "d", 7, ENGLISH)]


def test_a_table_has_a_document_for_its_rows_and_one_for_the_rest():
    contents = checked(TABLE, TableContents((), RIVERS), 8)
    actions = list(actions_of(TABLE, contents, "d", 7, ENGLISH))
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


def test_a_row_without_a_word_has_no_document_but_keeps_its_number():
    first, *_ = documents_of(TableTerms(columns=("?",), rows=(("!",), ("Danube",))))
    assert (first["row"], first["rows"]) == (1, "danub")


def test_a_table_without_evidence_has_no_document_of_it():
    (record,) = documents_of(TableTerms())
    assert (record["doc"], record["documents"]) == ("table", 0)


def test_evidence_without_a_word_is_kept_all_the_same():
    whole, record = documents_of(TableTerms(rows=(("?",),), columns=("!",)))
    assert record["documents"] == 1
    assert not whole.keys() & {field.value for field in Field}
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
    digests = {checked("lake/a", TableContents((), one), 8).digest for one in (first, second)}
    assert len(digests) == (1 if first == second else 2)


def test_other_rules_of_evidence_have_other_digests(monkeypatch):
    """Else the terms of evidence that is as it was would never be made anew."""
    known, bare = (
        checked(TABLE, TableContents((), one), 8).digest for one in (RIVERS, TableTerms())
    )
    monkeypatch.setattr(documents, "TERM_RULES", documents.TERM_RULES + 1)
    assert checked(TABLE, TableContents((), RIVERS), 8).digest != known
    assert checked(TABLE, TableContents((), TableTerms()), 8).digest == bare


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
    monkeypatch.setattr(module, "MAX_EVIDENCE", 100)
    with pytest.raises(SearchIndexError, match=r"evidence of table 'lake/a' has 2\d\d characters"):
        checked_text("lake/a", TableTerms(cells=("x" * 200,)))


GOOD = json.dumps([["a"], ["b"], "c", "x", [["d", None]], ["e"]])


def test_what_is_stored_is_read():
    expected = TableTerms(("a",), ("b",), "c", "x", (("d", None),), ("e",))
    assert evidence_from({"_source": {"table_id": "lake/a", "evidence": GOOD}})[1] == expected


@pytest.mark.parametrize(
    "stored",
    [
        None,
        7,
        "",
        "{}",
        "[]",
        "null",
        "[" * 100_000,
        GOOD.replace('["a"]', "[1]"),
        GOOD.replace('["a"]', '"a"'),
        GOOD.replace('["d", null]', '"d"'),
        GOOD.replace('["b"]', "null"),
        GOOD.replace('"c"', '["c"]'),
        GOOD.replace("null", "{}"),
        GOOD.replace('[["d", null]]', "[7]"),
        GOOD.replace('["e"]', "[null]"),
    ],
    ids=lambda one: str(one)[:20],
)
def test_a_document_that_is_none_of_ours_is_refused(stored):
    hit = {"_id": "evidence-7", "_index": "i", "_source": {"table_id": "a", "evidence": stored}}
    with pytest.raises(IndexDamagedError, match=r"'evidence-7' of the index 'i'.*--rebuild"):
        evidence_from(hit)
