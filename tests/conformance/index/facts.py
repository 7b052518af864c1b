"""Conformance: what is known of tables is kept with them, told anew alone, and goes with them."""

from dataclasses import fields, replace

import pytest

from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.base import IndexFilter, IndexQuery, TableContents
from pneuma_assets.core.tables import TableFacts
from tests.conformance.index.hostile import HOSTILE
from tests.conformance.index.support import FULL_EVIDENCE, FULL_FACTS, Conformance

SECRET, OPEN = TableFacts(readers=("ana",)), TableFacts()


class FactsConformance(Conformance):
    def contents(self, table_id: str, facts: TableFacts = OPEN) -> TableContents:
        return TableContents(self.embedded(table_id, "lake"), FULL_EVIDENCE, facts)

    def test_facts_come_back(self, index):
        assert all(getattr(FULL_FACTS, f.name) != getattr(OPEN, f.name) for f in fields(OPEN))
        index.replace_tables(
            {"s/full": self.contents("s/full", FULL_FACTS), "s/bare": TableContents([])}
        )
        expected = {"s/full": FULL_FACTS, "s/bare": OPEN}
        assert index.facts(["s/full", "s/unknown", "s/bare", "s/full"]) == expected
        assert index.facts([]) == {}
        assert {i: contents.facts for i, contents in index.contents()} == expected

    def test_facts_are_told_anew_and_nothing_else_changes(self, index):
        index.replace_tables({i: self.contents(i) for i in ("s/a", "s/b")})
        queries = [replace(self.both("lake"), evidence="danube")]
        before = index.search(queries, 9)
        index.set_facts({"s/b": FULL_FACTS, "s/unknown": SECRET})
        assert index.facts(["s/a", "s/b", "s/unknown"]) == {"s/a": OPEN, "s/b": FULL_FACTS}
        index.set_facts({"s/a": FULL_FACTS, "s/b": SECRET})
        index.set_facts({"s/b": SECRET})
        assert index.facts(["s/a", "s/b"]) == {"s/a": FULL_FACTS, "s/b": SECRET}
        assert index.search(queries, 9) == before
        assert index.list_tables() == {"s/a": 1, "s/b": 1}
        assert index.info().health == "green"

    def test_facts_are_replaced_with_the_table(self, index):
        index.replace_tables({"s/t": self.contents("s/t", FULL_FACTS)})
        index.replace_tables({"s/t": self.contents("s/t", SECRET)})  # the same texts
        assert index.facts(["s/t"]) == {"s/t": SECRET}
        other = TableContents(self.embedded("s/t", "river"), facts=SECRET)
        index.replace_tables({"s/t": other})
        assert index.facts(["s/t"]) == {"s/t": SECRET}
        assert [item.block.text for item in index.blocks()] == ["river"]

    def test_facts_leave_with_their_table(self, index):
        index.replace_tables({"s/t": self.contents("s/t", FULL_FACTS)})
        index.delete_tables(["s/t"])
        assert index.facts(["s/t"]) == {}
        index.set_facts({"s/t": SECRET})
        assert index.facts(["s/t"]) == {}
        assert index.list_tables() == {}
        index.replace_tables({"s/t": self.contents("s/t")})
        assert index.facts(["s/t"]) == {"s/t": OPEN}

    def test_hostile_readers_survive(self, index):
        given = {
            f"s/{number}": TableFacts(readers=(text, ""), copy_of=text, family=text, prefix=text)
            for number, text in enumerate(HOSTILE.values())
        }
        index.replace_tables({i: self.contents(i, facts) for i, facts in given.items()})
        assert index.facts(list(given)) == given

    def test_facts_that_are_none_are_refused_and_nothing_changes(self, index):
        index.replace_tables({"s/t": self.contents("s/t", FULL_FACTS)})
        for facts in (
            None,
            TableFacts(readers="ana"),
            TableFacts(readers=["ana"]),
            TableFacts(readers=(None,)),
            TableFacts(updated_at=float("nan")),
            TableFacts(documented="much"),
            TableFacts(feeds=True),
            TableFacts(feeds=float("inf")),
            TableFacts(owned=1),
            TableFacts(copy_of=b"s/u"),
            TableFacts(family=1),
            TableFacts(prefix=None),
        ):
            with pytest.raises(SearchIndexError, match="facts of table 's/t'"):
                index.set_facts({"s/t": facts})
            with pytest.raises(SearchIndexError, match="facts of table 's/t'"):
                index.replace_tables({"s/t": TableContents([], facts=facts)})
        assert index.facts(["s/t"]) == {"s/t": FULL_FACTS}
        assert index.list_tables() == {"s/t": 1}

    def test_members_of_a_family_are_those_that_a_filter_lets_through(self, index):
        facts = {"s/a": TableFacts(family="s/a"), "s/b": TableFacts(("ana",), family="s/a")}
        facts |= {"t/c": TableFacts(family="s/a"), "s/d": TableFacts(family="s/d"), "s/e": OPEN}
        index.replace_tables({i: self.contents(i, one) for i, one in facts.items()})
        assert index.members(["s/a", "s/x"]) == {"s/a": ["s/a", "s/b", "t/c"], "s/x": []}
        assert index.members(["s/a"], IndexFilter(readers=())) == {"s/a": ["s/a", "t/c"]}
        where = IndexFilter(sources=("s",), tables=("s/b", "t/c"), readers=("ana",))
        assert index.members(["s/a", "s/d"], where) == {"s/a": ["s/b"], "s/d": []}
        but = IndexFilter(but_families=("s/a", "s/x"))
        (side,) = index.search([replace(self.both("lake"), evidence="danube")], 9, but)
        for hits in (side.lexical, side.semantic):
            assert {hit.block.table_id for hit in hits} == {"s/d", "s/e"}
        assert side.fields
        for hits in side.fields.values():
            assert {hit.table_id for hit in hits} == {"s/d", "s/e"}
        index.delete_tables(["s/a"])
        index.set_facts({"s/b": OPEN, "s/e": TableFacts(family="s/a")})
        assert index.members(["s/a"]) == {"s/a": ["s/e", "t/c"]}

    def test_a_table_without_facts_is_told_some(self, index):
        index.replace_tables({"s/t": TableContents([])})
        index.set_facts({"s/t": FULL_FACTS})
        assert index.facts(["s/t"]) == {"s/t": FULL_FACTS}
        assert index.search([IndexQuery("lake", None)], 1)[0].lexical == []
