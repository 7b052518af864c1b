"""From the deployment file to the engine: which one is opened, and how secrets travel."""

import dagster as dg
import pytest
from dagster._serdes import serialize_value

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.errors import ConfigError, SearchIndexError
from pneuma_assets.core.index.registry import Credentials, index_credentials, publish_index, reindex
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.definitions import build_definitions
from pneuma_assets.resources.build import build_resources
from tests.support.deployment_files import deploy, folder_source

SECRET = "c2VjcmV0LXNlY3JldA"
NOWHERE = "http://127.0.0.1:1"
BY_KEY = {"api_key_env": "PNEUMA_TEST_SECRET"}
BY_PASSWORD = {"username": "eve", "password_env": "PNEUMA_TEST_SECRET"}


@pytest.fixture
def deployed(tmp_path, monkeypatch):
    """Return a deployment on Elasticsearch whose server nobody can reach."""
    monkeypatch.setattr(ElasticsearchConfig, "patience_seconds", 0.0)

    def load(engine: str = "elasticsearch", **options: object):
        lake = tmp_path / "lake"
        lake.mkdir(exist_ok=True)
        (lake / "t.csv").write_text("a,b\n1,2\n")
        server = {"urls": [NOWHERE], **options}
        index = {"engine": engine, "elasticsearch": server}
        return deploy(tmp_path, folder_source("lake"), index=index)

    return load


@pytest.fixture
def secret(monkeypatch):
    monkeypatch.setenv("PNEUMA_TEST_SECRET", SECRET)


@pytest.mark.parametrize("options", [BY_KEY, BY_PASSWORD])
def test_secrets_stay_names_of_variables(deployed, secret, options):
    loaded = deployed(**options)
    definitions = build_definitions(loaded)
    job = definitions.resolve_job_def("pneuma_index_tables")
    kept = serialize_value(job.get_job_snapshot())  # what Dagster stores and the UI shows
    assert "PNEUMA_TEST_SECRET" in kept
    assert SECRET not in kept
    assert SECRET not in repr(definitions)


@pytest.mark.parametrize("options", [BY_KEY, BY_PASSWORD])
def test_a_run_reads_the_secret_and_never_shows_it(deployed, secret, options):
    index = build_resources(deployed(**options))["pneuma_index"]
    with index.process_config_and_initialize_cm() as ready:
        assert SECRET not in f"{ready!r} {ready} {ready.encoder!r}"
        with pytest.raises(SearchIndexError) as raised:
            ready.publish("none")
    assert SECRET not in f"{raised.value} {raised.value.__cause__!r}"


@pytest.mark.parametrize("options", [BY_KEY, BY_PASSWORD])
def test_a_failed_run_keeps_the_secret_out_of_its_events(deployed, secret, options):
    job = build_definitions(deployed(**options)).resolve_job_def("pneuma_index_tables")
    with dg.DagsterInstance.ephemeral() as instance:
        result = job.execute_in_process(
            instance=instance,
            raise_on_error=False,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )
        logged = instance.all_logs(result.run_id)
    assert not result.success
    told = " ".join(f"{event!r} {event.user_message}" for event in logged)
    assert "Check index.elasticsearch.urls" in told
    assert SECRET not in told


def test_the_embedded_engine_needs_no_secret(deployed):
    loaded = deployed("embedded", **BY_KEY)
    assert index_credentials(loaded.deployment.index, {}) == Credentials()
    with Workspace(loaded, {}) as workspace:
        assert workspace.inspect_index() is None


@pytest.mark.parametrize(
    ("options", "key"), [(BY_KEY, "api_key_env"), (BY_PASSWORD, "password_env")]
)
@pytest.mark.parametrize(
    "use",
    [
        lambda workspace: workspace.inspect_index(),
        lambda workspace: workspace.search_index,
        lambda workspace: workspace.reindex(),
        lambda workspace: workspace.copy_index("embedded", "elasticsearch"),
        lambda workspace: workspace.copy_index("elasticsearch", "embedded"),
    ],
    ids=["status", "search", "reindex", "copy there", "copy back"],
)
def test_a_variable_that_is_not_set_is_told(deployed, options, key, use):
    with (
        Workspace(deployed(**options), {}) as workspace,
        pytest.raises(ConfigError, match=f"index.elasticsearch.{key}: .*PNEUMA_TEST_SECRET is not"),
    ):
        use(workspace)


@pytest.mark.parametrize(
    ("engine", "kinds"), [("embedded", {"sqlite"}), ("elasticsearch", {"elasticsearch"})]
)
def test_the_graph_shows_the_engine(deployed, engine, kinds):
    specs = {
        spec.key.to_user_string(): spec
        for spec in build_definitions(deployed(engine=engine)).resolve_all_asset_specs()
    }
    assert specs["pneuma/search_index"].kinds == kinds
    assert specs["pneuma/raw_tables"].kinds.isdisjoint(kinds)
    assert [len(specs), specs["pneuma/search_index"].group_name] == [5, "pneuma"]


def test_one_engine_does_not_change_the_graph_of_the_next(deployed):
    build_definitions(deployed())
    graph = build_definitions(deployed(engine="embedded")).resolve_all_asset_specs()
    assert not any("elasticsearch" in spec.kinds for spec in graph)


def test_asking_builds_nothing_and_a_home_is_not_made(deployed):
    loaded = deployed()
    with Workspace(loaded, {}) as workspace:
        found = workspace.inspect_index()
    assert found is not None
    assert found.health.startswith("unknown: ")
    assert "index.elasticsearch.urls" in found.health
    assert found.details["address"] == NOWHERE
    assert not loaded.home.exists()


def test_the_embedded_engine_has_nothing_to_swap(deployed, tmp_path):
    config = deployed(engine="embedded").deployment.index
    assert publish_index(config, tmp_path, "none") is False
    with pytest.raises(SearchIndexError, match="run 'pneuma-assets index'"):
        reindex(config, tmp_path)
