"""Conformance: to who asks, what they may not see is not there."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.index.base import (
    IndexFilter,
    IndexQuery,
    SideHits,
    TableContents,
    TableScores,
    is_seen,
)
from pneuma_assets.core.tables import DocumentKind, TableFacts
from tests.conformance.index.evidence_scores import CELL, EVIDENCE
from tests.conformance.index.scores import RANDOM_DATA
from tests.conformance.index.search import WORDS
from tests.conformance.index.support import FULL_EVIDENCE, Conformance

NAMES = ("ana", "bob", "w/finance")
READERS = st.none() | st.lists(st.sampled_from(NAMES), max_size=2).map(tuple)
TEXTS = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=60).map(" ".join), max_size=3, unique=True
)
TABLE = st.tuples(TEXTS, EVIDENCE, READERS)
LAKE = st.dictionaries(
    st.sampled_from(["a/x", "a/y", "b/x", "b/y", "b/z", "c/x"]), TABLE, min_size=1
)
ASKERS = st.lists(st.sampled_from([*NAMES, "stranger"]), max_size=2).map(tuple)


class AccessConformance(Conformance):
    def granted(self, table_id: str, text: str, *readers: str, **more: object) -> TableContents:
        return TableContents(self.embedded(table_id, text), facts=TableFacts(readers), **more)

    def tables_found(self, index, where: IndexFilter, question: str = "lake") -> set[str]:
        (hits,) = index.search([replace(self.both(question), evidence=question)], 50, where)
        blocks = {hit.block.table_id for side in (hits.lexical, hits.semantic) for hit in side}
        return blocks.union(hit.table_id for some in hits.fields.values() for hit in some)

    def test_who_asks_finds_what_they_may_see(self, index):
        of_ana = self.granted("s/ana", "lake", "ana", evidence=FULL_EVIDENCE)
        of_both = self.granted("s/both", "lake", "ana", "bob")
        of_all = TableContents(self.embedded("s/all", "lake"))
        of_none = self.granted("s/none", "lake")
        index.replace_tables(
            {"s/ana": of_ana, "s/both": of_both, "s/all": of_all, "s/none": of_none}
        )
        for asker, expected in {
            ("ana",): {"s/ana", "s/both", "s/all"},
            ("bob", "carol"): {"s/both", "s/all"},
            ("Ana", "an", "s/ana", "*", ""): {"s/all"},
            (): {"s/all"},
            None: {"s/ana", "s/both", "s/all", "s/none"},
        }.items():
            where = IndexFilter(readers=asker)
            assert self.tables_found(index, where) == expected
            assert index.list_tables(asker).keys() == expected
            ids = ["s/ana", "s/both", "s/all", "s/none", "s/unknown"]
            (scores,) = index.table_scores([self.both("lake")], [ids], where)
            assert scores.keys() == expected
            blocks = [item.block.block_id for item in index.blocks()]
            (sides,) = index.scores([self.both("lake")], [blocks], where)
            assert len(sides) == len(expected)

    def test_other_parts_of_a_filter_hold_too(self, index):
        index.replace_tables(
            {i: self.granted(i, "lake", "ana") for i in ("s/a", "s/b", "t/a")}
            | {"s/hidden": self.granted("s/hidden", "lake", "bob")}
        )
        assert self.tables_found(index, IndexFilter(sources=("s",), readers=("ana",))) == {
            "s/a",
            "s/b",
        }
        hidden = IndexFilter(tables=("s/a", "s/hidden"), readers=("ana",))
        assert self.tables_found(index, hidden) == {"s/a"}
        other = IndexFilter(kinds=(DocumentKind.SCHEMA,), readers=("ana",))
        assert self.tables_found(index, other) == set()

    def test_kinds_of_hidden_tables_are_not_told(self, index):
        kind = DocumentKind("payroll")
        index.replace_tables(
            {
                "s/a": self.granted("s/a", "lake", "ana"),
                "s/hidden": TableContents(
                    self.embedded("s/hidden", "lake", kind=kind), facts=TableFacts(("bob",))
                ),
            }
        )
        assert index.kinds(("ana",)) == {DocumentKind.ROWS}
        assert index.kinds(("bob",)) == {kind}
        assert index.kinds(()) == frozenset()
        assert index.kinds() == {DocumentKind.ROWS, kind}

    def test_a_table_without_any_text_is_hidden_as_well(self, index):
        index.replace_tables({"s/bare": TableContents([], facts=TableFacts(("bob",)))})
        query = [self.both("lake")]
        assert index.table_scores(query, [["s/bare"]], IndexFilter(readers=("ana",))) == [{}]
        assert index.table_scores(query, [["s/bare"]], IndexFilter(readers=("bob",))) == [
            {"s/bare": TableScores()}
        ]

    def test_a_grant_that_is_taken_away_holds_for_the_next_question(self, index_factory):
        reader, writer = index_factory(), index_factory()
        contents = self.granted("s/t", "lake", "ana", evidence=FULL_EVIDENCE)
        writer.replace_tables({"s/t": contents})
        ana, bob = IndexFilter(readers=("ana",)), IndexFilter(readers=("bob",))
        for seen, other, facts in ((ana, bob, "ana"), (bob, ana, "bob"), (ana, bob, "ana")):
            writer.set_facts({"s/t": TableFacts((facts,))})
            assert self.tables_found(reader, seen) == {"s/t"}
            assert self.tables_found(reader, other) == set()
        writer.delete_tables(["s/t"])
        assert self.tables_found(reader, ana) == set()

    def test_too_many_names_are_refused(self, index):
        where, asked = IndexFilter(readers=("x",) * 10_001), [self.words("lake")]
        for ask in (
            lambda: index.search(asked, 5, where),
            lambda: index.scores(asked, [[]], where),
            lambda: index.table_scores(asked, [[]], where),
            lambda: index.holding(["lake"], where),
        ):
            with pytest.raises(QueryError, match="readers"):
                ask()

    @RANDOM_DATA
    @given(lake=LAKE, asker=ASKERS, question=CELL, limit=st.sampled_from([1, 3, 50]))
    def test_an_answer_is_that_of_an_index_of_what_is_seen(
        self, index, lake, asker, question, limit
    ):
        tables = {
            table_id: TableContents(self.embedded(table_id, *texts), evidence, TableFacts(readers))
            for table_id, (texts, evidence, readers) in lake.items()
        }
        visible = {i: one for i, one in tables.items() if is_seen(one.facts, asker)}
        where = IndexFilter(readers=asker)
        limit = limit if self.exact_under_rights else 50
        full = self.answers(index, tables, question, limit, where)
        alone = self.answers(index, visible, question, limit, where)
        if self.exact_under_rights:
            assert full == alone
        assert self.found(*full) == self.found(*alone)
        assert index.list_tables(asker) == index.list_tables()

    def answers(
        self, index, tables: dict[str, TableContents], question: str, limit: int, where: IndexFilter
    ) -> tuple[SideHits, dict[str, TableScores], dict[str, object], dict[str, tuple[str, ...]]]:
        """Return all that can be asked of an index that holds these tables alone."""
        index.delete_tables(list(index.list_tables()))
        index.replace_tables(tables)
        text = question.strip() or "lake"
        query = IndexQuery(text, self.vector(text), text, (DocumentKind.SCHEMA,))
        (hits,) = index.search([query], limit, where)
        (scores,) = index.table_scores([query], [["a/x", "a/y", "b/x", "b/y", "b/z", "c/x"]], where)
        blocks = sorted(item.block.block_id for item in index.blocks())
        (sides,) = index.scores([query], [blocks], where)
        held = index.holding([text, *WORDS], where)
        return hits, scores, sides, held

    def found(self, hits, scores, sides, held) -> tuple[object, ...]:
        """Return all that answers name, whatever its score."""
        proposed = [{hit.block for hit in side} for side in (hits.lexical, hits.semantic)]
        fields = {field: {hit.table_id for hit in some} for field, some in hits.fields.items()}
        tables = {
            i: (one.fields.keys(), one.lexical is None, one.semantic and one.semantic.block)
            for i, one in scores.items()
        }
        return proposed, fields, tables, sides.keys(), held
