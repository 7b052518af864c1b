"""What a deployment's file says of its assets, jobs and schedules is what Dagster is told."""

from collections.abc import Callable

import dagster as dg
import pytest
from pydantic import ValidationError

from pneuma_assets.assets.stages import STAGES, Stage
from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.config.small_sections import DagsterConfig
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.definitions import build_definitions

SECTION = """
owners: [team:lake, lake@example.org]
tags: {tier: gold}
run_tags: {team: lake, dagster-k8s/config: {container_config: {resources: {limits: {cpu: 1}}}}}
indexing_tags:
  dagster-k8s/config: {container_config: {resources: {limits: {nvidia.com/gpu: 1}}}}
gpu_pool: cards
cron: 30 2 * * *
time_zone: Europe/Berlin
"""


def first(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
    """The first of two."""
    return dg.MaterializeResult(metadata={"key": context.asset_key.to_user_string()})


def second() -> dg.MaterializeResult:
    """The second of two.

    Markdown, which an indent would make code of.
    """
    return dg.MaterializeResult()


FIRST, SECOND = Stage(first, [], "7", "gpu", ["python"]), Stage(second, ["first"], "8")


def deployed(prefix: str, **options: object) -> Deployment:
    return Deployment.model_validate({"dagster": {"key_prefix": prefix, **options}})


@pytest.fixture
def loaded(tmp_path):
    lines = "".join(f"  {line}\n" for line in SECTION.strip().splitlines())
    (tmp_path / "pneuma.yaml").write_text(f"name: sales\nhome: home\ndagster:\n{lines}")
    return load_deployment(tmp_path / "pneuma.yaml", environ={})


def test_a_stage_becomes_the_asset_of_a_deployment():
    deployment = deployed("team/lake", owners=["team:lake"], tags={"tier": "gold"})
    asset = SECOND.asset(deployment, {"duckdb"})
    (spec,) = asset.specs
    assert spec.key == dg.AssetKey(["team", "lake", "second"])
    assert [dep.asset_key for dep in spec.deps] == [dg.AssetKey(["team", "lake", "first"])]
    told = "The second of two.\n\nMarkdown, which an indent would make code of."
    assert (spec.description, spec.code_version) == (told, "8")
    assert (spec.group_name, spec.owners) == ("team_lake", ["team:lake"])
    assert (spec.tags["tier"], spec.kinds) == ("gold", {"duckdb"})
    assert asset.op.name == "team_lake_second"
    assert (asset.op.pool, FIRST.asset(deployment, FIRST.kinds).op.pool) == (None, "gpu")


def test_two_deployments_make_one_stage_each_in_one_run():
    assets = [one.asset(deployed(n), one.kinds) for n in ("a", "b") for one in (FIRST, SECOND)]
    result = dg.materialize(assets)
    keys = {event.asset_key.to_user_string() for event in result.get_asset_materialization_events()}
    assert keys == {"a/first", "a/second", "b/first", "b/second"}
    (made,) = result.asset_materializations_for_node("b_first")
    assert made.metadata["key"].value == "b/first"


def test_the_section_reaches_every_stage(loaded):
    definitions = build_definitions(loaded)
    for spec in definitions.resolve_all_asset_specs():
        assert spec.key.path[:2] == ["pneuma", "sales"]
        assert (spec.group_name, spec.owners) == ("pneuma_sales", ["team:lake", "lake@example.org"])
        assert spec.tags["tier"] == "gold"
    job = definitions.resolve_job_def("pneuma_sales_index_tables")
    pools = {node.name: node.definition.pool for node in job.nodes}
    assert {name: pools[f"pneuma_sales_{name}"] for name in (one.name for one in STAGES)} == {
        "raw_tables": None,
        "sampled_rows": None,
        "schema_narrations": "cards",
        "embedding_blocks": "cards",
        "search_index": "index_writer",
    }


def test_the_section_reaches_jobs_and_schedule(loaded):
    definitions = build_definitions(loaded)
    for name in ("index_tables", "check_tables", "optimise"):
        tags = definitions.resolve_job_def(f"pneuma_sales_{name}").run_tags
        assert tags["team"] == "lake"
        asks_for_a_gpu = "nvidia.com/gpu" in tags["dagster-k8s/config"]
        assert asks_for_a_gpu == (name == "index_tables")
    schedule = definitions.resolve_schedule_def("pneuma_sales_schedule")
    assert (schedule.cron_schedule, schedule.execution_timezone) == ("30 2 * * *", "Europe/Berlin")


def test_resources_are_overridden_by_short_names_whatever_the_deployment_is_called(loaded):
    definitions = build_definitions(loaded, overrides={"pneuma_narrator": "mine"})
    assert definitions.resources["pneuma_sales_narrator"] == "mine"
    assert {name.startswith("pneuma_sales_") for name in definitions.resources} == {True}
    with pytest.raises(ConfigError, match="no resource pneuma_narator to override"):
        build_definitions(loaded, overrides={"pneuma_narator": "mine"})


_CRONS = [
    *(
        "61 * * * *",
        "0 24 * * *",
        "0 0 0 * *",
        "0 0 32 * *",
        "* * * 13 *",
        "* * * 0 *",
        "* * * * 8",
    ),
    *("* * * * 7", "* * * jan *", "* * * foo *", "* * * * mon-fri", "*/15 * * * *", "*/0 * * * *"),
    *("1,2,61 * * * *", "0 0 L * *", "0 0 ? * *", "* * * * 5#3", "* * * * 5#6", "* * * * L5"),
    *("1-70 * * * *", "a * * * *", "-1 * * * *", "0/5 * * * *", "70/5 * * * *", "1- * * * *"),
    *(", * * * *", "00 07 * * *", "0 0 * * mon,7", "* * * *", "* * * * * *", "@daily", "@reboot"),
    *("@midnight", "@yearly", "soon", "", "0 0 1w * *"),
]


@pytest.mark.parametrize("cron", _CRONS)
def test_a_schedule_is_refused_where_the_file_is_read_as_dagster_would_refuse_it(cron):
    def takes(made: Callable[[], object], error: type[Exception]) -> bool:
        try:
            made()
        except error:
            return False
        return True

    @dg.job
    def some_job() -> None: ...

    ours = takes(lambda: DagsterConfig(cron=cron), ValidationError)
    theirs = takes(
        lambda: dg.ScheduleDefinition(job=some_job, cron_schedule=cron),
        dg.DagsterInvalidDefinitionError,
    )
    assert ours == theirs
