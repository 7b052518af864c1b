"""Conformance: which tables evidence finds, and with which scores."""

from dataclasses import replace
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.index.base import (
    IndexFilter,
    IndexQuery,
    SideHits,
    TableContents,
    TableHit,
    TableScores,
)
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, TableTerms
from pneuma_assets.core.terms.fields import Field
from tests.conformance.index.evidence import NO_BLOCKS, of_rows
from tests.conformance.index.evidence_reference import Expected, expected_scores
from tests.conformance.index.scores import RANDOM_DATA
from tests.conformance.index.search import NOTHING, WORDS
from tests.conformance.index.support import FULL_EVIDENCE, Conformance

CELL = st.lists(st.sampled_from([*WORDS, "of", "7"]), max_size=4).map(" ".join)
ROW = st.tuples(CELL, st.none() | CELL)
EVIDENCE = st.builds(
    TableTerms,
    names=st.lists(CELL, max_size=3).map(tuple),
    columns=st.tuples(CELL, CELL),
    spelled_names=CELL,
    spelled_columns=CELL,
    rows=st.lists(ROW, max_size=4).map(tuple),
    cells=st.lists(CELL, max_size=30).map(tuple),  # long enough for lengths that are rounded
    described=st.lists(CELL, max_size=2).map(tuple),
)
SOME_TABLES = st.dictionaries(st.sampled_from(["a/x", "a/y", "b/x", "b/y"]), EVIDENCE, min_size=1)

TABLES = ("a/x", "a/y", "b/x")
OF_NAMES, OF_VALUES = (
    {Field.NAMES, Field.GRAMS},
    {Field.VALUES, Field.CELLS, Field.ROWS},
)
SCORED = OF_NAMES | OF_VALUES


