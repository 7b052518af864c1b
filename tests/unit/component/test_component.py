"""A deployment in a few lines of YAML, loaded as Dagster loads a project's components."""

import re
import traceback
from pathlib import Path

import pytest
import yaml
from dagster.components.testing import create_defs_folder_sandbox
from jsonschema import Draft202012Validator

from pneuma_assets.component import PneumaComponent
from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import ConfigError

TYPE = "pneuma_assets.PneumaComponent"


@pytest.fixture
def project(monkeypatch):
    # What counts for the command line must not reach a component.
    monkeypatch.setenv("PNEUMA_CONFIG", "/nowhere/pneuma.yaml")
    monkeypatch.setenv("PNEUMA_HOME", "/nowhere")
    with create_defs_folder_sandbox() as sandbox:
        yield sandbox


def written(project, attributes: dict[str, object] | None, name: str = "search") -> Path:
    """Write the component as people do; returns its folder."""
    folder = project.defs_folder_path / name
    folder.mkdir(parents=True)
    said = {"type": TYPE} if attributes is None else {"type": TYPE, "attributes": attributes}
    (folder / "defs.yaml").write_text(yaml.safe_dump(said))
    return folder


def deployment_in(definitions, prefix: str = "pneuma") -> LoadedDeployment:
    return definitions.resources[f"{prefix}_deployment"].loaded


def test_four_lines_are_enough(project):
    folder = project.defs_folder_path / "search"
    folder.mkdir(parents=True)
    lines = ["type: pneuma_assets.PneumaComponent", "", "attributes:", "  folder: ../tables"]
    (folder / "defs.yaml").write_text("\n".join(lines))
    with project.build_all_defs() as definitions:
        loaded = deployment_in(definitions)
        assert definitions.resolve_job_def("pneuma_index_tables").executor_def.name == "in_process"
    (source,) = loaded.deployment.sources
    assert (source.name, source.folder) == ("lake", project.defs_folder_path / "tables")
    assert loaded.home == project.project_root / ".pneuma" / "pneuma"


@pytest.mark.parametrize("attributes", [None, {}, {"config": "pneuma.yaml"}])
def test_a_deployment_file_beside_it(project, attributes):
    folder = written(project, attributes)
    (folder / "pneuma.yaml").write_text("{name: sales, home: ../state, query: {trust: 0.1}}")
    with project.build_all_defs() as definitions:
        loaded = deployment_in(definitions, "pneuma_sales")
    assert (loaded.file, loaded.home) == (folder / "pneuma.yaml", folder.parent / "state")
    assert loaded.deployment.query.trust == 0.1


def test_a_whole_deployment_in_place_with_templates(project, monkeypatch):
    monkeypatch.setenv("LAKE_BUCKET", "trips")
    bucket = {"type": "s3", "name": "b", "bucket": "{{ env.LAKE_BUCKET }}"}
    one = {"name": "one", "sources": [bucket], "query": {"trust": 0.1}}
    two = {"name": "two", "home": "kept"}
    written(project, {"deployment": one}, "first")
    second = written(project, {"deployment": two}, "second")
    with project.build_all_defs() as definitions:
        first, other = (deployment_in(definitions, f"pneuma_{name}") for name in ("one", "two"))
    assert first.deployment.sources[0].bucket == "trips"
    assert first.deployment.query.trust == 0.1
    assert first.home == project.project_root / ".pneuma/pneuma/one"
    assert other.home == second / "kept"


def not_loaded(project) -> str:
    """Return all that is said of a project that must not load."""
    with pytest.raises(Exception) as caught, project.build_all_defs():  # noqa: PT011 (Dagster's)
        pass
    return "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("name", ["config", "folder", "name", "deployment"])
@pytest.mark.parametrize("given", ["{{ env.LAKE_NOT_SET }}", "", None])
def test_what_is_given_and_is_nothing_counts_as_given(project, name, given):
    folder = written(project, {name: given})
    (folder / "pneuma.yaml").write_text("name: another")
    told = rf"defs.yaml: {name}: is empty|`attributes.{name} .*`\n  Input should be"
    assert re.search(told, not_loaded(project))


def test_a_template_inside_a_deployment_is_never_nothing(project):
    written(project, {"deployment": {"name": "{{ env.LAKE_NOT_SET }}"}})
    told = "deployment.name: its template is nothing; set its variable"
    assert told in not_loaded(project)


def test_a_folder_that_is_not_there_is_named_and_loads(project, caplog):
    folder = written(project, {"folder": "lake"})
    with project.build_all_defs():
        assert f"The folder {folder / 'lake'} of source 'lake' is not there" in caplog.text
    (folder / "lake").mkdir()
    caplog.clear()
    with project.build_all_defs():
        assert "is not there" not in caplog.text


def test_two_folders_with_names_are_two_deployments(project):
    for name in ("sales", "hr"):
        written(project, {"folder": f"../{name}_files", "name": name}, name)
    with project.build_all_defs() as definitions:
        sales, hr = (deployment_in(definitions, f"pneuma_{name}") for name in ("sales", "hr"))
    assert sales.home == project.project_root / ".pneuma/pneuma/sales"
    assert hr.deployment.sources[0].folder == project.defs_folder_path / "hr_files"


