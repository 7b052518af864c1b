"""Edges and texts follow tables as they come, change and go, and name nothing that is hidden."""

import json

import pytest

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.small_sections import WebserverConfig
from pneuma_assets.core.errors import ConfigError, QueryError, SourceError
from pneuma_assets.core.index.base import IndexFilter
from pneuma_assets.core.lineage.edges import Edge, EdgeKind
from pneuma_assets.core.lineage.external import (
    ExternalMetadata,
    ExternalTable,
    Reference,
    fields_of,
)
from pneuma_assets.core.lineage.names import spelled
from pneuma_assets.core.pipeline.dagster_graphql import origin_of_webserver, webserver_assets
from pneuma_assets.core.pipeline.describe import _from_outside
from pneuma_assets.core.pipeline.external_files import ExternalFile
from pneuma_assets.core.pipeline.lineage import DEFINITIONS, update_lineage
from pneuma_assets.core.pipeline.lineage_texts import lineage_texts
from pneuma_assets.core.service.lineage import lineage_of, related
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.edges import Origin
from pneuma_assets.core.store.queue import Finished, Stage
from pneuma_assets.core.tables import Column, Definition, DocumentKind, ForeignKey, Table, TableRef

RUN = "run"
MANIFEST = {"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"}}


class Lake:
    """Tables of one database, and the runs that read them."""

    def __init__(self, store: Store, folder) -> None:
        self.store, self.folder = store, folder
        self.refs: dict[str, TableRef] = {}

    def add(self, name: str, *columns: str, sql: str = "", readers=None, **more) -> None:
        """Add or change a table, and let a run read it, and index it without a text."""
        before = self.refs.get(name)
        version = f"{before.version}+" if before else "1"
        ref = TableRef(f"w/main/{name}", "w", name, "table", version, readers=readers)
        self.refs[name] = ref
        self.relist()
        self.store.queue.claim(RUN, 10, 3, ["w"])
        definition = Definition(sql, "duckdb", "w", "main") if sql else None
        made = tuple(Column(column, "INTEGER") for column in columns)
        table = Table(ref.table_id, made, 1, name, definition=definition, **more)
        self.store.queue.save_profiles(RUN, [table])
        self.store.queue.finish(RUN, [Finished(ref.table_id, table.schema_hash, 1)])

    def relist(self) -> None:
        self.store.listings.sync("w", list(self.refs.values()), rule=None)

    def link(self, *others: ExternalFile, **lineage: object) -> int:
        lineage = lineage or {"dbt": [str(self.folder / "target")]}
        source = {"type": "duckdb", "name": "w", "path": "/w.duckdb"}
        return update_lineage(
            self.store,
            RUN,
            Deployment.model_validate({"sources": [source], "lineage": lineage}),
            others,
        )

    def text(self, name: str) -> list[str]:
        found = self.store.documents.of_kind(DocumentKind.LINEAGE, [f"w/main/{name}"])
        return found.get(f"w/main/{name}", [])


@pytest.fixture
def lake(tmp_path):
    with Store(tmp_path / "state.db") as store:
        yield Lake(store, tmp_path)


def test_a_view_finds_a_table_that_comes_after_it_and_loses_one_that_goes(lake):
    lake.add("v", "total", sql="SELECT sum(amount) AS total FROM orders")
    assert (lake.link(), lake.store.edges.all()) == (0, [])
    lake.add("orders", "id", "AMOUNT")
    assert lake.link() == 2
    columns = (("AMOUNT", "total"),)
    assert lake.store.edges.all() == [Edge("w/main/orders", "w/main/v", EdgeKind.VIEW, columns)]
    assert lake.text("v") == ["built from orders"]
    assert lake.link() == 0
    lake.add("orders", "id", "euros")
    assert lake.link() == 0, "the same text of another edge"
    assert [edge.columns for edge in lake.store.edges.all()] == [()]
    del lake.refs["orders"]
    lake.relist()
    assert lake.link() == 2
    assert (lake.store.edges.all(), lake.text("v")) == ([], [])


def test_what_is_linked_anew_waits_for_the_encoder_alone(lake):
    lake.add("orders", "id")
    lake.add("v", "id", sql="SELECT id FROM orders")
    lake.link()
    taken = lake.store.queue.take("another", Stage.NARRATED)
    assert [item.ref.table_id for item in taken] == ["w/main/orders", "w/main/v"]
    assert lake.store.tables.unchanged(["w/main/orders", "w/main/v"]) == {
        "w/main/orders",
        "w/main/v",
    }


def test_keys_refer_and_do_not_derive(lake):
    lake.add("orders", "id")
    lake.add(
        "items", "order_id", foreign_keys=(ForeignKey(("order_id",), ("main", "orders"), ("id",)),)
    )
    assert lake.link() == 0
    (edge,) = lake.store.edges.all()
    assert (edge.kind, edge.columns) == (EdgeKind.FOREIGN_KEY, (("id", "order_id"),))
    assert lake.store.edges.feeds() == {}
    assert [one.kind for one in lineage_of(lake.store, "w/main/orders")] == ["foreign_key"]
    assert lineage_of(lake.store, "w/main/orders", keys=False) == []


