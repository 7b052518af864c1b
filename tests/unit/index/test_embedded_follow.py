"""A reader that follows many small changes answers as one that loads everything."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pneuma_assets.core.index.base import NO_FILTER, IndexQuery, Question, TableContents
from pneuma_assets.core.index.embedded import snapshot, write
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, TableTerms
from tests.support.index_blocks import replace_blocks

TABLES = ["s/a", "s/b", "s/c", "s/d"]
WORDS = ["lake", "river", "pond"]
CHANGES = st.lists(
    st.dictionaries(
        st.sampled_from(TABLES),
        st.none() | st.lists(st.lists(st.sampled_from(WORDS), max_size=4), max_size=5),
        min_size=1,
        max_size=3,
    ),
    min_size=1,
    max_size=12,
)


@pytest.fixture(autouse=True)
def small_limits(monkeypatch):
    """Let a few blocks reach every limit that thousands reach in earnest."""
    monkeypatch.setattr(EmbeddedIndex, "group_limits", (4, None))
    monkeypatch.setattr(write, "_REMOVALS_LOGGED", 9)
    monkeypatch.setattr(snapshot, "SEGMENT_ROWS", 7)
    monkeypatch.setattr(snapshot, "SEGMENT_TERMS", 40)


def embedded(table_id, texts):
    blocks = [Block(table_id, DocumentKind.ROWS, " ".join(words)) for words in texts]
    return [EmbeddedBlock(block, unit(block.text)) for block in blocks]


def contents(table_id, texts):
    """Return blocks, and rows of the same words unless there is no text."""
    rows = tuple((" ".join(words),) for words in texts)
    evidence = TableTerms((table_id,), ("words",), rows=rows) if texts else TableTerms()
    return TableContents(embedded(table_id, texts), evidence)


def unit(text):
    drawn = np.array([text.count(word) + 1 for word in [*WORDS, "zebra"]], np.float32)
    return drawn / np.linalg.norm(drawn)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(changes=CHANGES)
def test_following_is_loading(tmp_path_factory, changes):
    folder = tmp_path_factory.mktemp("follow")
    writer, reader = EmbeddedIndex(folder, "m", 4), EmbeddedIndex(folder, "m", 4)
    query = IndexQuery("lake river river", unit("lake"), "river lake")
    model = {}
    for change in changes:
        for table_id, texts in change.items():
            if texts is None:
                model.pop(table_id, None)
            else:
                model[table_id] = texts
        writer.replace_tables({t: contents(t, x) for t, x in change.items() if x is not None})
        writer.delete_tables([t for t, x in change.items() if x is None])
        fresh = EmbeddedIndex(folder, "m", 4)
        hits = reader.search([query], 100)
        assert hits == fresh.search([query], 100)
        scores = reader.table_scores([query], [TABLES])
        assert scores == fresh.table_scores([query], [TABLES])
        assert scores[0].keys() == model.keys()
        assert reader.evidence(TABLES) == {t: contents(t, model[t]).evidence for t in model}
        fresh.close()
        stored = {(h.block.table_id, h.block.text) for h in hits[0].semantic}
        assert stored == {(t, " ".join(words)) for t, texts in model.items() for words in texts}
        counts = Counter(table_id for table_id, _ in stored)
        assert reader.list_tables() == {t: counts[t] for t in sorted(model)}
    for index in (writer, reader):
        index.close()


def test_writing_nothing_new_does_not_wake_readers(tmp_path):
    index = EmbeddedIndex(tmp_path, "m", 4)
    tables = {"s/a": embedded("s/a", [["lake"], ["pond"]]), "s/b": []}
    replace_blocks(index, tables)
    with index._searching(NO_FILTER) as view:
        before = view.snapshot
    replace_blocks(index, tables)
    index.delete_tables(["s/unknown"])
    with index._searching(NO_FILTER) as view:
        assert view.snapshot is before


def test_a_search_keeps_its_state_while_others_write(tmp_path):
    index = EmbeddedIndex(tmp_path, "m", 4)
    replace_blocks(index, {"s/a": embedded("s/a", [["lake"], ["pond"]])})
    with index._searching(NO_FILTER) as old:
        replace_blocks(index, {"s/a": embedded("s/a", [["river"]] * 5 + [["lake"]])})
        index.delete_tables(["s/b"])
        assert [hit.block.text for hit in index.search([IndexQuery("river", None)], 9)[0].lexical]
        (hits,) = old.search([Question((), unit("lake"), {})], 9)
        assert [hit.block.text for hit in hits.semantic] == ["lake", "pond"]
