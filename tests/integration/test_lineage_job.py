"""Runs of the real job over a database with views and keys: edges, texts, pages and events."""

import json

import dagster as dg
import duckdb
import pytest

from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.errors import ConfigError, QueryError
from pneuma_assets.core.service.state import open_store
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.definitions import build_definitions
from tests.support.fake_model import FakeLanguageModel
from tests.support.pipeline_support import deployment, run_job, small_lake

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("small_encoder")]

SHOP = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR, region VARCHAR);
CREATE TABLE orders (id INTEGER, customer_id INTEGER REFERENCES customers (id), amount DOUBLE);
CREATE TABLE weather (day DATE, celsius DOUBLE);
INSERT INTO customers VALUES (1, 'Ann', 'north'), (2, 'Bo', 'south');
INSERT INTO orders VALUES (1, 1, 20), (2, 2, 30);
INSERT INTO weather VALUES ('2024-01-01', 3.5);
CREATE VIEW revenue AS SELECT c.region, sum(o.amount) AS total FROM orders o
    JOIN customers c ON c.id = o.customer_id GROUP BY c.region;
"""


@pytest.fixture
def shop(tmp_path):
    file = tmp_path / "shop.duckdb"
    with duckdb.connect(file) as connection:
        connection.execute(SHOP)
    (tmp_path / "pneuma.yaml").write_text(
        f"home: home\nsources: [{{name: shop, type: duckdb, path: {file}}}]\n"
        "lineage: {emit: openlineage.yml}\n"
    )
    to = {"type": "file", "log_file_path": str(tmp_path / "sent.jsonl"), "append": True}
    (tmp_path / "openlineage.yml").write_text(json.dumps({"transport": to}))
    return load_deployment(config=tmp_path / "pneuma.yaml", environ={}, cwd=tmp_path)


def texts(loaded) -> dict[str, list[str]]:
    with open_store(loaded, {}) as store:
        kept = store.documents
        names = [i.rpartition("/")[2] for i in store.tables.listed()]
        found = {n: kept.of_tables([f"shop/main/{n}"])[f"shop/main/{n}"] for n in names}
        return {n: [d.text for d in some if d.kind == "lineage"] for n, some in found.items()}


def edges(loaded) -> dict[tuple[str, str, str], tuple]:
    with open_store(loaded, {}) as store:
        short = (
            (e.upstream.rpartition("/")[2], e.downstream.rpartition("/")[2], str(e.kind), e.columns)
            for e in store.edges.all()
        )
        return {(up, down, kind): columns for up, down, kind, columns in short}


def test_views_and_keys_become_edges_texts_and_pages(shop):
    model = FakeLanguageModel()
    with dg.DagsterInstance.ephemeral() as instance:
        run_job(shop, instance, model)
        assert edges(shop) == {
            ("customers", "orders", "foreign_key"): (("id", "customer_id"),),
            ("customers", "revenue", "view"): (("region", "region"),),
            ("orders", "revenue", "view"): (("amount", "total"),),
        }
        assert texts(shop) == {
            "customers": ["feeds revenue"],
            "orders": ["feeds revenue"],
            "revenue": ["built from customers and orders"],
            "weather": [],
        }
        with open_store(shop, {}) as store:
            page = dg.AssetKey(["pneuma", "shop", "main", "revenue"])
            event = instance.get_latest_materialization_event(page)
            assert store.edges.feeds() == {"shop/main/customers": 1, "shop/main/orders": 1}
        lineage = event.asset_materialization.metadata["dagster/column_lineage"].value
        above = dg.AssetKey(["pneuma", "shop", "main", "orders"])
        assert lineage.deps_by_column["total"] == [dg.TableColumnDep(above, "amount")]
        specs = {spec.key: spec for spec in build_definitions(shop).resolve_all_asset_specs()}
        deps = {dep.asset_key.path[-1] for dep in specs[page].deps}
        assert deps == {"orders", "customers"}
        (event,) = map(json.loads, (shop.base / "sent.jsonl").read_text().splitlines())
        assert event["job"]["name"] == "shop/main/revenue"
        assert specs[above].deps == []  # a key of another table is nothing that data comes by


def dbt_manifest(folder, description: str) -> None:
    """Write what dbt would of two files of a lake, one of which is made of the other."""

    def model(name: str, **more: object) -> dict:
        named = {"name": name, "database": None, "schema": None}
        return {"resource_type": "model", **named, **more}

    nodes = {
        "model.lake.t1": model("t1", description=description),
        "model.lake.t2": model("t2", depends_on={"nodes": ["model.lake.t1"]}),
    }
    version = {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"}
    (folder / "target").mkdir(exist_ok=True)
    (folder / "target/manifest.json").write_text(json.dumps({"metadata": version, "nodes": nodes}))


@pytest.mark.slow
def test_what_dbt_says_is_embedded_without_reading_a_table_again(tmp_path, monkeypatch):
    dbt_manifest(tmp_path, "Readings of the northern buoys.")
    loaded = deployment(tmp_path, small_lake(tmp_path), lineage={"dbt": ["target"]})
    with dg.DagsterInstance.ephemeral() as instance:
        run_job(loaded, instance)
        with open_store(loaded, {}) as store:
            said = store.documents.of_tables(["lake/t2"])["lake/t2"]
            assert "built from t1" in [one.text for one in said if one.kind == "lineage"]
            evidence = _evidence(loaded)
            assert evidence["lake/t1"].rows
        dbt_manifest(tmp_path, "Readings of the southern buoys, as of today.")
        model = FakeLanguageModel()
        monkeypatch.setattr(FileSource, "profile", None)  # whoever reads a table fails
        run_job(loaded, instance, model)
        assert not model.prompts
        with open_store(loaded, {}) as store:
            assert not store.queue.pending()
            assert not store.problems.all()
        assert _evidence(loaded) == evidence
    with Workspace(loaded, {}) as workspace:
        (found,) = workspace.ask("southern buoys", k=1)
        assert found.table_id == "lake/t1"
        assert [one.table_id for one in workspace.lineage("lake/t1")] == ["lake/t2"]
        where = workspace.related(downstream_of="lake/t1")
        assert where.tables == ("lake/t2",)
        with pytest.raises(QueryError, match="no indexed table is downstream of lake/t2"):
            workspace.related(downstream_of="lake/t2")
        with pytest.raises(ConfigError, match="did you mean lake/t1"):
            workspace.lineage("lake/t11")


def _evidence(loaded):
    with Workspace(loaded, {}) as workspace:
        return workspace.search_index.evidence(["lake/t1", "lake/t2"])