def test_nobody_reads_of_a_table_that_they_may_not_see(lake):
    lake.add("salaries", "id", readers=("boss",))
    lake.add("staff", "id", readers=("boss", "clerk"))
    lake.add("v", "id", sql="SELECT id FROM salaries JOIN staff USING (id)", readers=("clerk",))
    lake.link()
    assert lake.text("v") == ["built from staff"]
    assert lake.text("salaries") == []
    clerk, boss = (IndexFilter(readers=(who,)) for who in ("clerk", "boss"))
    seen = lineage_of(lake.store, "w/main/v", readers=("clerk",))
    assert [one.table_id for one in seen] == ["w/main/staff"]
    assert related(lake.store, ["w/main/v"], [], clerk).tables == ("w/main/staff",)
    with pytest.raises(ConfigError, match="unknown table 'w/main/salaries'"):
        related(lake.store, [], ["w/main/salaries"], clerk)
    with pytest.raises(QueryError, match="no indexed table is downstream"):
        related(lake.store, [], ["w/main/salaries"], boss)
    lake.add("v", "id", sql="SELECT id FROM salaries JOIN staff USING (id)", readers=("boss",))
    lake.link()
    assert lake.text("v") == ["built from salaries and staff"]


def test_whoever_a_source_knows_reads_of_what_all_may_see_whom_it_knows(lake):
    lake.add("staff", "id", readers=("w/public",))
    lake.add("v", "id", sql="SELECT id FROM staff", readers=("w/clerk",))
    lake.link()
    (seen,) = lineage_of(lake.store, "w/main/v", readers=("w/clerk",))
    assert seen.table_id == "w/main/staff"
    clerk = IndexFilter(readers=("w/clerk",))
    assert related(lake.store, ["w/main/v"], [], clerk).tables == ("w/main/staff",)
    with pytest.raises(QueryError, match="1 to 1,000"):
        lineage_of(lake.store, "w/main/v", readers=("",))


def test_a_grant_that_is_taken_away_counts_though_who_told_of_the_edge_is_not_heard(lake):
    lake.add("orders", "id")
    lake.add("report", "id")
    edge = Edge("w/main/orders", "w/main/report", EdgeKind.DAGSTER)
    said = [Origin(DEFINITIONS, "digest", edges=(edge,))]
    lake.store.link(RUN, said, (), lambda ids: lineage_texts(lake.store, ids))
    assert lake.text("orders") == ["feeds report"]
    assert lake.link() == 0
    lake.add("report", "id", readers=("boss",))
    assert lake.link() == 1
    assert lake.text("orders") == []
    assert lake.text("report") == ["built from orders"]


def test_several_assets_that_are_one_table_say_together_what_it_comes_from(lake):
    for name in ("orders", "report"):
        lake.add(name, "id", "total")
    orders = Reference(spelled("w.main.orders"))
    said = [
        ExternalTable(spelled("w.main.report"), upstream=[orders], column_sources={one: sources})
        for one, sources in {"id": [(orders, "id")], "total": [(orders, "total")]}.items()
    ]
    assert (
        lake.link(ExternalFile(DEFINITIONS, "1", lambda: ExternalMetadata(EdgeKind.DAGSTER, said)))
        == 2
    )
    columns = (("id", "id"), ("total", "total"))
    edge = Edge("w/main/orders", "w/main/report", EdgeKind.DAGSTER, columns)
    assert lake.store.edges.all() == [edge]


def test_others_name_no_column_that_a_table_is_known_not_to_have(lake):
    for name in ("orders", "report"):
        lake.add(name, "id", "hidden 1")  # as a hidden column is called where names are hidden
    orders = Reference(spelled("w.main.orders"))
    sources = {"ID": [(orders, "Id"), (orders, "salary")], "wages": [(orders, "id")]}
    said = ExternalTable(spelled("w.main.report"), upstream=[orders], column_sources=sources)
    lake.link(ExternalFile(DEFINITIONS, "1", lambda: ExternalMetadata(EdgeKind.DAGSTER, [said])))
    assert [edge.columns for edge in lake.store.edges.all()] == [(("id", "id"),)]


def test_a_file_of_dbt_that_breaks_leaves_what_it_said(lake):
    lake.add("orders", "id")
    target = lake.folder / "target"
    target.mkdir()
    assert lake.link() == 0
    assert [one.subject for one in lake.store.problems.all()] == [f"dbt:{target}"]
    node = {"resource_type": "model", "name": "orders", "description": "Sold."}
    (target / "manifest.json").write_text(
        json.dumps(MANIFEST | {"nodes": {"model.x.orders": node}})
    )
    assert lake.link() == 1
    assert lake.store.problems.all() == []
    for broken in ('{"nodes": ', '{"hello": 1}'):
        (target / "manifest.json").write_text(broken)
        assert lake.link() == 0
        assert [one.stage for one in lake.store.problems.all()] == ["lineage"]
        texts = [
            one.text for one in lake.store.documents.of_tables(["w/main/orders"])["w/main/orders"]
        ]
        assert texts == ["Sold."]
    assert "it is no manifest of dbt" in lake.store.problems.all()[0].cause


