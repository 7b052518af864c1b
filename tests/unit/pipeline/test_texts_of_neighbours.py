"""No text in the index names a table that some who may see the text may not see, at any time."""

from collections.abc import Iterator, Mapping
from contextlib import closing

import pytest

from pneuma_assets.core.lineage.edges import Edge, EdgeKind
from pneuma_assets.core.pipeline.embed import embed_tables
from pneuma_assets.core.pipeline.lineage import DEFINITIONS
from pneuma_assets.core.pipeline.lineage_texts import lineage_texts
from pneuma_assets.core.pipeline.write import publish_metadata
from pneuma_assets.core.store.edges import Origin
from pneuma_assets.core.tables import (
    Document,
    DocumentKind,
    TableFacts,
    TableRef,
    TableTerms,
)
from tests.support.staged_lake import StagedLake

Readers = tuple[str, ...] | None
EDGES = (("w/pay", "w/report"), ("w/days", "w/report"))


class Lake(StagedLake):
    """Three tables, of which one is built from the others, and an index of them."""

    def relist(self, version: str = "1", **readers: Readers) -> None:
        """Let a listing find that these tables have these readers, and the others everybody."""
        refs = [
            TableRef(f"w/{name}", "w", name, "table", version, readers=readers.get(name))
            for name in ("days", "pay", "report")
        ]
        self.store.listings.sync("w", refs, rule=None)

    def begin(self, run: str) -> None:
        """Read what waits, and link all tables."""
        self.read(run, lambda i: Document(i, DocumentKind.ROWS, f"a row of {i}"))
        edges = tuple(Edge(*pair, EdgeKind.DAGSTER) for pair in EDGES)
        said = [Origin(DEFINITIONS, "digest", edges=edges)]
        self.store.link(run, said, (), lambda ids: lineage_texts(self.store, ids))

    def run(self, run: str) -> None:
        self.begin(run)
        self.end(run)

    def tell(self, run: str) -> int:
        return publish_metadata(self.store, run, self.index)

    def said(self, name: str) -> list[str]:
        """What the index says of a table's lineage."""
        found = self.index.blocks([f"w/{name}"])
        return [one.block.text for one in found if one.block.kind == DocumentKind.LINEAGE]

    def complete(self) -> bool:
        """Whether nothing waits, and the index holds what the store thinks it does."""
        held = self.index.list_tables()
        kept = {one.table_id: one.block_count for one in self.store.tables.records()}
        return held == kept and not self.store.queue.pending()


@pytest.fixture
def lake(tmp_path) -> Iterator[Lake]:
    with closing(Lake(tmp_path)) as lake:
        yield lake


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"pay": ("boss",)}),
        ({"pay": ("boss",), "report": ("boss",)}, {"pay": ("boss",)}),
        ({"pay": ("boss",), "report": ("boss",)}, {"pay": ("boss",), "report": ("boss", "ann")}),
    ],
)
def test_a_name_leaves_before_anybody_may_see_the_text_who_may_not_see_it(
    lake, monkeypatch, before, after
):
    lake.relist(**before)
    lake.run("first")
    assert lake.said("report") == ["built from days and pay"]
    lake.relist(**after)
    seen = []
    set_facts = lake.index.set_facts

    def looking(facts: Mapping[str, TableFacts]) -> None:
        seen.append(lake.said("report"))
        set_facts(facts)

    monkeypatch.setattr(lake.index, "set_facts", looking)
    assert lake.tell("second") >= 1
    assert seen == [[]]
    assert [e.block.kind for e in lake.index.blocks(["w/report"])] == [DocumentKind.ROWS]
    told = {i: one.readers for i, one in lake.index.facts(["w/pay", "w/report"]).items()}
    assert told == {"w/pay": after.get("pay"), "w/report": after.get("report")}
    assert lake.tell("second") == 0
    lake.run("second")
    assert lake.said("report") == ["built from days"]
    assert lake.said("days") == ([] if after.get("report") else ["feeds report"])
    assert lake.complete()


def test_a_grant_that_changes_while_a_run_is_at_work_is_told_without_the_name(lake):
    lake.relist()
    lake.run("first")
    lake.relist("2")
    lake.begin("second")
    embed_tables(lake.store, "second", lake.encoder, lake.index)
    lake.relist("2", pay=("boss",))  # the tick of a sensor
    lake.end("second")
    assert lake.index.facts(["w/pay"])["w/pay"].readers == ("boss",)
    assert lake.said("report") == ["built from days and pay"]
    lake.tell("second")
    assert lake.said("report") == []
    assert [one.table_id for one in lake.store.tables.records() if one.state == "pending"] == [
        "w/report"
    ]
    lake.run("third")
    assert lake.said("report") == ["built from days"]
    assert lake.complete()


def test_a_text_that_waits_to_be_replaced_leaves_though_no_edge_tells_of_the_name(lake):
    lake.relist()
    lake.run("first")
    less = Origin(DEFINITIONS, "less", edges=(Edge("w/days", "w/report", EdgeKind.DAGSTER),))
    lake.store.link("killed", [less], (), lambda ids: lineage_texts(lake.store, ids))
    lake.relist(pay=("boss",))
    lake.tell("second")
    assert lake.index.facts(["w/pay"])["w/pay"].readers == ("boss",)
    assert lake.said("report") == []
    assert lake.said("days") == ["feeds report"]


@pytest.mark.parametrize("method", ["replace_tables", "set_facts"])
def test_killed_while_it_tells_the_next_run_does_the_rest(lake, monkeypatch, method):
    lake.relist()
    lake.run("first")
    lake.relist(pay=("boss",))
    with monkeypatch.context() as patch:
        patch.setattr(lake.index, method, lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            lake.tell("killed")
    assert lake.index.facts(["w/pay"])["w/pay"].readers is None
    lake.tell("second")
    assert lake.said("report") == []
    lake.run("second")
    assert lake.said("report") == ["built from days"]
    assert lake.complete()


def test_what_everybody_may_still_see_is_not_written_again(lake, monkeypatch):
    lake.relist(pay=("boss",))
    lake.run("first")
    lake.tell("first")
    assert lake.said("report") == ["built from days"]
    monkeypatch.setattr(lake.index, "replace_tables", None)  # whoever writes fails
    lake.relist(pay=("ann",))
    assert lake.tell("second") == 1
    lake.relist()
    assert lake.tell("third") == 1
    assert lake.said("report") == ["built from days"]


def test_rows_and_values_of_a_table_stay(lake):
    lake.relist()
    lake.run("first")
    before = lake.index.evidence(["w/report"])["w/report"]
    assert before != TableTerms()
    lake.relist(pay=("boss",))
    lake.tell("second")
    assert lake.index.evidence(["w/report"]) == {"w/report": before}
