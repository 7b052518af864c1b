"""Conformance: what is found, in which order, and with which scores."""

import numpy as np
import pytest

from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.index.base import IndexFilter, IndexQuery
from pneuma_assets.core.tables import DocumentKind
from tests.conformance.index.support import Conformance
from tests.support.index_blocks import replace_blocks

WORDS = ["lake", "river", "ocean", "pond", "stream", "delta", "harbour", "glacier"]
NOTHING = IndexQuery(text=None, vector=None)


class SearchConformance(Conformance):
    def test_words_find_their_blocks_in_order(self, index):
        replace_blocks(
            index, {"s/t": self.embedded("s/t", "river", "river lake pond", "lake", "ocean")}
        )
        assert self.lexical_texts(index, "river") == ["river", "river lake pond"]
        assert self.lexical_texts(index, "Rivers and LAKES")[0] == "river lake pond"

    def test_identifiers_meet_prose(self, index):
        replace_blocks(index, {"s/t": self.embedded("s/t", "petal_length sepalWidth HTTP2Server")})
        for question in ("petal", "lengths", "sepal width", "server", "sepalwidth", "http 2"):
            assert self.lexical_texts(index, question), question

    def test_meaning_finds_the_nearest(self, index):
        replace_blocks(index, {"s/t": self.embedded("s/t", *WORDS)})
        hits = index.search([self.meaning("pond")], limit=3)[0].semantic
        assert len(hits) == 3
        assert hits[0].block.text == "pond"
        assert hits[0].score == pytest.approx(1.0, abs=self.semantic_tolerance)
        assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)

    def test_ties_are_broken_by_block_id_on_both_sides(self, index):
        tables = {f"s/{n}": self.embedded(f"s/{n}", "lake") for n in range(20)}
        replace_blocks(index, tables)
        by_id = sorted(items[0].block.block_id for items in tables.values())
        for limit in (1, 7, 20):
            hits = index.search([self.both("lake")], limit)[0]
            assert [h.block.block_id for h in hits.lexical] == by_id[:limit]
            assert [h.block.block_id for h in hits.semantic] == by_id[:limit]

    def test_the_limit_holds_a_side(self, index):
        replace_blocks(index, {"s/t": self.embedded("s/t", *(f"lake {word}" for word in WORDS))})
        for limit in (1, 3, 8, 1000):
            hits = index.search([self.both("lake")], limit)[0]
            assert len(hits.lexical) == len(hits.semantic) == min(limit, len(WORDS))
        for limit in (0, -1):
            with pytest.raises(PneumaError, match="limit"):
                index.search([self.both("lake")], limit)

    def test_a_side_that_is_missing_is_not_searched(self, index):
        replace_blocks(index, {"s/t": self.embedded("s/t", "lake", "river")})
        words, meaning, nothing = index.search(
            [self.words("lake"), self.meaning("lake"), NOTHING], limit=5
        )
        assert (len(words.lexical), len(words.semantic)) == (1, 0)
        assert (len(meaning.lexical), len(meaning.semantic)) == (0, 2)
        assert (len(nothing.lexical), len(nothing.semantic)) == (0, 0)

    def test_words_that_occur_nowhere_find_nothing(self, index):
        replace_blocks(index, {"s/t": self.embedded("s/t", "lake", "river")})
        for question in ("", "   ", "the of and", "!?* \n", "zebra"):
            hits = index.search([self.both(question)], limit=5)[0]
            assert (len(hits.lexical), len(hits.semantic)) == (0, 2), question

    def test_a_batch_answers_like_single_questions(self, index):
        replace_blocks(index, {"s/t": self.embedded("s/t", *WORDS, "lake river", "pond delta")})
        queries = [self.both(word) for word in WORDS] + [self.words("lake"), NOTHING]
        assert index.search(queries, 4) == [index.search([query], 4)[0] for query in queries]
        assert index.search([], 4) == []
        assert index.scores([], []) == []

    def test_a_question_of_another_dimension_is_refused(self, index):
        query = IndexQuery(text=None, vector=np.ones(self.dimension + 1, np.float32))
        with pytest.raises(PneumaError, match="question 1"):
            index.search([query], limit=5)