def test_another_folder_is_the_same_source(tmp_path):
    # Otherwise its tables would leave with their source, and not be held as gone.
    first, other = (
        PneumaComponent(folder=name).deployment_at(tmp_path, tmp_path) for name in ("a", "b")
    )
    assert first.deployment.sources[0].name == other.deployment.sources[0].name == "lake"


@pytest.mark.parametrize(
    ("attributes", "told"),
    [
        ({"folder": " "}, "defs.yaml: folder: is empty"),
        ({"deployment": {}}, "defs.yaml: deployment: is empty"),
        ({"folder": "a", "config": "b"}, "defs.yaml: give one of config, folder and deployment"),
        ({"config": "other.yaml"}, "other.yaml does not exist; check that path"),
        ({}, "pneuma.yaml does not exist; write it, or give config or folder"),
        ({"config": "other.yaml", "name": "a"}, "defs.yaml: name: is for folder alone"),
        ({"folder": "a", "name": "a b"}, "defs.yaml: name: 'a b'"),
        (
            {"deployment": {"query": {"trst": 1}}},
            "defs.yaml: query.trst: unknown key; did you mean 'trust'?",
        ),
        (
            {"deployment": {"sources": [{"type": "folder", "name": "x"}]}},
            re.escape("defs.yaml: sources[0].path: is missing; add it"),
        ),
    ],
)
def test_what_is_wrong_is_said_in_a_line(tmp_path, attributes, told):
    with pytest.raises(ConfigError, match=told):
        PneumaComponent(**attributes).deployment_at(tmp_path, tmp_path)


def test_scaffolding_writes_what_loads_and_two_do_not_clash(project, tmp_path):
    lake = project.project_root / "lake"
    for name, params in {"sales-eu": {"folder": str(lake)}, "hr": {}}.items():
        project.scaffold_component(PneumaComponent, defs_path=name, scaffold_params=params)
    with project.build_all_defs() as definitions:
        sales, hr = (deployment_in(definitions, f"pneuma_{name}") for name in ("sales_eu", "hr"))
    assert [source.folder for source in sales.deployment.sources] == [lake]
    assert "path: ../" in sales.file.read_text(), "a project may be moved"
    assert hr.deployment.sources == ()
    assert [one.home.name for one in (sales, hr)] == ["sales_eu", "hr"]
    assert sales.home.parent == project.project_root / ".pneuma"


def test_scaffolding_keeps_a_deployment_file(project):
    file = project.defs_folder_path / "kept" / "pneuma.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("name: mine")
    project.scaffold_component(PneumaComponent, defs_path="kept")
    assert file.read_text() == "name: mine"


def test_the_schema_is_that_of_the_deployment_file():
    schema = PneumaComponent.get_model_cls().model_json_schema()
    assert schema["properties"].keys() == {"config", "folder", "name", "deployment"}
    deployment = schema["properties"]["deployment"]
    assert deployment["properties"].keys() == Deployment.model_fields.keys()
    assert deployment["additionalProperties"] is False


_FIRST = ["deployment", "sources", 0]


def _source(**entry: str) -> dict[str, object]:
    return {"sources": [entry]}


@pytest.mark.parametrize(
    ("given", "key", "told"),
    [
        ({"query": {"trst": 1}}, ["deployment", "query"], "'trst' was unexpected"),
        ({"qery": {}}, ["deployment"], "'qery' was unexpected"),
        ({"query": {"trust": "x"}}, ["deployment", "query", "trust"], "'x' is not of type"),
        (_source(type="folder", name="lake", pth="x"), _FIRST, "'pth' was unexpected"),
        (_source(type="sql", name="db", ulr="x"), _FIRST, "'ulr' was unexpected"),
        (_source(type="foldr", name="x"), [*_FIRST, "type"], "'foldr' is not one of"),
        (_source(name="x"), _FIRST, "'type' is a required property"),
    ],
)
def test_the_schema_says_which_key_is_wrong(given, key, told):
    schema = PneumaComponent.get_model_cls().model_json_schema()
    errors = Draft202012Validator(schema).iter_errors({"deployment": given})
    assert (key, True) in [(list(one.absolute_path), told in one.message) for one in errors]


def test_the_schema_takes_every_kind_of_source():
    schema = PneumaComponent.get_model_cls().model_json_schema()
    entries = [
        {"type": "folder", "name": "lake", "path": "lake"},
        {"type": "s3", "name": "bucket", "bucket": "lake"},
        {"type": "duckdb", "name": "file", "path": "a.duckdb"},
        {"type": "sql", "name": "db", "url": "postgresql://db/shop"},
    ]
    for entry in entries:
        Deployment.model_validate({"sources": [entry]})
    assert not [*Draft202012Validator(schema).iter_errors({"deployment": {"sources": entries}})]
