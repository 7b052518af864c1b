"""A function written for resources by short names, in a code location of several deployments."""

import inspect
from collections.abc import Iterator

import dagster as dg

from pneuma_assets.resources.names import Names, bind_resources


class Box(dg.ConfigurableResource):
    """Holds a word."""

    word: str


class Asked(dg.Config):
    """Is no resource, so its parameter keeps its name."""

    times: int = 1


def said(context: dg.AssetExecutionContext, config: Asked, pneuma_box: Box) -> dg.MaterializeResult:
    """A word, as often as asked."""
    return dg.MaterializeResult(metadata={"said": pneuma_box.word * config.times})


def checked(pneuma_box: Box) -> Iterator[dg.AssetCheckResult]:
    """Yields, as checks of several things in one step do."""
    yield dg.AssetCheckResult(passed=pneuma_box.word == "b", check_name="checked")


def asking(context: dg.ScheduleEvaluationContext, pneuma_box: Box) -> dg.RunRequest:
    return dg.RunRequest(pneuma_box.word)


def watching(context: dg.SensorEvaluationContext, pneuma_box: Box) -> dg.SkipReason:
    return dg.SkipReason(pneuma_box.word)


BOXES = {"pneuma_a_box": Box(word="a"), "pneuma_b_box": Box(word="b")}


def test_resources_are_renamed_and_nothing_else():
    shown = bind_resources(said, Names("team/x"))
    parameters = inspect.signature(shown).parameters
    assert list(parameters) == ["context", "config", "team_x_box"]
    assert parameters["team_x_box"].annotation is Box
    assert (shown.__name__, shown.__doc__) == ("said", said.__doc__)
    assert list(inspect.signature(said).parameters) == ["context", "config", "pneuma_box"]


def test_each_deployment_has_its_own_resource_in_one_run():
    made = [
        dg.asset(key=name)(bind_resources(said, Names(f"pneuma/{name}"))) for name in ("a", "b")
    ]
    check = dg.multi_asset_check(name="all", specs=[dg.AssetCheckSpec("checked", asset="b")])
    result = dg.materialize(
        [*made, check(bind_resources(checked, Names("pneuma/b")))],
        resources=BOXES,
        run_config={"ops": {"b": {"config": {"times": 3}}}},
    )
    told = [m.metadata["said"].value for name in "ab" for m in made_by(result, name)]
    assert told == ["a", "bbb"]
    assert [one.passed for one in result.get_asset_check_evaluations()] == [True]


def made_by(result, node):
    return result.asset_materializations_for_node(node)


def test_schedules_and_sensors_get_theirs():
    job = dg.define_asset_job("job")
    names = Names("pneuma/b")
    schedule = dg.schedule(job=job, cron_schedule="@daily")(bind_resources(asking, names))
    sensor = dg.sensor(job=job)(bind_resources(watching, names))
    assert schedule(dg.build_schedule_context(resources=BOXES)).run_key == "b"
    assert sensor(dg.build_sensor_context(resources=BOXES)).skip_message == "b"
