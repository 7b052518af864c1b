"""Conformance: which few tables hold a word."""

from collections.abc import Mapping
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.index.base import MOST_HOLDERS, IndexFilter, IndexQuery, TableContents
from pneuma_assets.core.tables import DocumentKind, TableFacts, TableTerms
from pneuma_assets.core.terms.rare_words import MOST_SOUGHT, sought_words
from pneuma_assets.core.text.analysis import ENGLISH
from tests.conformance.index.evidence import NO_BLOCKS, of_rows
from tests.conformance.index.scores import RANDOM_DATA
from tests.conformance.index.support import Conformance

WORDS = ("zyx", "qwv", "vbn12", "gh_jk")
TEXT = st.lists(st.sampled_from(WORDS), max_size=2).map(" ".join)
TABLE = st.tuples(TEXT, TEXT, TEXT)
LAKE = st.dictionaries(st.sampled_from(["a/x", "a/y", "b/x", "b/y", "b/z"]), TABLE, min_size=1)


class HoldersConformance(Conformance):
    def told(self, table_id: str, name: str, cell: str, text: str) -> TableContents:
        evidence = TableTerms((name,), (name,), rows=((cell,),))
        return TableContents(self.embedded(table_id, text) if text else NO_BLOCKS, evidence)

    def holders(self, index, *words: str, where=IndexFilter()) -> dict[str, list[str]]:  # noqa: B008
        query = IndexQuery(None, None, sought=words)
        return {word: [*some] for word, some in index.search([query], 5, where)[0].holders.items()}

    @RANDOM_DATA
    @given(dropped=LAKE, lake=LAKE)
    def test_those_of_words_that_few_hold(self, index, dropped, lake):
        index.delete_tables(list(index.list_tables()))
        for tables in (dropped, lake):
            index.delete_tables(list(dropped))
            index.replace_tables({t: self.told(t, *texts) for t, texts in tables.items()})
        assert self.holders(index, *WORDS[:2]) == expected(lake)

    def test_a_word_of_several_parts_is_a_name_a_cell_or_a_pair(self, index):
        evidence = {
            "s/column": TableTerms(columns=("hireDate",)),
            "s/table": TableTerms(names=("hire_date",)),
            "s/cell": of_rows("hire_date"),
            "s/apart": of_rows("date", "hire"),
            "s/code": of_rows("the F16 jet of Mt McKinley"),
        }
        told = TableContents(self.embedded("s/told", "an athlete of the tri-cities"))
        lake = {t: TableContents(NO_BLOCKS, one) for t, one in evidence.items()}
        index.replace_tables(lake | {"s/told": told})
        words = "hire_date", "f16", "f17", "Mt McKinley", "McKinley Mt", "tri-athlete"
        assert self.holders(index, *words) == {
            "hire_date": ["s/cell", "s/column", "s/table"],
            "f16": ["s/code"],
            "Mt McKinley": ["s/code"],
            "tri-athlete": ["s/told"],
        }
        silent = (told.blocks[0].block.kind,)
        query = IndexQuery(None, None, silent=silent, sought=("tri-athlete", "athlete"))
        assert index.search([query], 5)[0].holders == {"athlete": ["s/told"]}

    def test_filters(self, index):
        tables = {t: self.told(t, "", "zyx", "qwv") for t in ("a/x", "a/y", "b/x", "b/y")}
        index.replace_tables(tables)
        index.set_facts({"a/x": TableFacts(readers=("ana",)), "b/x": TableFacts(readers=("bob",))})
        assert self.holders(index, "zyx") == {}
        for where, found in (
            (IndexFilter(sources=("a",)), ["a/x", "a/y"]),
            (IndexFilter(tables=("b/x", "b/y")), ["b/x", "b/y"]),
            (IndexFilter(readers=("ana",)), ["a/x", "a/y", "b/y"]),
        ):
            assert self.holders(index, "zyx", where=where) == {"zyx": found}
        only = IndexFilter(sources=("a",), kinds=(DocumentKind.ROWS,))
        assert self.holders(index, "zyx", "qwv", where=only) == {"qwv": ["a/x", "a/y"]}

    @pytest.mark.parametrize("word", ["", "_", "?!", "the", "\u6e56", "\ud800", "w" * 5_000])
    def test_any_word_may_be_sought(self, index, word):
        index.replace_tables({"s/t": TableContents(NO_BLOCKS, of_rows("lake"))})
        assert self.holders(index, word) == {}

    def test_as_many_as_a_question_seeks(self, index):
        words = sought_words(" ".join(map("zq".join, permutations("abcdefg", 2))), ENGLISH)
        assert len(words) == MOST_SOUGHT
        index.replace_tables({"s/t": TableContents(NO_BLOCKS, of_rows(" ".join(words)))})
        assert self.holders(index, *words) == {word: ["s/t"] for word in words}


def expected(lake: Mapping[str, tuple[str, str, str]]) -> dict[str, list[str]]:
    """Return what the contract says, text by text."""
    held = {
        word: sorted(t for t, texts in lake.items() if any(word in one.split() for one in texts))
        for word in WORDS[:2]
    }
    return {word: tables for word, tables in held.items() if 0 < len(tables) <= MOST_HOLDERS}
