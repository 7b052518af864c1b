"""Names of one deployment are nobody else's."""

import pytest

from pneuma_assets.assets.stages import STAGES
from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.definitions import build_definitions
from pneuma_assets.resources.names import STAGE_NAMES, Names


@pytest.mark.parametrize(
    ("file", "key", "job"),
    [
        ("sources: []", "pneuma/search_index", "pneuma_index_tables"),
        ("name: sales", "pneuma/sales/search_index", "pneuma_sales_index_tables"),
        ("dagster: {key_prefix: team/a-b.c}", "team/a-b.c/search_index", "team_a_b_c_index_tables"),
        ("{name: sales, dagster: {key_prefix: x}}", "x/search_index", "x_index_tables"),
        ("dagster: {key_prefix: 2026/a}", "2026/a/search_index", "_2026_a_index_tables"),
    ],
)
def test_names_begin_with_the_prefix(tmp_path, file, key, job):
    (tmp_path / "pneuma.yaml").write_text(file)
    names = Names.of(load_deployment(tmp_path / "pneuma.yaml", environ={}).deployment)
    assert names.key("search_index").to_user_string() == key
    assert names("index_tables") == job
    assert names.resource("pneuma_index_tables") == job


@pytest.mark.parametrize(
    "file", ["name: optimise", "name: a_optimise", "dagster: {key_prefix: team/optimise}"]
)
def test_a_name_that_makes_names_of_another_deployment_is_refused(tmp_path, file):
    (tmp_path / "pneuma.yaml").write_text(file)
    loaded = load_deployment(tmp_path / "pneuma.yaml", environ={})
    with pytest.raises(ConfigError, match="'optimise'"):
        build_definitions(loaded)


@pytest.mark.parametrize("name", ["optimised", "optimise_a", "schedule", "index_tables"])
def test_no_two_deployments_share_a_name_of_a_job_schedule_sensor_or_resource(tmp_path, name):
    found = []
    for file in ("sources: []", f"name: {name}", "name: sales", f"name: sales_{name}"):
        (tmp_path / "pneuma.yaml").write_text(file)
        made = build_definitions(load_deployment(tmp_path / "pneuma.yaml", environ={}))
        found += {one.name for one in (*made.jobs, *made.schedules, *made.sensors)}
        found += made.resources
    assert len(found) == len(set(found)) > 60


def test_the_names_of_stages_are_kept_free():
    assert {stage.name for stage in STAGES} == STAGE_NAMES
