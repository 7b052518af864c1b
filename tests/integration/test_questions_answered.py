"""The check of a deployment's own questions, as Dagster's instance keeps it.

The lake, the runs and the index are real ones; only the encoder is small.
"""

from collections.abc import Sequence

import dagster as dg
import pytest

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.config.query import QueryConfig, QueryOptions
from pneuma_assets.core.store import Store
from pneuma_assets.definitions import build_definitions
from pneuma_assets.sensors.checks import changed_verdicts
from tests.support.mined_lake import write_lake
from tests.support.pipeline_support import deployment, run_job

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("small_encoder", "read_here")]

KEY = dg.AssetCheckKey(dg.AssetKey(["pneuma", "search_index"]), "questions_answered")
BENCH = {"mined": True}
SPOILT = {"trust": 0.03}
"""Stands for an option by which questions are answered badly."""


@pytest.fixture(autouse=True)
def _spoilt_by_trust(monkeypatch):
    def of(config: QueryConfig) -> QueryOptions:
        worse = {"alpha": 1.0} if config.trust == SPOILT["trust"] else {}
        return QueryOptions(**dict(config), **worse)

    monkeypatch.setattr(QueryOptions, "of", of)


def told(instance: dg.DagsterInstance) -> dg.AssetCheckEvaluation:
    """Return how the check came out last, from the instance's own record."""
    found = instance.event_log_storage.get_latest_asset_check_execution_by_key([KEY])
    evaluation = found[KEY].evaluation
    assert isinstance(evaluation, dg.AssetCheckEvaluation)
    return evaluation


def news(loaded: LoadedDeployment, instance: dg.DagsterInstance) -> Sequence[str]:
    with Store(loaded.home / "state.db") as store:
        return changed_verdicts(loaded, store, instance)


def check(loaded: LoadedDeployment, instance: dg.DagsterInstance) -> None:
    """Run the checks alone, as a tick asks for them."""
    job = build_definitions(loaded, with_tables=False).resolve_job_def("pneuma_check_tables")
    assert job.execute_in_process(instance=instance).success


def figure(told: dg.AssetCheckEvaluation, name: str) -> float:
    value = told.metadata[name]
    assert isinstance(value, dg.IntMetadataValue | dg.FloatMetadataValue)
    return float(value.value or 0)


def test_a_spoilt_option_turns_the_check_red_until_it_is_taken_back(tmp_path, instance):
    lake = write_lake(tmp_path)
    loaded = deployment(tmp_path, lake, bench=BENCH)
    run_job(loaded, instance)
    first = told(instance)
    assert first.passed
    assert figure(first, "questions") == 50
    assert figure(first, "R@1") > 0.8
    assert news(loaded, instance) == []

    spoilt = deployment(tmp_path, lake, bench=BENCH, query=SPOILT)
    for passed, now in ((False, spoilt), (True, loaded)):
        assert news(now, instance) == ["questions_answered"], "other options"
        check(now, instance)
        assert told(instance).passed is passed
        assert news(now, instance) == [], "people know"
        if not passed:
            assert_names_what_got_worse(told(instance), first)
            check(now, instance)
            assert not told(instance).passed, "nor does it pass by being run twice"
    with Store(loaded.home / "state.db") as store:
        assert [one.number for one in store.questions.measurements()] == [1, 2, 3]


def assert_names_what_got_worse(
    red: dg.AssetCheckEvaluation, before: dg.AssetCheckEvaluation
) -> None:
    assert red.severity is dg.AssetCheckSeverity.ERROR
    assert "bench mine --accept" in (red.description or "").replace("\\", "")
    assert figure(red, "R@1") <= figure(before, "R@1") - 0.1
    table = str(red.metadata["cases"].value)
    assert table.count("\n") - 1 == figure(red, "worse") >= 4
    assert "value" in table
    assert "Where is" not in table, "questions hold cells; dagster.show_rows shows them"
