"""What a deployment file says arrives the same at every door, key by key."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from pneuma_assets import open_workspace
from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.load import LoadedDeployment, load_deployment
from pneuma_assets.resources.build import build_resources
from tests.support.config_keys import SOURCES, file_with, file_with_source, section_keys

Resources = dict[str, Any]

SEEN: dict[str, Callable[[Resources], object]] = {
    "home": lambda resources: Path(resources["pneuma_deployment"].home),
    "sources": lambda resources: resources["pneuma_sources"].loaded.deployment.sources,
    "privacy": lambda resources: resources["pneuma_deployment"].loaded.deployment.privacy,
    "state": lambda resources: resources["pneuma_store"].loaded.deployment.state,
    "sampling": lambda resources: resources["pneuma_deployment"].loaded.deployment.sampling,
    "models": lambda resources: resources["pneuma_deployment"].loaded.deployment.models,
    "narration": lambda resources: resources["pneuma_narrator"].config,
    "judge": lambda resources: resources["pneuma_query"].loaded.deployment.judge,
    "answers": lambda resources: resources["pneuma_query"].loaded.deployment.answers,
    "encoder": lambda resources: resources["pneuma_encoder"].config,
    "index": lambda resources: resources["pneuma_index"].config,
    "query": lambda resources: resources["pneuma_query"].loaded.deployment.query,
    "indexing": lambda resources: resources["pneuma_deployment"].loaded.deployment.indexing,
    "limits": lambda resources: resources["pneuma_sources"].loaded.deployment.limits,
    "dagster": lambda resources: resources["pneuma_deployment"].loaded.deployment.dagster,
    "name": lambda resources: resources["pneuma_deployment"].loaded.deployment.name,
    "lineage": lambda resources: resources["pneuma_deployment"].loaded.deployment.lineage,
    "web": lambda resources: resources["pneuma_deployment"].loaded.deployment.web,
    "seek": lambda resources: resources["pneuma_deployment"].loaded.deployment.seek,
    "bench": lambda resources: resources["pneuma_deployment"].loaded.deployment.bench,
}
"""Where Dagster's resources have what each key at the top of the file says."""

FILES = {
    **{".".join(keys): file_with(keys) for keys in section_keys()},
    **{
        f"sources.{kind}.{key}": file_with_source(kind, key)
        for kind, model in SOURCES.items()
        for key in model.model_fields
    },
}


def test_every_part_of_the_file_is_looked_for():
    assert SEEN.keys() == Deployment.model_fields.keys()


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
    assert SEEN[top](resources) == said
    assert resources["pneuma_deployment"].loaded == loaded
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
