"""The Dagster job over real files, the real encoder and the real index; the narrator counts."""

import dagster as dg
import pytest

from pneuma_assets.catalog import asset_key
from pneuma_assets.core.models.fake import FakeLanguageModel
from pneuma_assets.core.workspace import Workspace
from pneuma_assets.definitions import build_definitions
from tests.hostile_lake import build_hostile_lake
from tests.pipeline_support import deployment, run_job, small_lake

pytestmark = pytest.mark.integration


@pytest.fixture
def instance():
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


@pytest.fixture
def lake(tmp_path):
    return small_lake(tmp_path)


@pytest.fixture
def loaded(tmp_path, lake):
    return deployment(tmp_path, lake)


def asked(loaded, instance, **options) -> int:
    model = FakeLanguageModel()
    run_job(loaded, instance, model, **options)
    return len(model.prompts)


def test_a_lake_is_indexed_and_answers(loaded, instance):
    result = run_job(loaded, instance)
    checks = {event.check_name: event.passed for event in result.get_asset_check_evaluations()}
    assert checks == {"every_table_indexed": True, "block_counts_agree": True}
    with Workspace(loaded, {}) as workspace:
        best = workspace.query_engine().ask("collected on island 4", k=3)[0]
        assert best.table_id == "lake/t4"
        assert "island 4" in best.text
        assert workspace.status().counts() == {"indexed": 6}


def test_every_table_has_a_page_with_narrated_columns(loaded, instance):
    run_job(loaded, instance)
    event = instance.get_latest_materialization_event(asset_key("lake/deep/t0"))
    metadata = event.asset_materialization.metadata
    columns = metadata["dagster/column_schema"].value.columns
    assert [column.name for column in columns] == ["id", "label_0", "amount_0"]
    assert all(column.description for column in columns)
    assert metadata["dagster/row_count"].value == 20


def test_a_second_run_asks_the_model_nothing(loaded, instance):
    assert asked(loaded, instance) == 18
    assert asked(loaded, instance) == 0


def test_a_renamed_column_costs_one_narration(loaded, instance, lake):
    asked(loaded, instance)
    table = lake / "t1.csv"
    table.write_text(table.read_text().replace("amount_1", "total_1"))
    assert asked(loaded, instance) == 1


def test_a_touched_file_costs_no_embedding(loaded, instance, lake):
    run_job(loaded, instance)
    (lake / "t1.csv").touch()
    result = run_job(loaded, instance)
    metadata = result.asset_materializations_for_node("embedding_blocks")[0].metadata
    assert (metadata["tables"].value, metadata["embedded"].value) == (1, 0)


def test_deleted_tables_leave_index_store_and_catalogue(loaded, instance, lake):
    run_job(loaded, instance)
    (lake / "t1.csv").unlink()
    run_job(loaded, instance)
    assert instance.get_latest_materialization_event(asset_key("lake/t1")) is None
    with Workspace(loaded, {}) as workspace:
        assert "lake/t1" not in workspace.index.list_tables()
        assert len(workspace.status().tables) == 5


def test_tables_of_a_source_that_is_no_longer_configured_leave(loaded, instance, tmp_path):
    run_job(loaded, instance)
    other = tmp_path / "other"
    other.mkdir()
    (other / "solo.csv").write_text("a,b\n1,2\n")
    run_job(deployment(tmp_path, other, name="other"), instance)
    with Workspace(loaded, {}) as workspace:
        assert workspace.index.list_tables().keys() == {"other/solo"}


def test_a_lost_index_is_rebuilt_without_the_model(loaded, instance):
    run_job(loaded, instance)
    with Workspace(loaded, {}) as workspace:
        before = workspace.index.list_tables()
        workspace.index.delete_tables(["lake/t1", "lake/t2"])
    assert asked(loaded, instance) == 0
    with Workspace(loaded, {}) as workspace:
        assert workspace.index.list_tables() == before


def test_a_rebuild_indexes_everything_again(loaded, instance):
    run_job(loaded, instance)
    result = run_job(loaded, instance, rebuild=True)
    metadata = result.asset_materializations_for_node("search_index")[-1].metadata
    assert metadata["tables"].value == 6


def test_a_context_added_by_hand_is_found(loaded, instance):
    run_job(loaded, instance)
    with Workspace(loaded, {}) as workspace:
        workspace.store.add_context("lake/deep/t3", "wiki", "Zanzibar harbour fees, audited.")
    run_job(loaded, instance)
    with Workspace(loaded, {}) as workspace:
        best = workspace.query_engine().ask("harbour fees in Zanzibar", k=1)[0]
        assert best.table_id == "lake/deep/t3"


def test_a_lone_stage_says_what_to_do(loaded, instance):
    job = build_definitions(loaded, with_tables=False).resolve_job_def("index_tables")
    result = job.execute_in_process(
        instance=instance, asset_selection=[dg.AssetKey("sampled_rows")], raise_on_error=False
    )
    failure = result.filter_events(lambda event: event.is_step_failure)[0]
    description = failure.step_failure_data.user_failure_data.description
    assert "Materialize raw_tables in the same run" in description


def test_an_unreachable_source_fails_the_run_and_deletes_nothing(loaded, instance, lake):
    run_job(loaded, instance)
    lake.rename(lake.with_name("moved"))
    with pytest.raises(dg.Failure, match="SourceError"):
        run_job(loaded, instance)
    with Workspace(loaded, {}) as workspace:
        assert len(workspace.index.list_tables()) == 6


def test_a_hostile_lake_is_indexed_or_explained(tmp_path, instance):
    lake = tmp_path / "lake"
    lake.mkdir()
    expected = build_hostile_lake(lake)
    loaded = deployment(tmp_path, lake)
    run_job(loaded, instance)
    with Workspace(loaded, {}) as workspace:
        status = workspace.status()
    states = {table.table_id: table.state for table in status.tables}
    causes = {problem.subject: problem.cause for problem in status.problems}
    for table_id, wanted in expected.items():
        if wanted.problem is None:
            assert states.get(table_id) == "indexed", (table_id, causes.get(table_id))
        else:
            assert wanted.problem in causes[table_id]
