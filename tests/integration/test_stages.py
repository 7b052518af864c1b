"""Each stage takes what is ready: by itself, with others left out, or executed again."""

from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import pytest

from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.models.language.fake import FakeLanguageModel
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.definitions import build_definitions
from tests.support.multiprocess_checks import FILE
from tests.support.pipeline_support import CountingNarrator, deployment, small_lake
from tests.support.whole_job import whole_job

pytestmark = pytest.mark.integration

STAGES = ["raw_tables", "sampled_rows", "schema_narrations", "embedding_blocks", "search_index"]
TABLES = 6


@pytest.fixture
def loaded(tmp_path, monkeypatch):
    loaded = deployment(tmp_path, small_lake(tmp_path, TABLES))
    monkeypatch.setenv(FILE, str(loaded.file))
    CountingNarrator.shared = FakeLanguageModel()
    return loaded


def materialize(instance, *stages: str, ok: bool = True) -> dict[str, dict[str, float]]:
    """Materialize these stages, as the UI does, and return what each of them counted."""
    keys = [dg.AssetKey(["pneuma", stage]) for stage in stages]
    result = whole_job().execute_in_process(
        instance=instance, asset_selection=keys, raise_on_error=False
    )
    assert result.success == ok
    return {stage: counted(result, stage) for stage in stages if ok}


def counted(result, stage: str) -> dict[str, float]:
    metadata = [made.metadata for made in result.asset_materializations_for_node(f"pneuma_{stage}")]
    (figures,) = (found for found in metadata if "seconds" in found)
    return {name: entry.value for name, entry in figures.items()}


def answers(loaded) -> bool:
    with Workspace(loaded, {}) as workspace:
        assert workspace.status().counts() == {"indexed": TABLES}
        best = workspace.query_engine().ask("collected on island 4", k=1)[0]
        return best.table_id == "lake/t4"


@pytest.mark.slow
def test_each_stage_can_be_materialized_by_itself(loaded, instance):
    for stage in STAGES:
        figures = materialize(instance, stage)[stage]
        assert figures["tables"] == TABLES, stage
    assert answers(loaded)
    for stage in STAGES[1:]:
        assert materialize(instance, stage)[stage]["tables"] == 0, "nothing is done twice"


@pytest.mark.slow
@pytest.mark.parametrize("left_out", STAGES[1:-1])
def test_what_a_run_leaves_out_the_next_one_does_and_no_more(loaded, instance, left_out):
    at = STAGES.index(left_out)
    done = materialize(instance, *STAGES[:at], *STAGES[at + 1 :])
    assert {stage: done[stage]["tables"] for stage in STAGES[at + 1 :]} == dict.fromkeys(
        STAGES[at + 1 :], 0
    )
    with Workspace(loaded, {}) as workspace:
        assert workspace.search_index.list_tables() == {}
        assert workspace.status().counts() == {"pending": TABLES}
    done = materialize(instance, *STAGES)
    assert (done["raw_tables"]["claimed"], done["raw_tables"]["profiled"]) == (TABLES, 0)
    for stage in STAGES[1:]:
        assert done[stage]["tables"] == (0 if STAGES.index(stage) < at else TABLES), stage
    assert len(CountingNarrator.shared.prompts) == 3 * TABLES
    assert answers(loaded)


def test_a_table_that_changed_since_is_read_anew(loaded, instance, tmp_path):
    materialize(instance, *STAGES[:3])
    table = tmp_path / "lake" / "t4.csv"
    table.write_text(table.read_text() + "20,somebody from Zanzibar,80\n" * 40)
    done = materialize(instance, *STAGES)
    assert [done[stage]["tables"] for stage in STAGES[1:]] == [1, 1, TABLES, TABLES]
    assert done["raw_tables"]["profiled"] == 1
    with Workspace(loaded, {}) as workspace:
        assert workspace.query_engine().ask("Zanzibar", k=1)[0].table_id == "lake/t4"


class Failing(FakeLanguageModel):
    """Cannot be used."""

    def generate(self, *arguments):
        raise ModelError("The model is not here.")


def fail(instance) -> dg.DagsterRun:
    """Let a run fail at its third stage; returns it."""
    CountingNarrator.shared = Failing()
    materialize(instance, *STAGES, ok=False)
    (failed,) = instance.get_runs()
    CountingNarrator.shared = FakeLanguageModel()
    return failed


@contextmanager
def executed_again(instance, failed: dg.DagsterRun):
    """Execute a run again from failure, as the UI and `dagster/max_retries` do."""
    options = dg.ReexecutionOptions.from_failure(failed.run_id, instance)
    job = dg.reconstructable(whole_job)
    with dg.execute_job(job, instance=instance, reexecution_options=options) as result:
        assert result.success
        yield result


@pytest.mark.slow
def test_a_run_that_failed_is_executed_again_from_where_it_failed(loaded, instance):
    with executed_again(instance, fail(instance)) as result:
        begun = [event.step_key for event in result.all_events if event.is_step_start]
        steps = [step.removeprefix("pneuma_") for step in begun]
        assert [step for step in steps if step in STAGES] == STAGES[2:]
        checks = result.get_asset_check_evaluations()
        assert len(checks) == 5
        assert all(check.passed for check in checks)
    assert answers(loaded)


@pytest.mark.slow
def test_what_another_run_has_done_since_is_not_done_again(loaded, instance):
    failed = fail(instance)
    materialize(instance, *STAGES)
    with executed_again(instance, failed) as result:
        assert counted(result, "search_index")["tables"] == 0
    assert answers(loaded)


@pytest.mark.slow
def test_a_run_that_was_executed_again_is_gone_on_with(tmp_path, monkeypatch, instance):
    loaded = deployment(tmp_path, small_lake(tmp_path, 3), indexing={"tables_per_run": 2})
    monkeypatch.setenv(FILE, str(loaded.file))
    with executed_again(instance, fail(instance)) as result:
        assert counted(result, "search_index")["tables"] == 2
    sensor = build_definitions(loaded).resolve_sensor_def("pneuma_go_on")
    with dg.build_sensor_context(instance, cursor="1970-01-01T00:00:00") as context:
        request = sensor(context)
    assert isinstance(request, dg.RunRequest), request
    assert not {tag for tag in request.tags if tag.startswith("dagster/")}


@pytest.mark.slow
def test_a_lake_that_waits_is_not_taken_for_one_that_left(loaded, instance, tmp_path):
    materialize(instance, *STAGES)
    Path(tmp_path / "lake" / "t1.csv").touch()
    materialize(instance, "raw_tables", "search_index")
    with Workspace(loaded, {}) as workspace:
        assert len(workspace.search_index.list_tables()) == TABLES
        assert workspace.status().counts() == {"indexed": TABLES - 1, "pending": 1}