class EvidenceScoresConformance(Conformance):
    def agree(self, expected: Expected, found: TableScores, *, has_rows: bool) -> bool:
        """Tell whether the scores of evidence are those expected, as exactly as the engine can."""
        tolerance = max(self.lexical_tolerance, 1e-6)
        best = expected.fields.get(Field.ROWS)
        row = None if found.row is None else expected.rows[found.row]  # of near ties any will do
        of_rows = (
            row is None
            if best is None or not has_rows
            else row == pytest.approx(best, rel=tolerance)
        )
        return (
            of_rows
            and found.fields == pytest.approx(expected.fields, rel=tolerance)
            and found.headers == pytest.approx(expected.headers)
            and found.columns == expected.columns
        )

    @RANDOM_DATA
    @given(dropped=SOME_TABLES, tables=SOME_TABLES, question=CELL)
    def test_scores_are_the_formulas(self, index, dropped, tables, question):
        index.delete_tables(list(index.list_tables()))
        index.replace_tables({t: TableContents(NO_BLOCKS, e) for t, e in dropped.items()})
        index.delete_tables(list(dropped))  # must leave no trace
        index.replace_tables({t: TableContents(NO_BLOCKS, e) for t, e in tables.items()})
        self.settle(index)
        expected = expected_scores(tables, question)
        query = self.traces(question)
        (found,) = index.table_scores([query], [[*tables, "b/unknown"]])
        assert found.keys() == expected.keys()
        for table_id, scores in found.items():
            assert self.agree(expected[table_id], scores, has_rows=bool(tables[table_id].rows))
        (hits,) = index.search([query], limit=9)
        proposed = {
            field: {h.table_id: h.score for h in some} for field, some in hits.fields.items()
        }
        for field in Field:
            of_field = {t: s.fields[field] for t, s in found.items() if field in s.fields}
            assert proposed.get(field, {}) == pytest.approx(of_field, rel=1e-6)

    def test_each_field_finds_its_own(self, index):
        tables = {
            "s/names": TableTerms(names=("glacier", "harbour")),
            "s/spelled": TableTerms(names=("gl",), spelled_names="glacier"),
            "s/header": TableTerms(columns=("gl",), spelled_columns="glacier"),
            "s/row": TableTerms(columns=("c",), rows=(("two words",), ("Glacier",))),
            "s/pair": TableTerms(cells=("one glacier lake more",)),
            "s/typed": TableTerms(names=("glacierLakes",)),
        }
        index.replace_tables({t: TableContents(NO_BLOCKS, e) for t, e in tables.items()})
        (hits,) = index.search([self.traces("glacier lake")], limit=9)
        found = {field: {hit.table_id for hit in some} for field, some in hits.fields.items()}
        assert found == {
            Field.NAMES: {"s/names", "s/spelled", "s/typed"},
            Field.GRAMS: {"s/typed"},
            Field.VALUES: {"s/header", "s/row", "s/pair"},
            Field.CELLS: {"s/row"},
            Field.ROWS: {"s/header", "s/row"},
        }
        assert list(hits.lexical) == list(hits.semantic) == []

    def test_what_occurs_nowhere_finds_nothing(self, index):
        index.replace_tables({"s/t": TableContents(NO_BLOCKS, of_rows("lake"))})
        for question in ("", "the of and", "!?* \n", "zebra"):
            query = self.traces(question)
            (hits,) = index.search([query], limit=5)
            assert replace(hits, reach={}) == SideHits([], [], {})
            assert index.table_scores([query], [["s/t"]]) == [{"s/t": TableScores(columns=2)}]

    def test_it_is_told_what_a_question_could_reach(self, index):
        evidence = [of_rows("lake glacier"), of_rows("lake pond"), of_rows("river")]
        tables = {f"s/{n}": TableContents(NO_BLOCKS, one) for n, one in enumerate(evidence)}
        index.replace_tables(tables)
        (hits,) = index.search([self.traces("lake glacier lake harbour")], limit=5)
        of_one = sum(log(1 + (3 - one + 0.5) / (one + 0.5)) for one in (2, 1, 0))
        assert hits.reach[Field.VALUES] == pytest.approx(of_one, rel=1e-6)
        assert hits.fields[Field.VALUES][0].score < hits.reach[Field.VALUES]

    def test_ties_go_by_table_id_and_the_limit_holds_a_field(self, index):
        tables = {f"s/{n}": TableContents(NO_BLOCKS, of_rows("lake")) for n in range(20)}
        index.replace_tables(tables)
        for limit in (1, 7, 30):
            (hits,) = index.search([self.traces("lake")], limit)
            for field in (Field.VALUES, Field.CELLS, Field.ROWS):
                assert [h.table_id for h in hits.fields[field]] == sorted(tables)[:limit]
                assert all(isinstance(h, TableHit) for h in hits.fields[field])

    def test_a_table_without_rows_has_no_best_row(self, index):
        tables = {"s/none": TableTerms(columns=("lake",)), "s/one": of_rows("lake")}
        index.replace_tables({t: TableContents(NO_BLOCKS, e) for t, e in tables.items()})
        (scores,) = index.table_scores([self.traces("lake")], [list(tables)])
        assert all(one.fields[Field.ROWS] > 0 for one in scores.values())
        assert {table_id: one.row for table_id, one in scores.items()} == {
            "s/none": None,
            "s/one": 0,
        }

    def test_the_best_row_is_the_first_of_equals(self, index):
        rows = ("pond", "river", "lake", "lake")
        index.replace_tables({"s/t": TableContents(NO_BLOCKS, of_rows(*rows))})
        (scores,) = index.table_scores([self.traces("lake")], [["s/t"]])
        assert scores["s/t"].row == 2

    def test_filters(self, index):
        index.replace_tables({t: self.full_contents(t) for t in TABLES})
        query = replace(self.both("alpha"), evidence="danube river")
        (full,) = index.search([query], limit=9)
        for where, found, fields in (
            (IndexFilter(sources=("a",)), {"a/x", "a/y"}, SCORED),
            (IndexFilter(sources=("a", "b"), tables=("a/y", "b/x")), {"a/y", "b/x"}, SCORED),
            (IndexFilter(sources=("b",), tables=("a/x",)), set(), set()),
            (IndexFilter(kinds=(DocumentKind.ROWS,)), set(), set()),
            (IndexFilter(kinds=(DocumentKind.NAMES,)), set(TABLES), OF_NAMES),
            (IndexFilter(("b",), kinds=(DocumentKind.VALUES,)), {"b/x"}, OF_VALUES),
        ):
            (part,) = index.search([query], limit=9, where=where)
            assert {hit.table_id for some in part.fields.values() for hit in some} == found, where
            assert part.fields.keys() == fields
            for field, hits in part.fields.items():
                assert list(hits) == [hit for hit in full.fields[field] if hit.table_id in found]
            (scores,) = index.table_scores([query], [TABLES], where)
            sources, tables = where.sources or ("a", "b"), where.tables or TABLES
            assert scores.keys() == {t for t in TABLES if t[0] in sources and t in tables}
            assert {t for t in scores if scores[t].fields} == found
            for table_id in found:
                assert scores[table_id].fields.keys() == fields
                assert (scores[table_id].row is not None) == (Field.ROWS in fields)
                assert (scores[table_id].lexical is None) == bool(where.kinds)
                assert (scores[table_id].semantic is None) == bool(where.kinds)

    def test_a_filter_lets_blocks_through_without_evidence(self, index):
        index.replace_tables({"s/t": self.full_contents("s/t")})
        query = replace(self.both("alpha"), evidence="danube river")
        where = IndexFilter(kinds=(DocumentKind.ROWS,))
        (scores,) = index.table_scores([query], [["s/t"]], where)
        assert scores["s/t"].lexical.block.text == "alpha"
        assert (scores["s/t"].fields, scores["s/t"].row) == ({}, None)

    def test_the_best_block_of_a_table_on_each_side(self, index):
        texts = {"s/t": ("lake", "lake river", "pond"), "s/u": ("pond", "river"), "s/v": ()}
        index.replace_tables(
            {t: TableContents(self.embedded(t, *some)) for t, some in texts.items()}
        )
        query = IndexQuery("lake", self.vector("pond"))
        (hits,) = index.search([query], limit=9)
        (scores,) = index.table_scores([query], [["s/v", "s/t", "s/unknown", "s/u"]])
        assert scores.keys() == texts.keys()
        for side in ("lexical", "semantic"):
            found = getattr(hits, side)
            for table_id, table in scores.items():
                first = next((h for h in found if h.block.table_id == table_id), None)
                best = getattr(table, side)
                assert (best and best.block) == (first and first.block)
                if first is not None:
                    assert best.score == pytest.approx(first.score, abs=self.semantic_tolerance)

    def test_tables_score_whether_proposed_or_not(self, index):
        tables = {f"s/{n}": of_rows("lake " + "river " * n) for n in range(12)}
        index.replace_tables({t: TableContents(NO_BLOCKS, e) for t, e in tables.items()})
        query = self.traces("lake")
        (hits,) = index.search([query], limit=3)
        (scores,) = index.table_scores([query], [list(tables)])
        assert all(scores[t].fields[Field.ROWS] > 0 for t in tables)
        for field, some in hits.fields.items():
            for hit in some:
                assert scores[hit.table_id].fields[field] == pytest.approx(hit.score, rel=1e-6)
            others = scores.keys() - {hit.table_id for hit in some}
            left = max(scores[t].fields.get(field, 0.0) for t in others)
            assert left * (1 - 1e-6) <= min(hit.score for hit in some)

    def test_ties_of_blocks_go_by_block_id(self, index):
        blocks = [self.embedded("s/t", "lake", kind=DocumentKind(f"k{n}"))[0] for n in range(9)]
        index.replace_tables({"s/t": TableContents(blocks)})
        (scores,) = index.table_scores([self.both("lake")], [["s/t"]])
        first = min(item.block.block_id for item in blocks)
        assert scores["s/t"].lexical.block.block_id == first
        assert scores["s/t"].semantic.block.block_id == first

    def test_a_batch_answers_like_single_questions(self, index):
        index.replace_tables({t: self.full_contents(t) for t in ("s/t", "s/u")})
        queries = [self.traces("danube"), self.both("alpha"), NOTHING, self.traces("river 2850")]
        ids = [["s/t"], ["s/u", "s/t"], ["s/t"], []]
        found = index.table_scores(queries, ids)
        assert found == [index.table_scores([q], [i])[0] for q, i in zip(queries, ids, strict=True)]
        assert found[2] == {"s/t": TableScores()}
        assert index.search(queries, 4) == [index.search([query], 4)[0] for query in queries]
        assert index.table_scores([], []) == []
        with pytest.raises(PneumaError, match="one list a query"):
            index.table_scores(queries, [])

    def test_strange_ids_are_left_out(self, index):
        index.replace_tables({"s/t": TableContents(NO_BLOCKS, FULL_EVIDENCE)})
        strange = ["", "' OR 1=1 --", "\x00", "\ud800", "s/T", "s/t "]
        (scores,) = index.table_scores([self.traces("danube")], [[*strange, "s/t", "s/t"]])
        assert list(scores) == ["s/t"]
        assert index.evidence(strange) == {}

    def test_words_of_silent_kinds_are_not_looked_through(self, index):
        """Their meaning is, and what they say counts in no other way."""
        vector = self.vector(1)
        blocks = [
            EmbeddedBlock(Block("a/x", kind, f"river of {kind}"), vector)
            for kind in (DocumentKind.ROWS, DocumentKind.CONTEXT)
        ]
        index.replace_tables({"a/x": TableContents(blocks)})
        self.settle(index)
        for silent, spoken in {
            (): {"rows", "context"},
            (DocumentKind.ROWS,): {"context"},
            (DocumentKind.ROWS, DocumentKind.CONTEXT): set(),
            (DocumentKind("unheard_of"),): {"rows", "context"},
        }.items():
            query = IndexQuery("river", vector, silent=silent)
            (side,) = index.search([query], 10)
            assert {hit.block.kind for hit in side.lexical} == spoken
            assert len(side.semantic) == len(blocks)
            (scored,) = index.table_scores([query], [["a/x"]])
            lexical = scored["a/x"].lexical
            assert (lexical is None) == (not spoken)
            assert lexical is None or lexical.block.kind in spoken
            assert scored["a/x"].semantic is not None
