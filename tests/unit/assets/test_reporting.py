"""What a stage writes to the run's log while it works, and while it is silent."""

import logging
import threading
import time

import dagster as dg
import pytest

from pneuma_assets.assets import report as stage_report
from pneuma_assets.assets.report import beating
from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.pipeline.embed import EmbeddingBlocksFigures
from pneuma_assets.core.progress import listening, report, working
from pneuma_assets.core.store import Store

LOG = logging.getLogger("run")


def test_what_begins_is_logged_at_once_and_the_rest_seldom(caplog):
    caplog.set_level(logging.INFO)
    with beating(LOG, "stage") as hear, listening(hear), working("loading m (269 MB)"):
        for done in range(50):
            report("schema narrations", done, 50)
    assert caplog.messages == ["loading m (269 MB)", "schema narrations: 0 of 50"]


def test_silence_is_broken_by_what_was_said_last(caplog):
    caplog.set_level(logging.INFO)
    with beating(LOG, "stage", silence_s=0.05) as hear, listening(hear):
        _wait_for(caplog, "still, after 0 s: stage")
        report("loading m (269 MB)", 0, 0)
        _wait_for(caplog, "still, after 0 s: loading m (269 MB)")


def test_the_log_is_still_when_the_stage_has_failed(caplog):
    caplog.set_level(logging.INFO)
    before = threading.active_count()
    with pytest.raises(ModelError), beating(LOG, "stage", silence_s=0.02):
        raise ModelError("gone")
    assert threading.active_count() == before
    said = len(caplog.messages)
    time.sleep(0.1)
    assert len(caplog.messages) == said


def test_a_run_that_loads_a_model_is_heard_in_dagsters_log(tmp_path, monkeypatch):
    monkeypatch.setattr(
        stage_report, "beating", lambda log, name: beating(log, name, silence_s=0.05)
    )

    @dg.asset
    def slow(context: dg.AssetExecutionContext) -> None:
        def load() -> EmbeddingBlocksFigures:
            report("loading m (269 MB)", 0, 0)
            time.sleep(0.3)
            return EmbeddingBlocksFigures()

        with Store(tmp_path / "state.db") as store:
            stage_report.run_stage(context, store, load)

    with dg.DagsterInstance.ephemeral() as instance:
        run_id = dg.materialize([slow], instance=instance).run_id
        said = [entry.user_message for entry in instance.all_logs(run_id)]
    assert any(line.startswith("still, after 0 s: loading m") for line in said)


def _wait_for(caplog, message: str) -> None:
    until = time.monotonic() + 20
    while message not in caplog.messages:
        assert time.monotonic() < until, caplog.messages
        time.sleep(0.01)
