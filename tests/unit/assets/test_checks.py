"""The checks in Dagster: one step, figures that plot, and runs of them only for news."""

import html
import re
from datetime import UTC, datetime
from typing import Any

import dagster as dg
import pytest
from markdown_it import MarkdownIt

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import Problem, TableRef
from pneuma_assets.definitions import build_definitions
from tests.support.deployment_files import deploy, folder_source
from tests.support.pipeline_support import deployment, run_job, small_lake

NAMES = ["every_table_indexed", "every_table_readable", "block_counts_agree", "no_removals_held"]


@pytest.fixture
def instance(kept_instance):
    return kept_instance


def tick(definitions: dg.Definitions, instance: dg.DagsterInstance) -> Any:
    """Evaluate the schedule of the checks as the daemon does."""
    schedule = definitions.resolve_schedule_def("pneuma_hourly_checks")
    with dg.build_schedule_context(
        instance=instance,
        resources=definitions.resources,
        scheduled_execution_time=datetime.now(UTC),
    ) as context:
        return schedule.evaluate_tick(context)


def evaluations(result: dg.ExecuteInProcessResult) -> dict[str, dg.AssetCheckEvaluation]:
    return {event.check_name: event for event in result.get_asset_check_evaluations()}


def test_sources_with_names_that_dagster_does_not_take_have_checks(tmp_path):
    sources = [folder_source(".", name) for name in ("a.b", "a_b", "a-b")]
    loaded = deploy(tmp_path, *sources, name="sales")
    job = build_definitions(loaded).resolve_job_def("pneuma_sales_check_tables")
    keys = job.asset_layer.asset_graph.asset_check_keys
    assert {key.name for key in keys} == {*NAMES, "listed_a_b", "listed_a_b_2", "listed_a_b_3"}
    assert {key.asset_key.path[:2] == ["pneuma", "sales"] for key in keys} == {True}
    assert [node.name for node in job.nodes] == ["pneuma_sales_checks"]


def test_the_checks_of_one_asset_can_be_run_by_themselves(tmp_path, instance):
    loaded = deployment(tmp_path, small_lake(tmp_path))
    definitions = build_definitions(loaded, with_tables=False)
    chosen = dg.AssetCheckKey(dg.AssetKey(["pneuma", "search_index"]), "no_removals_held")
    job = dg.Definitions(
        assets=definitions.assets,
        asset_checks=definitions.asset_checks,
        resources=definitions.resources,
        jobs=[dg.define_asset_job("one", selection=dg.AssetSelection.checks(chosen))],
    ).resolve_job_def("one")
    result = job.execute_in_process(instance=instance)
    assert list(evaluations(result)) == ["no_removals_held"]


def test_checks_before_anything_was_indexed_begin_no_index(tmp_path, instance):
    loaded = deployment(tmp_path, small_lake(tmp_path))
    definitions = build_definitions(loaded, with_tables=False)
    check(definitions, instance)
    assert [path.name for path in loaded.home.iterdir() if "index" in path.name] == []
    assert not (loaded.home / "encoders.json").exists()


def test_checks_are_run_again_only_for_news(tmp_path, instance):
    lake = small_lake(tmp_path, tables=12)
    loaded = deployment(tmp_path, lake)
    definitions = build_definitions(loaded, with_tables=False)
    run_job(loaded, instance)
    for _ in range(3):
        assert "otherwise" in tick(definitions, instance).skip_message, "an unchanged lake"

    lake.rename(tmp_path / "away")
    lake.mkdir()
    with Store(loaded.home / "state.db") as store:
        store.listings.sync("lake", [])  # as a tick of the sensor does
    assert len(tick(definitions, instance).run_requests) == 1
    job = definitions.resolve_job_def("pneuma_check_tables")
    found = evaluations(job.execute_in_process(instance=instance))
    held = found["no_removals_held"]
    assert (held.passed, held.severity) == (False, dg.AssetCheckSeverity.ERROR)
    assert "--accept-removals" in held.description
    figures = {
        name: value.value
        for name, value in found["every_table_indexed"].metadata.items()
        if isinstance(value, dg.IntMetadataValue | dg.FloatMetadataValue)
    }
    assert figures.pop("hours since the oldest listing") >= 0
    assert figures == {"tables": 12, "indexed": 12, "waiting": 0, "problems": 1, "held": 12}
    assert tick(definitions, instance).run_requests == [], "people know"

    with Store(loaded.home / "state.db") as store:
        store.listings.sync("lake", [], rule=None)
    assert len(tick(definitions, instance).run_requests) == 1, "it is well again"


