"""Names of one deployment are nobody else's."""

import pytest

from pneuma_assets.assets.stages import STAGES
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.definitions import build_definitions
from pneuma_assets.resources.names import STAGE_NAMES, Names
from tests.support.deployment_files import deploy


def prefixed(prefix: str) -> dict[str, object]:
    return {"dagster": {"key_prefix": prefix}}


@pytest.mark.parametrize(
    ("said", "key", "job"),
    [
        ({}, "pneuma/search_index", "pneuma_index_tables"),
        ({"name": "sales"}, "pneuma/sales/search_index", "pneuma_sales_index_tables"),
        (prefixed("team/a-b.c"), "team/a-b.c/search_index", "team_a_b_c_index_tables"),
        ({"name": "sales", **prefixed("x")}, "x/search_index", "x_index_tables"),
        (prefixed("2026/a"), "2026/a/search_index", "_2026_a_index_tables"),
    ],
)
def test_names_begin_with_the_prefix(tmp_path, said, key, job):
    names = Names.of(deploy(tmp_path, **said).deployment)
    assert names.key("search_index").to_user_string() == key
    assert names("index_tables") == job
    assert names.resource("pneuma_index_tables") == job


@pytest.mark.parametrize(
    "said", [{"name": "optimise"}, {"name": "a_optimise"}, prefixed("team/optimise")]
)
def test_a_name_that_makes_names_of_another_deployment_is_refused(tmp_path, said):
    loaded = deploy(tmp_path, **said)
    with pytest.raises(ConfigError, match="'optimise'"):
        build_definitions(loaded)


@pytest.mark.parametrize("name", ["optimised", "optimise_a", "schedule", "index_tables"])
def test_no_two_deployments_share_a_name_of_a_job_schedule_sensor_or_resource(tmp_path, name):
    found = []
    for said in ({}, *({"name": one} for one in (name, "sales", f"sales_{name}"))):
        made = build_definitions(deploy(tmp_path, **said))
        found += {one.name for one in (*made.jobs, *made.schedules, *made.sensors)}
        found += made.resources
    assert len(found) == len(set(found)) > 60


def test_the_names_of_stages_are_kept_free():
    assert {stage.name for stage in STAGES} == STAGE_NAMES
