"""Evidence that is as it was gets new terms where the rules for them are others."""

from contextlib import closing

import pytest

from pneuma_assets.core.index.base import IndexQuery, TableContents
from pneuma_assets.core.index.embedded import rows
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.tables import TableTerms
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
    monkeypatch.setattr(rows, "field_entries", lambda *_: [FieldEntry(Field.VALUES, ["harbour"])])
    monkeypatch.setattr(rows, "TERM_RULES", rows.TERM_RULES + 1)


def test_other_rules_make_the_terms_anew(index, monkeypatch):
    index.replace_tables({"s/lake": LAKE})
    assert (found(index, "depth"), found(index, "harbour")) == (["s/lake"], [])
    use_other_rules(monkeypatch)
    index.replace_tables({"s/lake": LAKE})
    assert (found(index, "depth"), found(index, "harbour")) == ([], ["s/lake"])
    assert index.evidence(["s/lake"]) == {"s/lake": LAKE.evidence}
    assert index.info().health == "green"