def test_what_a_terminal_was_told_is_news_to_the_team(tmp_path, instance):
    """Somebody ran the checks on another Dagster instance, as a command line does."""
    loaded = deployment(tmp_path, small_lake(tmp_path, tables=0))
    definitions = build_definitions(loaded, with_tables=False)
    empty_a_source(loaded, "lake")
    (tmp_path / "terminal").mkdir()
    with dg.DagsterInstance.local_temp(str(tmp_path / "terminal")) as terminal:
        check(definitions, terminal)
        assert tick(definitions, terminal).run_requests == []
    assert len(tick(definitions, instance).run_requests) == 1
    check(definitions, instance)
    assert tick(definitions, instance).run_requests == []


def test_a_run_that_did_not_come_to_its_checks_has_told_nothing(tmp_path, instance):
    loaded = deployment(tmp_path, small_lake(tmp_path, tables=0))
    definitions = build_definitions(loaded, with_tables=False)
    empty_a_source(loaded, "lake")
    check(definitions, instance)
    job = definitions.resolve_job_def("pneuma_check_tables")
    for _ in range(2):
        killed = instance.create_run_for_job(job, status=dg.DagsterRunStatus.CANCELED)
    key = dg.AssetCheckKey(dg.AssetKey(["pneuma", "search_index"]), "no_removals_held")
    latest = instance.event_log_storage.get_latest_asset_check_execution_by_key([key])
    assert latest[key].run_id == killed.run_id, "it was planned"
    assert tick(definitions, instance).run_requests == [], "people know from the run before"


def test_a_second_accident_is_news_and_another_figure_is_none(tmp_path, instance):
    loaded = deployment(tmp_path, small_lake(tmp_path, tables=0))
    definitions = build_definitions(loaded, with_tables=False)
    empty_a_source(loaded, "lake")
    check(definitions, instance)
    empty_a_source(loaded, "lake", more=3)
    assert tick(definitions, instance).run_requests == [], "fifteen are held instead of twelve"
    empty_a_source(loaded, "hill")
    assert len(tick(definitions, instance).run_requests) == 1
    check(definitions, instance)
    assert tick(definitions, instance).run_requests == []
    with Store(loaded.home / "state.db") as store:
        store.problems.record("lake", "listing", [Problem("lake", "listing", "it is away")])
    assert len(tick(definitions, instance).run_requests) == 1, "a problem beside others"


LURE = "![x](https:/evil.example) www.evil.example <b>*_a_* |"


def test_names_of_strangers_are_shown_and_not_obeyed(tmp_path, instance):
    loaded = deployment(tmp_path, small_lake(tmp_path, tables=0))
    empty_a_source(loaded, "lake", called=LURE)
    job = build_definitions(loaded, with_tables=False).resolve_job_def("pneuma_check_tables")
    held = evaluations(job.execute_in_process(instance=instance))["no_removals_held"]
    table = held.metadata["cases"].value
    markdown = MarkdownIt("gfm-like", {"linkify": False})
    for said in (held.description, table):
        shown = markdown.render(said)
        assert html.escape(LURE, quote=False) in shown
        assert re.findall(r"<(?:img|a|b|em|strong|code)\b", shown) == []
        assert r"www\.evil" in said, "nor does the UI make an address of it"
    assert markdown.render(table).count("<tr>") == 1 + 12


def empty_a_source(loaded: LoadedDeployment, source: str, more: int = 0, called: str = "t") -> None:
    """Let a listing show a dozen tables, and the next one none."""
    with Store(loaded.home / "state.db") as store:
        for tables in (12 + more, 0):
            refs = [
                TableRef(f"{source}/{called}{n}", source, "/t", "csv", "1") for n in range(tables)
            ]
            store.listings.sync(source, refs)


def check(definitions: dg.Definitions, instance: dg.DagsterInstance) -> None:
    """Run the checks alone."""
    job = definitions.resolve_job_def("pneuma_check_tables")
    assert job.execute_in_process(instance=instance).success
