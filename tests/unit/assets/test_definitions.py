"""The graph as people see it: an accidental change shows here."""

from dataclasses import replace

import dagster as dg
import pytest

from pneuma_assets.assets.foreign_assets import said_by
from pneuma_assets.assets.table_assets import WEB_PAGE, table_specs
from pneuma_assets.assets.table_events import asset_key, check_outcome, table_event
from pneuma_assets.core.config import source_kinds
from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.config.models import NarrationConfig
from pneuma_assets.core.config.sources import TableAddress
from pneuma_assets.core.config.web import WebConfig
from pneuma_assets.core.pipeline.describe import SchemaNarrationsFigures
from pneuma_assets.core.pipeline.embed import EmbeddingBlocksFigures
from pneuma_assets.core.pipeline.list import RawTablesFigures
from pneuma_assets.core.pipeline.sample import SampledRowsFigures
from pneuma_assets.core.pipeline.write import SearchIndexFigures
from pneuma_assets.core.sources.kinds.folder import FolderSourceConfig
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.asset_keys import PublishedPage
from pneuma_assets.core.store.dagster_manifest import TablePage, read_manifest
from pneuma_assets.core.store.dagster_manifest_write import keep_manifest
from pneuma_assets.core.store.documents import UserContext
from pneuma_assets.core.store.queue import Finished
from pneuma_assets.core.tables import Column, Description, Provenance, Table, TableRef
from pneuma_assets.definitions import build_definitions
from tests.support.deployment_files import deploy, folder_source
from tests.support.sqlite_source import SQLiteSourceConfig

GRAPH = {
    "raw_tables": set(),
    "sampled_rows": {"raw_tables"},
    "schema_narrations": {"sampled_rows"},
    "embedding_blocks": {"sampled_rows", "schema_narrations"},
    "search_index": {"embedding_blocks"},
}


@pytest.fixture
def loaded(tmp_path):
    return load_deployment(home=tmp_path / "home", environ={}, cwd=tmp_path)


def test_the_graph_of_an_empty_deployment(loaded):
    graph = build_definitions(loaded).resolve_asset_graph()
    found = {
        key.to_user_string(): {parent.to_user_string() for parent in graph.get(key).parent_keys}
        for key in graph.get_all_asset_keys()
    }
    assert found == {f"pneuma/{k}": {f"pneuma/{p}" for p in v} for k, v in GRAPH.items()}


def test_every_stage_has_figures_of_its_own():
    figures = (
        RawTablesFigures,
        SampledRowsFigures,
        SchemaNarrationsFigures,
        EmbeddingBlocksFigures,
        SearchIndexFigures,
    )
    assert [each.stage for each in figures] == list(GRAPH)


def test_another_team_can_have_assets_and_resources_of_the_same_names(tmp_path, loaded):
    """Merging definitions fails where two have a key or a resource in common."""
    names = [*GRAPH, "store", "options", "sources", "encoder", "narrator", "judge", "index"]

    @dg.asset(group_name="theirs")
    def raw_tables() -> None:
        """A likely name for anybody's tables."""

    theirs = dg.Definitions(assets=[raw_tables], resources=dict.fromkeys([*names, "query"], 1))
    other = deploy(tmp_path, dagster={"key_prefix": "team/lake"})
    ours = build_definitions(loaded)
    merged = dg.Definitions.merge(ours, theirs).resolve_asset_graph()
    assert len(merged.get_all_asset_keys()) == len(GRAPH) + 1
    graph = build_definitions(other).resolve_asset_graph()
    assert {key.path[:2] == ["team", "lake"] for key in graph.get_all_asset_keys()} == {True}
    assert {key.asset_key.path[:2] == ["team", "lake"] for key in graph.asset_check_keys} == {True}


FOLDER = folder_source("a", "a")
S3 = {"type": "s3", "name": "b", "bucket": "bucket"}
SQLITE = {"type": "sqlite", "name": "c", "path": "c.db"}


@pytest.mark.parametrize(
    ("sources", "shown"),
    [
        ([], set()),
        ([FOLDER], {"duckdb"}),
        ([FOLDER, S3], {"duckdb", "s3"}),
        ([SQLITE], {"sqlite"}),
        ([FOLDER, S3, SQLITE], {"duckdb", "s3", "sqlite"}),
    ],
)
def test_the_graph_shows_what_the_sources_are_read_with(tmp_path, monkeypatch, sources, shown):
    monkeypatch.setattr(source_kinds.KINDS, "known", {})
    source_kinds.register_source(SQLiteSourceConfig)
    specs = build_definitions(deploy(tmp_path, *sources)).resolve_all_asset_specs()
    kinds = {spec.key.path[-1]: spec.kinds for spec in specs}
    assert kinds["raw_tables"] == kinds["sampled_rows"] == shown


