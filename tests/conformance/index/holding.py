"""Conformance: which tables have a value as a whole cell."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.index.base import MAX_VALUES, NO_FILTER, IndexFilter, TableContents, is_seen
from pneuma_assets.core.tables import DocumentKind, TableFacts, TableTerms, source_of
from pneuma_assets.core.terms.fields import CELL_WORDS, plain_words
from tests.conformance.index.access import ASKERS, READERS
from tests.conformance.index.evidence import CELLS, NO_BLOCKS, of_rows
from tests.conformance.index.scores import RANDOM_DATA
from tests.conformance.index.support import FULL_EVIDENCE, Conformance

SPELLINGS = ("Lake", "lake", "L\u00c1KE", "lakes", "1,234", "1234", "the", "-", "?!", "\u6e56")
VALUE = st.lists(st.sampled_from(SPELLINGS), max_size=CELL_WORDS + 1).map(" ".join)
SHORT = st.lists(st.sampled_from(SPELLINGS), max_size=2).map(" ".join)
CELL = SHORT | VALUE
EVIDENCE = st.builds(
    TableTerms,
    names=st.lists(SHORT, max_size=1).map(tuple),
    columns=st.tuples(SHORT, SHORT),
    rows=st.lists(st.tuples(CELL, st.none() | CELL), max_size=3).map(tuple),
    cells=st.lists(CELL, max_size=4).map(tuple),
)
TABLES = ("a/x", "a/y", "b/X", "b/x", "b/\u00e9")
LAKE = st.dictionaries(st.sampled_from(TABLES), st.tuples(EVIDENCE, READERS), min_size=1)
SOME = st.just(()) | st.lists(st.sampled_from(TABLES), max_size=3).map(tuple)
KINDS = st.sampled_from([(), (DocumentKind.VALUES,), (DocumentKind.ROWS,), (DocumentKind.NAMES,)])
FILTER = st.builds(
    IndexFilter,
    sources=st.sampled_from([(), ("a",), ("b", "c")]),
    tables=SOME,
    kinds=KINDS,
    readers=st.none() | ASKERS,
)


def expected(
    tables: Mapping[str, TableContents], values: Sequence[str], where: IndexFilter
) -> dict[str, tuple[str, ...]]:
    """Return what the contract says, cell by cell."""
    found = {}
    for value in values:
        words = plain_words(value)
        looked_for = 0 < len(words) <= CELL_WORDS
        looked_for &= not where.kinds or DocumentKind.VALUES in where.kinds
        found[value] = tuple(
            table_id
            for table_id, contents in sorted(tables.items())
            if looked_for
            and is_seen(contents.facts, where.readers)
            and (not where.sources or source_of(table_id) in where.sources)
            and (not where.tables or table_id in where.tables)
            and any(plain_words(cell) == words for cell in _cells(contents.evidence))
        )
    return found


def _cells(evidence: TableTerms) -> list[str]:
    return [*evidence.cells, *(cell for row in evidence.rows for cell in row if cell)]


class HoldingConformance(Conformance):
    @RANDOM_DATA
    @given(
        dropped=LAKE,
        lake=LAKE,
        values=st.lists(CELL, max_size=5),
        wheres=st.lists(FILTER, min_size=1, max_size=4),
    )
    def test_it_is_what_the_evidence_says_cell_by_cell(self, index, dropped, lake, values, wheres):
        drawn = [
            {t: TableContents(NO_BLOCKS, e, TableFacts(readers)) for t, (e, readers) in one.items()}
            for one in (dropped, lake)
        ]
        index.delete_tables(list(index.list_tables()))
        index.replace_tables(drawn[0])
        index.delete_tables([table_id for table_id in dropped if table_id not in lake])
        index.replace_tables(drawn[1])
        kept = dict(index.contents())
        asked = [*values, *SPELLINGS, *_cells(next(iter(kept.values())).evidence)]
        for where in (NO_FILTER, *wheres):
            assert index.holding(asked, where) == expected(kept, asked, where)

    def test_a_whole_cell_is_compared_by_its_words(self, index):
        tables = {
            "s/rows": of_rows("pond", "DANUBE"),
            "s/full": FULL_EVIDENCE,
            "s/long": of_rows("a b c d e f g h", "a b c d e f g h i"),
            "s/the": of_rows("The"),
            "s/none": TableTerms(),
        }
        index.replace_tables({t: TableContents(NO_BLOCKS, e) for t, e in tables.items()})
        wanted = {
            "Danube": ("s/full", "s/rows"),
            " d\u00e1nube! ": ("s/full", "s/rows"),
            "2850": ("s/full",),
            "The Danube-River": ("s/full",),
            "danube river": (),  # a name of a column, and a part of a cell
            "river": (),
            "europa": (),
            "Danubes": (),
            "the": ("s/the",),
            "": (),
            "?!": (),
            "a b c d e f g h": ("s/long",),
            "a b c d e f g h i": (),
        }
        assert index.holding(list(wanted)) == wanted

    def test_each_value_is_answered_once_and_under_its_own_spelling(self, index):
        assert index.holding(["lake"]) == {"lake": ()}
        tables = {f"s/{n}": TableContents(NO_BLOCKS, of_rows("Lake")) for n in (10, 9, 1)}
        index.replace_tables(tables)
        assert index.holding([]) == {}
        of_all = ("s/1", "s/10", "s/9")
        found = index.holding(["LAKE", "pond", "lake", "LAKE"])
        assert list(found.items()) == [("LAKE", of_all), ("pond", ()), ("lake", of_all)]

    def test_a_hidden_table_never_shows(self, index):
        contents = TableContents(NO_BLOCKS, of_rows("Lake"), TableFacts(("ana",)))
        index.replace_tables({"s/ana": contents, "s/none": replace(contents, facts=TableFacts(()))})
        for readers, found in {
            None: ("s/ana", "s/none"),
            ("ana",): ("s/ana",),
            ("bob",): (),
            (): (),
        }.items():
            assert index.holding(["lake"], IndexFilter(readers=readers)) == {"lake": found}
            named = IndexFilter(tables=("s/none",), readers=readers)
            hidden = found if readers is None else ()
            assert index.holding(["lake"], named) == {"lake": hidden[1:]}

    def test_a_reader_sees_what_a_writer_did_before(self, index_factory):
        reader, writer = index_factory(), index_factory()
        bob = IndexFilter(readers=("bob",))
        for word in ("lake", "pond", "lake"):
            writer.replace_tables({"s/t": TableContents(NO_BLOCKS, of_rows(word))})
            values = {"lake": (), "pond": (), word: ("s/t",)}
            assert reader.holding(["lake", "pond"]) == values
            assert reader.holding(["lake", "pond"], bob) == values
            writer.set_facts({"s/t": TableFacts(("ana",))})
            assert reader.holding(["lake", "pond"]) == values
            assert reader.holding([word], bob) == {word: ()}
        writer.delete_tables(["s/t"])
        assert reader.holding(["lake", "pond"]) == {"lake": (), "pond": ()}

    def test_hostile_values_are_only_words(self, index):
        values = list(CELLS.values())
        tables = {
            f"s/{n}": TableContents(NO_BLOCKS, of_rows(value)) for n, value in enumerate(values)
        } | {"s/u": self.full_contents("s/u")}
        index.replace_tables(tables)
        assert index.holding(values) == expected(tables, values, NO_FILTER)

    def test_so_many_values_are_looked_up_at_once_and_no_more(self, index):
        tables = {f"s/{n}": TableContents(NO_BLOCKS, of_rows(f"v{n}", "lake")) for n in range(3)}
        index.replace_tables(tables)
        values = [f"v{n}" for n in range(MAX_VALUES)]
        for where in (NO_FILTER, IndexFilter(readers=("ana",))):
            found = index.holding(values[::-1], where)
            assert list(found) == values[::-1]
            assert {v: held for v, held in found.items() if held} == {
                f"v{n}": (f"s/{n}",) for n in range(3)
            }
        with pytest.raises(QueryError, match="1,001 values"):
            index.holding([*values, "lake"])
