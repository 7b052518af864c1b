"""What a deployment file says arrives the same at every door, key by key."""

import dagster as dg
import pytest
import yaml

from pneuma_assets import open_workspace
from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.load import LoadedDeployment, load_deployment
from pneuma_assets.resources.build import build_resources
from tests.support.config_keys import SOURCES, file_with, file_with_source, section_keys

CONFIGS = {"narration": "pneuma_narrator", "encoder": "pneuma_encoder", "index": "pneuma_index"}
"""Resources that have one section of the file; others have the whole of it."""

FILES = {
    **{".".join(keys): file_with(keys) for keys in section_keys()},
    **{
        f"sources.{kind}.{key}": file_with_source(kind, key)
        for kind, model in SOURCES.items()
        for key in model.model_fields
    },
}


@pytest.mark.parametrize("key", FILES)
def test_a_key_arrives_at_every_door(tmp_path, monkeypatch, key):
    for name in ("PNEUMA_CONFIG", "PNEUMA_HOME"):
        monkeypatch.delenv(name, raising=False)
    top = key.partition(".")[0]
    file = tmp_path / "pneuma.yaml"
    file.write_text(yaml.safe_dump(FILES[key]))
    with open_workspace(file) as workspace:
        loaded = workspace.loaded
    said = getattr(loaded.deployment, top)
    assert said != getattr(Deployment(), top), "the value is not the default"
    resources = build_resources(loaded)
    if top in CONFIGS:
        assert resources[CONFIGS[top]].config == said
    whole = {name: one for name, one in resources.items() if hasattr(one, "loaded")}
    assert whole.keys() >= {f"pneuma_{one}" for one in ("deployment", "sources", "store", "query")}
    assert all(one.loaded == loaded for one in whole.values())
    assert build_resources(load_deployment(file))["pneuma_deployment"].loaded == loaded


def test_a_run_sees_what_the_file_says(tmp_path):
    (tmp_path / "pneuma.yaml").write_text(
        "query: {trust: 0.1}\nmodels: {m: {model: x, device: cpu}}\njudge: {model: m}\n"
    )
    loaded = load_deployment(tmp_path / "pneuma.yaml", environ={})
    assert seen_in_a_run(loaded) == loaded


def seen_in_a_run(loaded: LoadedDeployment) -> LoadedDeployment:
    """The deployment after Dagster has taken it through its own configuration."""
    deployment = build_resources(loaded)["pneuma_deployment"]
    with dg.build_resources({"pneuma_deployment": deployment}) as resources:
        found: LoadedDeployment = resources.pneuma_deployment.loaded
        return found
