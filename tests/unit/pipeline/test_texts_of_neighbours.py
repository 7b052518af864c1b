"""No text in the index names a table that some who may see the text may not see, at any time."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.lineage.edges import Edge, EdgeKind
from pneuma_assets.core.pipeline.embed import embed_tables
from pneuma_assets.core.pipeline.lineage import DEFINITIONS
from pneuma_assets.core.pipeline.lineage_texts import lineage_texts
from pneuma_assets.core.pipeline.write import index_tables, publish_metadata
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.edges import Origin
from pneuma_assets.core.store.queue import Stage
from pneuma_assets.core.tables import (
    Column,
    Document,
    DocumentKind,
    Table,
    TableFacts,
    TableRef,
    TableTerms,
)
from tests.support.word_encoder import WordEncoder

Readers = tuple[str, ...] | None
EDGES = (("w/pay", "w/report"), ("w/days", "w/report"))


class Lake:
    """Three tables, of which one is built from the others, and an index of them."""

    def __init__(self, folder: Path) -> None:
        self.store = Store(folder / "state.db")
        self.encoder = WordEncoder()
        self.index = EmbeddedIndex(folder / "index", self.encoder.name, self.encoder.dimension)

    def close(self) -> None:
        self.store.close()
        self.index.close()

    def relist(self, version: str = "1", **readers: Readers) -> None:
        """Let a listing find that these tables have these readers, and the others everybody."""
        refs = [
            TableRef(f"w/{name}", "w", name, "table", version, readers=readers.get(name))
            for name in ("days", "pay", "report")
        ]
        self.store.listings.sync("w", refs, rule=None)

    def begin(self, run: str) -> None:
        """Read what waits, and link all tables."""
        self.store.queue.release_claims(run)
        self.store.queue.claim(run, 10, 3, ["w"])
        for item in self.store.queue.claimed(run):
            table_id = item.ref.table_id
            read = Table(table_id, (Column("a", "INT"),), 1, "")
            self.store.queue.save_profiles(run, [read])
            row = Document(table_id, DocumentKind.ROWS, f"a row of {table_id}")
            self.store.documents.replace(DocumentKind.ROWS, [(table_id, [row])])
            self.store.queue.advance(run, Stage.NARRATED, [table_id])
        edges = tuple(Edge(*pair, EdgeKind.DAGSTER) for pair in EDGES)
        said = [Origin(DEFINITIONS, "digest", edges=edges)]
        self.store.link(run, said, (), lambda ids: lineage_texts(self.store, ids))

    def end(self, run: str) -> None:
        embed_tables(self.store, run, self.encoder, self.index)
        index_tables(self.store, run, self.encoder.name, self.index, lambda table: None)

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
