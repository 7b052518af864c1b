"""Conformance: the evidence of a table is kept with its blocks, and goes with them."""

from dataclasses import replace

import pytest

from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.base import TableContents
from pneuma_assets.core.tables import TableTerms
from pneuma_assets.core.terms.fields import Field
from tests.conformance.index.hostile import HOSTILE
from tests.conformance.index.support import FULL_EVIDENCE, Conformance

NO_BLOCKS = ()
CELLS = {**HOSTILE, "10,000 characters": "lake " * 2_000, "high and low apart": "\ud83d\ude00"}


def of_rows(*rows: str) -> TableTerms:
    return TableTerms(columns=("c",), rows=tuple((row,) for row in rows))


class EvidenceConformance(Conformance):
    def rows_found(self, index, question: str) -> list[str]:
        """Return the tables of which a row has words of the question, best first."""
        (hits,) = index.search([self.traces(question)], limit=100)
        return [hit.table_id for hit in hits.fields.get(Field.ROWS, ())]

    def test_evidence_comes_back(self, index):
        given = {
            "s/full": self.full_contents("s/full"),
            "s/bare": TableContents(NO_BLOCKS, TableTerms(names=("s", "bare"))),
            "s/none": TableContents(self.embedded("s/none", "alpha")),
        }
        index.replace_tables(given)
        expected = {table_id: contents.evidence for table_id, contents in given.items()}
        assert {i: contents.evidence for i, contents in index.contents()} == expected
        assert index.evidence([*given, "s/unknown", "s/full"]) == expected
        assert index.evidence([]) == {}

    def test_evidence_alone_makes_a_table(self, index):
        index.replace_tables({"s/t": TableContents(NO_BLOCKS, FULL_EVIDENCE)})
        assert index.list_tables() == {"s/t": 0}
        assert self.rows_found(index, "danube") == ["s/t"]
        (scores,) = index.table_scores([self.both("danube")], [["s/t"]])
        assert scores["s/t"].lexical is scores["s/t"].semantic is None
        assert index.kinds() == frozenset()

    def test_evidence_is_replaced_with_the_blocks(self, index):
        index.replace_tables({"s/t": TableContents(self.embedded("s/t", "a"), of_rows("lake"))})
        index.replace_tables({"s/t": TableContents(self.embedded("s/t", "b"), of_rows("river"))})
        assert self.rows_found(index, "lake") == []
        assert self.rows_found(index, "river") == ["s/t"]
        index.replace_tables({"s/t": TableContents(self.embedded("s/t", "b"))})
        assert self.rows_found(index, "river") == []
        assert index.evidence(["s/t"]) == {"s/t": TableTerms()}

    def test_blocks_are_replaced_and_the_evidence_stays(self, index):
        index.replace_tables({"s/t": TableContents(self.embedded("s/t", "a"), of_rows("lake"))})
        index.replace_tables({"s/t": TableContents(self.embedded("s/t", "b"), of_rows("lake"))})
        assert self.rows_found(index, "lake") == ["s/t"]
        assert [item.block.text for item in index.blocks()] == ["b"]

    def test_a_row_that_moves_is_found_where_it_is(self, index):
        for rows in (("lake", "river"), ("river", "lake"), ("river", "pond", "lake")):
            index.replace_tables({"s/t": TableContents(NO_BLOCKS, of_rows(*rows))})
            (scores,) = index.table_scores([self.traces("lake")], [["s/t"]])
            assert scores["s/t"].row == rows.index("lake")

    def test_evidence_is_deleted_with_its_table(self, index):
        tables = {t: TableContents(NO_BLOCKS, of_rows("lake")) for t in ("s/a", "s/b")}
        index.replace_tables(tables)
        index.delete_tables(["s/a"])
        assert self.rows_found(index, "lake") == ["s/b"]
        assert index.evidence(["s/a", "s/b"]) == {"s/b": of_rows("lake")}
        index.delete_tables(["s/b"])
        index.replace_tables({"s/b": TableContents(NO_BLOCKS)})
        assert self.rows_found(index, "lake") == []

    def test_a_reader_never_sees_the_evidence_of_other_blocks(self, index_factory):
        reader, writer = index_factory(), index_factory()
        for turn in range(6):
            word = ("lake", "river")[turn % 2]
            contents = TableContents(self.embedded("s/t", word), of_rows(word, "water"))
            writer.replace_tables({"s/t": contents})
            (scores,) = reader.table_scores([replace(self.both("x"), evidence="water")], [["s/t"]])
            assert scores["s/t"].row == 1
            assert scores["s/t"].semantic.block.text == word
            ((_, found),) = reader.contents(["s/t"])
            assert [item.block.text for item in found.blocks] == [found.evidence.rows[0][0]]

    def test_hostile_text_survives(self, index):
        given = {}
        for number, text in enumerate(CELLS.values()):
            rows = ((text, None), (None, text), ("", "lake"))
            given[f"s/{number}"] = TableTerms(
                (text, "t"), (text, "c"), text, text, rows, (text, "")
            )
        index.replace_tables({t: TableContents(NO_BLOCKS, one) for t, one in given.items()})
        assert index.evidence(list(given)) == given
        assert set(self.rows_found(index, "lake")) == given.keys()
        for table_id, text in zip(given, CELLS.values(), strict=True):
            (scores,) = index.table_scores([self.traces(text)], [[table_id]])
            assert all(score > 0 for score in scores[table_id].fields.values()), text[:20]

    def test_evidence_that_is_none_is_refused_and_nothing_changes(self, index):
        index.replace_tables({"s/t": TableContents(NO_BLOCKS, FULL_EVIDENCE)})
        for evidence in (
            TableTerms(columns=("a", "b"), rows=(("1", "2"), ("1",))),
            TableTerms(columns=("a",), rows=(("1", "2"),)),
            TableTerms(columns=("a",), rows=((1,),)),
            TableTerms(columns=("a",), rows=(["1"],)),
            TableTerms(columns=("a",), rows="1"),
            TableTerms(names=["a"]),
            TableTerms(columns=(None,)),
            TableTerms(spelled_names=None),
            TableTerms(spelled_columns=("a",)),
            TableTerms(cells=(None,)),
            None,
        ):
            with pytest.raises(SearchIndexError, match="evidence of table 's/t'"):
                index.replace_tables({"s/t": TableContents(NO_BLOCKS, evidence)})
        assert index.evidence(["s/t"]) == {"s/t": FULL_EVIDENCE}
