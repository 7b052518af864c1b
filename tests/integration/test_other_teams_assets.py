"""A warehouse that two teams know: ours says what it knows on the other's pages, and no more."""

from pathlib import Path

import dagster as dg
import duckdb
import pytest

from pneuma_assets import open_workspace, with_narrations
from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.definitions import build_definitions
from tests.support.word_encoder import WordEncoder

pytestmark = pytest.mark.integration

TABLE = "warehouse/sales/orders"
NAME = "warehouse.sales.orders"


@pytest.fixture
def file(tmp_path, monkeypatch) -> Path:
    """The deployment file of a warehouse with a table of which somebody wrote a little."""
    monkeypatch.setattr(
        "pneuma_assets.core.models.encoder.encoder.open_encoder", lambda _: WordEncoder()
    )
    monkeypatch.setattr("pneuma_assets.resources.models.open_encoder", lambda _: WordEncoder())
    with duckdb.connect(str(tmp_path / "warehouse.duckdb")) as connection:
        connection.execute("CREATE SCHEMA sales")
        connection.execute(
            "CREATE TABLE sales.orders AS SELECT range AS order_id, 'x' || range % 3 AS wh, "
            "range / 7 AS net_amt FROM range(60)"
        )
        connection.execute("COMMENT ON COLUMN sales.orders.net_amt IS 'Without tax'")
        connection.execute("COMMENT ON TABLE sales.orders IS 'Orders of the web shop'")
    made = tmp_path / "pneuma.yaml"
    made.write_text(
        "home: home\nsources: [{type: duckdb, name: warehouse, path: warehouse.duckdb}]\n"
    )
    return made


@dg.asset(key=["sales", "orders"], metadata={"dagster/table_name": NAME})
def orders() -> dg.MaterializeResult:
    """Another team's asset, as its own run describes it."""
    columns = [dg.TableColumn(name, "INT") for name in ("order_id", "wh", "net_amt")]
    return dg.MaterializeResult(metadata={"dagster/column_schema": dg.TableSchema(columns)})


@dg.asset(key=["sales", "bare"], metadata={"dagster/table_name": NAME})
def bare() -> None: ...


def shown(defs: dg.Definitions, key: str = "orders") -> dict[str, str]:
    spec = next(s for s in defs.resolve_all_asset_specs() if s.key == dg.AssetKey(["sales", key]))
    schema = spec.metadata.get("dagster/column_schema")
    return {} if schema is None else {column.name: column.description for column in schema.columns}


def events(instance: dg.DagsterInstance) -> list[tuple]:
    keys = sorted(instance.get_asset_keys())
    return [(key, instance.get_latest_materialization_event(key)) for key in keys]


def test_what_is_known_and_corrected_shows_on_theirs_and_nothing_is_written(file, tmp_path):
    theirs = dg.Definitions([orders, bare])
    (tmp_path / "theirs").mkdir()
    with dg.DagsterInstance.local_temp(str(tmp_path / "theirs")) as instance:
        assert dg.materialize([orders, bare], instance=instance).success
        before = events(instance)
        assert with_narrations(theirs, file) is theirs  # nothing is indexed yet
        with open_workspace(file) as workspace:
            workspace.index()
            first = shown(with_narrations(theirs, file))
            assert sorted(first) == ["net_amt", "order_id", "wh"]
            assert "machine-made from the column's name and values" in first["order_id"]
            workspace.describe(TABLE, "wh", "The warehouse that sends it", author="ann")
            workspace.reject(TABLE, "order_id", author="ann")
            workspace.index()
        enriched = with_narrations(theirs, file)
        found = shown(enriched)
        assert sorted(found) == ["net_amt", "wh"]
        assert found["wh"].startswith("The warehouse that sends it (pneuma-assets: said by ann, ")
        assert found["net_amt"] == "Without tax (pneuma-assets: from the column's comment)"
        assert shown(enriched, "bare") == found
        described = {s.key.path[-1]: s.description for s in enriched.resolve_all_asset_specs()}
        assert described["orders"] == "Another team's asset, as its own run describes it."
        assert described["bare"] == (
            "Orders of the web shop (pneuma-assets: from the table's comment)"
        )
        assert events(instance) == before


def test_a_stage_adds_nothing_to_a_history_of_somebody_elses(file):
    key = dg.AssetKey(["pneuma", "embedding_blocks"])
    job = build_definitions(load_deployment(file, environ={})).resolve_job_def(
        "pneuma_index_tables"
    )
    with dg.DagsterInstance.ephemeral() as instance:
        instance.report_runless_asset_event(dg.AssetMaterialization(key, metadata={"theirs": 1}))
        refused = job.execute_in_process(instance=instance, raise_on_error=False)
        (failed,) = [event for event in refused.all_events if event.is_step_failure]
        said = failed.step_failure_data.user_failure_data.description
        assert "pneuma/embedding_blocks was materialized by somebody else; set another name" in said
        (theirs,) = instance.fetch_materializations(key, limit=5).records
        assert set(theirs.asset_materialization.metadata) == {"theirs"}
        instance.wipe_assets([key])
        for _ in range(2):  # what our own runs leave is ours
            assert job.execute_in_process(instance=instance).success
