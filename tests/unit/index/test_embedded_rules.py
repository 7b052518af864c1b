"""Evidence that is as it was gets new terms where the rules for them are others."""

from contextlib import closing

import numpy as np
import pytest

from pneuma_assets.core.index.base import IndexQuery, TableContents
from pneuma_assets.core.index.embedded import contents, evidence_text, writer
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.index.embedded.evidence_text import PackedText, pack_text, unpack_text
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, TableTerms
from pneuma_assets.core.terms.fields import Field, FieldEntry

LAKE = TableContents((), TableTerms(names=("s", "lake"), columns=("depth",), rows=(("9",),)))


@pytest.fixture
def index(tmp_path):
    with closing(EmbeddedIndex(tmp_path, "e", 4)) as index:
        yield index


def found(index, word: str) -> list[str]:
    (hits,) = index.search([IndexQuery(None, None, word)], 5)
    return [hit.table_id for hit in hits.fields.get(Field.VALUES, ())]


def use_other_rules(monkeypatch) -> None:
    """Let every table say `harbour`, under another number of the rules."""
    monkeypatch.setattr(writer, "field_entries", lambda *_: [FieldEntry(Field.VALUES, ["harbour"])])
    monkeypatch.setattr(evidence_text, "TERM_RULES", evidence_text.TERM_RULES + 1)


def test_other_rules_make_the_terms_anew(index, monkeypatch):
    index.replace_tables({"s/lake": LAKE})
    assert (found(index, "depth"), found(index, "harbour")) == (["s/lake"], [])
    use_other_rules(monkeypatch)
    index.replace_tables({"s/lake": LAKE})
    assert (found(index, "depth"), found(index, "harbour")) == ([], ["s/lake"])
    assert index.evidence(["s/lake"]) == {"s/lake": LAKE.evidence}
    assert index.info().health == "green"


def test_evidence_written_before_there_was_a_number_is_read_and_made_anew(index, monkeypatch):
    """As `pack_text` wrote it then: the same parts without the number."""
    evidence = LAKE.evidence
    spelled = evidence.spelled_names, evidence.spelled_columns
    parts = [evidence.names, evidence.columns, *spelled, evidence.cells]
    old = PackedText(evidence_text._pack(parts), pack_text(evidence).rows)
    assert unpack_text(old) == evidence
    with monkeypatch.context() as then:
        then.setattr(writer, "pack_text", lambda _: old)
        then.setattr(writer, "field_entries", lambda *_: [FieldEntry(Field.VALUES, ["harbour"])])
        index.replace_tables({"s/lake": LAKE})
    assert (found(index, "depth"), found(index, "harbour")) == ([], ["s/lake"])
    index.replace_tables({"s/lake": LAKE})
    assert (found(index, "depth"), found(index, "harbour")) == (["s/lake"], [])


def test_where_blocks_are_asked_for_no_evidence_is_read(index, monkeypatch):
    vector = np.array([1, 0, 0, 0], np.float32)
    blocks = [EmbeddedBlock(Block("s/lake", DocumentKind.SCHEMA, "depth"), vector)]
    index.replace_tables({"s/lake": TableContents(blocks, LAKE.evidence), "s/none": LAKE})
    monkeypatch.setattr(contents, "read_evidence", lambda *_: pytest.fail("it was read"))
    for wanted in (None, ["s/lake", "s/unknown", "s/lake"]):
        assert [one.block for one in index.blocks(wanted)] == [blocks[0].block]