class FilterConformance(Conformance):
    CASES = (
        (IndexFilter(), {"a/x", "a/y", "b/x"}, 2),
        (IndexFilter(sources=("a",)), {"a/x", "a/y"}, 2),
        (IndexFilter(sources=("a", "b")), {"a/x", "a/y", "b/x"}, 2),
        (IndexFilter(tables=("a/y", "b/x", "b/unknown")), {"a/y", "b/x"}, 2),
        (IndexFilter(kinds=(DocumentKind.SCHEMA,)), {"a/x", "a/y", "b/x"}, 1),
        (IndexFilter(sources=("a",), kinds=(DocumentKind.ROWS,)), {"a/x", "a/y"}, 1),
        (IndexFilter(("a",), ("a/x", "b/x"), (DocumentKind.ROWS,)), {"a/x"}, 1),
        (IndexFilter(kinds=(DocumentKind.CONTEXT,)), set(), 0),
        (IndexFilter(sources=("unknown", "a' OR '1'='1")), set(), 0),
        (IndexFilter(sources=("b",), tables=("a/x",)), set(), 0),
    )

    def test_filters_alone_and_combined(self, index):
        replace_blocks(
            index,
            {
                t: self.embedded(t, "lake schema", kind=DocumentKind.SCHEMA)
                + self.embedded(t, "lake rows")
                for t in ("a/x", "a/y", "b/x")
            },
        )
        for where, tables, each in self.CASES:
            hits = index.search([self.both("lake")], limit=50, where=where)[0]
            for side in (hits.lexical, hits.semantic):
                assert {hit.block.table_id for hit in side} == tables, where
                assert len(side) == len(tables) * each

    def test_any_kind_of_document_is_kept_and_found(self, index):
        kinds = [DocumentKind(f"kind_{n}") for n in range(20)]
        replace_blocks(
            index, {"a/x": [e for kind in kinds for e in self.embedded("a/x", "lake", kind=kind)]}
        )
        assert {item.block.kind for item in index.blocks()} == set(kinds) == index.kinds()
        replace_blocks(index, {"a/y": self.embedded("a/y", "lake", kind=DocumentKind("new"))})
        for wanted in [(kinds[7],), (kinds[3], DocumentKind("new")), (DocumentKind("unmet"),)]:
            hits = index.search([self.both("lake")], limit=50, where=IndexFilter(kinds=wanted))[0]
            for side in (hits.lexical, hits.semantic):
                assert {h.block.kind for h in side} == set(wanted) - {"unmet"}

    def test_the_kinds_are_those_of_blocks_that_are_there(self, index):
        assert index.kinds() == frozenset()
        rows, new = DocumentKind.ROWS, DocumentKind("new")
        replace_blocks(index, {"a/x": self.embedded("a/x", "lake"), "b/x": []})
        replace_blocks(index, {"a/y": self.embedded("a/y", "lake", kind=new)})
        assert index.kinds() == {rows, new}
        assert all(type(kind) is DocumentKind for kind in index.kinds())
        replace_blocks(index, {"a/y": self.embedded("a/y", "lake")})
        assert index.kinds() == {rows}
        index.delete_tables(["a/x", "a/y"])
        assert index.kinds() == frozenset()

    def test_filters_apply_before_the_limit(self, index):
        tables = {f"a/{n}": self.embedded(f"a/{n}", f"lake lake lake {n}") for n in range(40)}
        tables["b/t"] = self.embedded("b/t", "one lake among so many other long words here")
        replace_blocks(index, tables)
        hits = index.search([self.both("lake")], limit=1, where=IndexFilter(sources=("b",)))[0]
        assert [h.block.table_id for h in hits.lexical] == ["b/t"]
        assert [h.block.table_id for h in hits.semantic] == ["b/t"]

    def test_a_filter_does_not_change_scores(self, index):
        replace_blocks(index, {t: self.embedded(t, f"lake {t}") for t in ("a/x", "b/y", "b/z")})
        full = index.search([self.both("lake")], limit=9)[0]
        part = index.search([self.both("lake")], limit=9, where=IndexFilter(sources=("b",)))[0]
        for side in ("lexical", "semantic"):
            expected = {h.block: h.score for h in getattr(full, side)}
            assert {h.block: h.score for h in getattr(part, side)}.items() <= expected.items()