def test_more_technologies_than_dagster_shows_are_no_error(tmp_path, monkeypatch):
    monkeypatch.setattr(FolderSourceConfig, "technologies", frozenset("abcd"))
    specs = build_definitions(deploy(tmp_path, FOLDER)).resolve_all_asset_specs()
    assert {"a", "b", "c"} in [spec.kinds for spec in specs]


@pytest.mark.parametrize(("model", "shown"), [("m", {"llm"}), (None, {"python"})])
def test_the_graph_shows_a_model_where_one_is_asked(tmp_path, model, shown):
    loaded = deploy(tmp_path, FOLDER)
    narration = NarrationConfig.model_validate({"model": model})
    deployment = loaded.deployment.model_copy(update={"narration": narration})
    specs = build_definitions(replace(loaded, deployment=deployment)).resolve_all_asset_specs()
    assert {spec.key.path[-1]: spec.kinds for spec in specs}["schema_narrations"] == shown


def test_every_stage_has_code_version_group_and_kind(tmp_path):
    for spec in build_definitions(deploy(tmp_path, FOLDER)).resolve_all_asset_specs():
        assert spec.code_version
        assert spec.group_name == "pneuma"
        assert spec.kinds


def test_job_schedule_and_checks(loaded):
    definitions = build_definitions(loaded)
    job = definitions.resolve_job_def("pneuma_index_tables")
    assert job.executor_def.name == "in_process"
    assert {key.name for key in job.asset_layer.asset_graph.asset_check_keys} == {
        "every_table_indexed",
        "every_table_readable",
        "block_counts_agree",
        "no_removals_held",
    }
    schedule = definitions.resolve_schedule_def("pneuma_schedule")
    assert schedule.job.name == "pneuma_index_tables"


HOSTILE = ["plain", 'quo"te', "with space", "\u00fcml\u00e4ut", "a.b", "[x]*?", "{y}", "'; DROP--"]


@pytest.fixture
def lake(loaded):
    source = FolderSourceConfig(name="lake", path="/lake")
    deployment = loaded.deployment.model_copy(update={"sources": (source,)})
    return replace(loaded, deployment=deployment)


@pytest.fixture
def indexed(lake):
    refs = [TableRef(f"lake/{name}", "lake", f"/lake/{name}.csv", "csv", "1") for name in HOSTILE]
    with Store(lake.home / "state.db") as store:
        store.listings.sync("lake", refs)
        store.queue.claim("run", 100, 3, ["lake"])
        store.queue.finish("run", [Finished(ref.table_id, "hash", 1) for ref in refs])
        for ref in refs:
            store.asset_keys.record(
                store.asset_keys.deployment(),
                {f"pneuma/{ref.table_id}": PublishedPage(ref.table_id)},
            )
        keep_manifest(store, lake.deployment)
        yield store


def specs_of(lake, store):
    keep_manifest(store, lake.deployment, forced=True)
    return table_specs(read_manifest(lake, {}).tables, lake.deployment)


def test_indexed_tables_become_external_assets(lake, indexed):
    graph = build_definitions(lake).resolve_asset_graph()
    for name in HOSTILE:
        node = graph.get(asset_key("pneuma", f"lake/{name}"))
        assert node.is_external
        assert not node.parent_keys, "data does not come from the index"
        assert node.group_name == "pneuma_lake"


def test_a_source_named_like_a_stage_does_not_clash(lake, indexed):
    specs = specs_of(lake, indexed)
    assert len(specs) == len(HOSTILE)
    assert not {spec.key.to_user_string() for spec in specs} & set(GRAPH)


def test_a_table_is_described_by_what_people_said_of_it(lake, indexed):
    columns = tuple(Column(name, "BIGINT") for name in "abcdefghij")
    table = Table("lake/plain", (), 0, "/lake", comment="Measured *by hand*. " * 100)
    other = Table("lake/a.b", columns, 0, "/lake")
    added = UserContext("note", "# Iris\n\nFlowers, see [here](javascript:alert). And more.")
    indexed.documents.add_user_context("lake/[x]*?", added)
    indexed.queue.mark_pending([table.table_id, other.table_id])
    indexed.queue.claim("run", 2, 3, ["lake"])
    indexed.queue.save_profiles("run", [table, other])
    specs = specs_of(lake, indexed)
    described = {spec.key.path[-1]: spec.description for spec in specs}
    assert described["plain"] == " ".join(["Measured \\*by hand\\*."] * 25)
    assert described["a.b"] == "Columns: a, b, c, d, e, f, g, h and 2 more."
    assert described["[x]*?"] == "Flowers, see \\[here\\](javascript:alert). And more."
    assert described["{y}"] is None


