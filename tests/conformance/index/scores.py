"""Conformance: scores are true, whoever computes them."""

import bm25s
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.index.base import NO_FILTER, IndexQuery, SideScores
from pneuma_assets.core.search.retrieve import search_texts
from pneuma_assets.core.text.analysis import ENGLISH
from tests.conformance.index.search import NOTHING, WORDS
from tests.conformance.index.support import Conformance
from tests.support.index_blocks import replace_blocks

TEXTS = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join),
    min_size=1,
    max_size=12,
    unique=True,
)
RANDOM_DATA = settings(
    max_examples=10,
    deadline=None,
    # Every engine runs the same test by design: `differing_executors`.
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.differing_executors,
    ],
)


class ScoresConformance(Conformance):
    def test_scores_equal_those_of_a_search(self, index):
        blocks = self.embedded("s/t", *WORDS, "lake river pond", "lake lake")
        replace_blocks(index, {"s/t": blocks})
        ids = [item.block.block_id for item in blocks]
        query = self.both("lake pond")
        hits = index.search([query], limit=50)[0]
        (scores,) = index.scores([query], [ids])
        lexical = {hit.block.block_id: hit.score for hit in hits.lexical}
        semantic = {hit.block.block_id: hit.score for hit in hits.semantic}
        assert scores.keys() == set(ids)
        for block_id, found in scores.items():
            assert found.lexical == pytest.approx(lexical.get(block_id, 0.0), rel=1e-6)
            assert found.semantic == pytest.approx(semantic[block_id], abs=self.semantic_tolerance)

    def test_copies_of_a_text_take_no_other_texts_place(self, index):
        shared = "lake river pond"
        tables = {f"s/t{n}": self.embedded(f"s/t{n}", shared, f"lake {n}") for n in range(60)}
        replace_blocks(index, tables)
        (side,) = search_texts(index, [self.both(shared)], 5, NO_FILTER)
        for hits in (side.lexical, side.semantic):
            copies = [hit for hit in hits if hit.block.text == shared]
            assert {hit.block.table_id for hit in copies} == tables.keys()
            assert [hit.score for hit in copies] == pytest.approx([copies[0].score] * 60)
            assert len({hit.block.text for hit in hits}) == 5

    def test_unknown_blocks_are_left_out(self, index):
        (item,) = self.embedded("s/t", "lake")
        replace_blocks(index, {"s/t": [item]})
        strange = ["0" * 32, "", "' OR 1=1 --", "\x00", "\ud800", item.block.block_id.upper()]
        known = item.block.block_id
        unknown = [block_id for block_id in strange if block_id != known]
        first, second = index.scores([self.both("lake")] * 2, [[*unknown, known], unknown])
        assert list(first) == [known]
        assert second == {}

    def test_a_missing_side_scores_zero(self, index):
        (item,) = self.embedded("s/t", "lake")
        replace_blocks(index, {"s/t": [item]})
        queries = [self.words("lake"), self.meaning("lake"), NOTHING]
        words, meaning, nothing = (
            scores[item.block.block_id]
            for scores in index.scores(queries, [[item.block.block_id]] * 3)
        )
        assert words.lexical > 0
        assert words.semantic == 0.0
        assert meaning.lexical == 0.0
        assert meaning.semantic == pytest.approx(1.0, abs=self.semantic_tolerance)
        assert nothing == SideScores(0.0, 0.0)

    def test_as_many_lists_of_blocks_as_questions(self, index):
        with pytest.raises(PneumaError, match="one list a query"):
            index.scores([self.both("lake")], [])

    @RANDOM_DATA
    @given(texts=TEXTS, dropped=TEXTS, question=st.lists(st.sampled_from(WORDS), min_size=1))
    def test_bm25_is_the_textbooks(self, index, texts, dropped, question):
        index.delete_tables(list(index.list_tables()))
        replace_blocks(index, {"s/t": self.embedded("s/t", *dropped)})  # must leave no trace
        blocks = self.embedded("s/t", *texts)
        replace_blocks(index, {"s/t": blocks})
        self.settle(index)
        ids = [item.block.block_id for item in blocks]
        (scores,) = index.scores([self.words(" ".join(question))], [ids])
        expected = textbook_bm25(texts, " ".join(question)) * self.lexical_factor
        got = np.array([scores[block_id].lexical for block_id in ids])
        tolerance = max(self.lexical_tolerance, 1e-5)  # bm25s computes in float32
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=1e-6)

    @RANDOM_DATA
    @given(seed=st.integers(0, 2**32), rows=st.integers(1, 60), limit=st.integers(1, 70))
    def test_cosine_is_numpys(self, index, seed, rows, limit):
        index.delete_tables(list(index.list_tables()))
        blocks = self.embedded("s/t", *(f"{seed} {row}" for row in range(rows)))
        replace_blocks(index, {"s/t": blocks})
        query = self.vector("question", seed)
        hits = index.search([IndexQuery(None, query)], limit)[0].semantic
        cosines = np.array([item.vector for item in blocks]).astype(np.float64) @ query
        expected = np.sort(cosines)[::-1][:limit]
        np.testing.assert_allclose(
            [hit.score for hit in hits], expected, atol=self.semantic_tolerance
        )


def textbook_bm25(texts: list[str], question: str) -> np.ndarray:
    """Score texts by an independent implementation, shape (texts,)."""
    model = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    model.index([ENGLISH.terms(text) for text in texts], show_progress=False)
    known = [term for term in ENGLISH.terms(question) if term in model.vocab_dict]
    return model.get_scores(known) if known else np.zeros(len(texts))