def test_the_problem_of_a_file_lasts_until_it_is_mended(lake):
    events = lake.folder / "events.jsonl"
    events.write_text('{"eventType": "COMPLETE"}\n{"eventType": 1\n')
    for _ in range(3):
        lake.store.listings.drop_sources(["w"])  # as each run begins
        lake.link(openlineage=[str(events)])
        assert "line 2: is no JSON" in lake.store.problems.all()[0].cause
    events.write_text('{"eventType": "COMPLETE"}\n')
    lake.link(openlineage=[str(events)])
    assert lake.store.problems.all() == []


def test_the_problem_of_whom_nobody_asks_any_more_ends(lake):
    lake.add("orders", "id")

    def refused() -> ExternalMetadata:
        raise SourceError("it does not answer")

    url = "http://127.0.0.1:3000"
    broken = ExternalFile("dagster:webserver", "", refused)
    lake.link(broken, webserver={"url": url})
    lake.link(webserver={"url": url})
    assert [one.subject for one in lake.store.problems.all()] == [broken.name]
    lake.link(webserver={"url": None})
    assert lake.store.problems.all() == []


def test_a_webserver_at_a_wrong_address_leaves_what_was_heard(lake):
    for name in ("orders", "report"):
        lake.add(name, "id")
    orders = Reference(spelled("w.main.orders"))
    said = ExternalMetadata(
        EdgeKind.DAGSTER, [ExternalTable(spelled("w.main.report"), upstream=[orders])]
    )
    right = {"url": "http://127.0.0.1:3000"}
    heard = ExternalFile(str(origin_of_webserver(WebserverConfig(**right))), "1", lambda: said)
    assert lake.link(heard, webserver=right) == 2
    wrong = {"url": "http://127.0.0.1:1"}
    assert lake.link(*webserver_assets(WebserverConfig(**wrong), {}), webserver=wrong) == 0
    (problem,) = lake.store.problems.all()
    assert "http://127.0.0.1:1/graphql cannot be asked" in problem.cause
    assert lake.text("report") == ["built from orders"]
    assert lake.link(webserver={"url": None}) == 2


def test_what_others_say_is_kept_in_fields_and_describes_columns(lake):
    lake.add("orders", "id", "GROSS")
    said = ExternalTable(
        spelled("w.main.orders"),
        description="Orders.",
        columns={"gross": "With tax."},
        owners=["team:finance"],
        tags=["nightly"],
        kinds=["dbt"],
        asset="ingest/orders_table",
        facts=["Checked of gross: not null"],
    )
    lake.link(ExternalFile(DEFINITIONS, "1", lambda: ExternalMetadata(EdgeKind.DAGSTER, [said])))
    kept = lake.store.edges.fields()["w/main/orders"][DEFINITIONS]
    assert kept == fields_of(said)
    (begins,) = lake.store.documents.beginnings(["w/main/orders"])["w/main/orders"]
    assert begins.text == "Orders."
    assert "w/main/orders" in lake.store.queue.pending(), "to be described anew"
    (table,) = lake.store.tables.profiles(["w/main/orders"])
    (described,) = _from_outside(table, lake.store.edges.fields()[table.table_id]).items()
    assert (described[0], described[1].text) == (1, "With tax.")
    assert described[1].source == "asset ingest/orders_table"


def test_several_assets_that_are_one_table_all_have_their_say(lake):
    lake.add("orders", "id")
    name = spelled("w.main.orders")
    said = [
        ExternalTable(name, asset="ingest/orders", owners=["team:a"], columns={"id": "First."}),
        ExternalTable(name, asset="check/orders", owners=["team:b", "team:a"], description="Both."),
    ]
    lake.link(ExternalFile(DEFINITIONS, "1", lambda: ExternalMetadata(EdgeKind.DAGSTER, said)))
    kept = lake.store.edges.fields()["w/main/orders"][DEFINITIONS]
    assert (kept.assets, kept.owners) == (("ingest/orders", "check/orders"), ("team:a", "team:b"))
    assert lake.store.documents.of_tables(["w/main/orders"])["w/main/orders"][
        0
    ].text.splitlines() == [*("Both.", "Owners: team:a, team:b", "id: First.")]


def test_what_is_said_of_several_tables_lets_each_be_described_anew(lake):
    names = ["customers", "orders"]
    for name in names:
        lake.add(name, "gross")
    said = [
        ExternalTable(spelled(f"w.main.{one}"), columns={"gross": "With tax."}) for one in names
    ]
    lake.link(ExternalFile(DEFINITIONS, "1", lambda: ExternalMetadata(EdgeKind.DAGSTER, said)))
    assert {f"w/main/{name}" for name in names} <= lake.store.queue.pending()