def test_a_table_page_shows_narrated_columns():
    columns = (Column("AB", "BIGINT"), Column("x", "DATE", "from the db"), Column("y", "DATE", "b"))
    table = Table("lake/a", columns, 7, "/a")
    said = {
        "AB": Description("At-bats.", Provenance.DOCUMENT, "a.md", 0.9),
        "y": Description("A note.", Provenance.PERSON, "a note", 1.0),
    }
    address = TableAddress("/lake/a.csv", None)
    event = table_event(asset_key("team/pneuma", "lake/a"), table, said, "me", address, 12.5)
    assert event.asset_key == dg.AssetKey(["team", "pneuma", "lake", "a"])
    schema = event.metadata["dagster/column_schema"].value
    assert [(c.name, c.type, c.description) for c in schema.columns] == [
        ("AB", "BIGINT", "At-bats. (from a.md)"),
        ("x", "DATE", "from the db"),
        ("y", "DATE", "A note. (from a note)"),
    ]
    assert event.metadata["dagster/row_count"].value == 7
    assert event.metadata["dagster/last_updated_timestamp"] == dg.MetadataValue.timestamp(12.5)
    assert event.metadata["dagster/table_name"].value == "/lake/a.csv"


def test_what_strangers_wrote_of_a_column_is_no_markdown():
    bad, plain = "![p](http://evil/t.png)", r"!\[p\](http\://evil/t.png)"
    columns = (Column("x", "DATE", bad), Column("y", "DATE", bad), Column("z", "DATE"))
    said = {
        "y": Description("A *day*.", Provenance.MODEL, bad, 1.0),
        "z": Description(bad, Provenance.MODEL, "model"),
    }
    table, address = Table("lake/a", columns, 7, "/a"), TableAddress("/lake/a.csv", None)
    event = table_event(asset_key("pneuma", "lake/a"), table, said, "me", address, None)
    shown = [c.description for c in event.metadata["dagster/column_schema"].value.columns]
    told = rf"{plain} — A \*day\*. (machine-made by {plain})"
    assert shown == [plain, told, f"{plain} (machine-made by model)"]
    told_of = dg.AssetCheckEvaluation(asset_key=dg.AssetKey("a"), **check_outcome(bad, True))
    assert told_of.description == plain


@pytest.mark.parametrize(
    ("base_url", "address"),
    [
        (None, None),
        ("https://data.example.com", "https://data.example.com/tables/lake/a%20%252F%3F%23%C3%A9"),
        (
            "http://localhost:8000/find/",
            "http://localhost:8000/find/tables/lake/a%20%252F%3F%23%C3%A9",
        ),
    ],
)
def test_a_table_links_to_its_page_where_that_has_an_address(lake, base_url, address):
    web = WebConfig(base_url=base_url)
    page = TablePage("lake/a %2F?#é", "lake", "pneuma/lake/a", "", "a", None, ())
    (spec,) = table_specs([page], lake.deployment.model_copy(update={"web": web}))
    found = spec.metadata.get(WEB_PAGE)
    assert found == (None if address is None else dg.MetadataValue.url(address))


def test_what_others_say_has_its_own_fields_and_their_asset_is_upstream(lake):
    page = TablePage(
        *("lake/a", "lake", "pneuma/lake/a", "Orders.", "shop.biz.orders", None, ("dbt",)),
        owners=("team:finance", "not an owner", "ann@example.org"),
        tags=("nightly", "tier=gold", "no tag!"),
        assets=("ingest/orders_table", "pneuma/lake/a"),
        facts=("Checked of gross: not null",),
    )
    (spec,) = table_specs([page], lake.deployment)
    assert (spec.owners, spec.description) == (["team:finance", "ann@example.org"], "Orders.")
    assert {k: v for k, v in spec.tags.items() if "/" not in k} == {"nightly": "", "tier": "gold"}
    assert spec.kinds == {"dbt"}
    assert [dep.asset_key for dep in spec.deps] == [dg.AssetKey(["ingest", "orders_table"])]
    assert spec.metadata["said by others"].value.split("\n\n") == [
        *("Owners: not an owner", "Tags: no tag!", "Checked of gross: not null")
    ]
    upstream = dg.AssetSpec("theirs", deps=[spec.key], metadata={"dagster/table_name": "a"})
    assert [one.asset for one in said_by([upstream], [spec.key])] == [""]
    assert [one.asset for one in said_by([upstream])] == ["theirs"]
    # Who depends on our page of their own table makes a circle, which loads until a run cuts it.
    circle = dg.AssetSpec(["ingest", "orders_table"], deps=[spec.key])
    dg.Definitions.validate_loadable(dg.Definitions([spec, circle]))
