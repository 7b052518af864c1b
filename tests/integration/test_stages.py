"""Each stage takes what is ready: by itself, with others left out, or executed again."""

from contextlib import contextmanager

import dagster as dg
import pytest

from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.service.workspace import Workspace
from tests.support.fake_model import FakeLanguageModel
from tests.support.pipeline_support import CountingNarrator, deployment, small_lake
from tests.support.whole_job import FILE, whole_job

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("small_encoder", "read_here")]

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
def test_a_run_that_failed_is_executed_again_from_where_it_failed(loaded, kept_instance):
    with executed_again(kept_instance, fail(kept_instance)) as result:
        begun = [event.step_key for event in result.all_events if event.is_step_start]
        steps = [step.removeprefix("pneuma_") for step in begun]
        assert [step for step in steps if step in STAGES] == STAGES[2:]
        checks = result.get_asset_check_evaluations()
        assert len(checks) == 5
        assert all(check.passed for check in checks)
    assert answers(loaded)
