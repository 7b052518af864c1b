"""What the command line reads from a deployment file reaches Dagster's resources, key by key."""

import dataclasses
from collections.abc import Iterator

import pytest
from pydantic import BaseModel, create_model

from pneuma_assets.core.config.deployment import Deployment, LimitsConfig
from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.definitions import build_resources

SECTIONS = [
    name
    for name, field in Deployment.model_fields.items()
    if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
]


def texts(value: object) -> Iterator[str]:
    """Every text in a configuration, however deep."""
    if isinstance(value, BaseModel):
        value = {name: getattr(value, name) for name in type(value).model_fields}
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list | tuple):
        for one in value:
            yield from texts(one)
    elif isinstance(value, str):
        yield value


def with_new_key(model: BaseModel) -> BaseModel:
    """The same section with a key that nobody has thought of yet, and so in its sections."""
    wider = create_model("Wider", __base__=type(model), new_key=(str, "new value"))
    inner = {
        name: with_new_key(value)
        for name in type(model).model_fields
        if isinstance(value := getattr(model, name), BaseModel)
    }
    return wider.model_construct(**{**dict(model), **inner}, new_key="new value")


@pytest.mark.parametrize("section", SECTIONS)
def test_a_new_key_of_a_section_reaches_the_resources(tmp_path, section):
    loaded = load_deployment(home=tmp_path, environ={}, cwd=tmp_path)
    wider = with_new_key(getattr(loaded.deployment, section))
    deployment = loaded.deployment.model_copy(update={section: wider})
    resources = build_resources(dataclasses.replace(loaded, deployment=deployment))
    found = [name for name, one in resources.items() if "new value" in list(texts(one))]
    assert found, f"no resource sees a new key of {section}"


def test_the_resources_hand_back_what_the_file_says(tmp_path):
    (tmp_path / "pneuma.yaml").write_text(
        "sampling: {rows: 2, seed: 9}\n"
        "indexing: {tables_per_run: 7, max_attempts: 2, row_change: 0.5}\n"
        "query: {k: 3, n: 4, alpha: 0.25}\n"
        "encoder: {device: cpu}\n"
        "narration: {enabled: false, max_new_tokens: 9}\n"
        "judge: {enabled: true, max_batch: 3}\n"
        "index: {analyzer: german}\nlimits: {columns: 7}\n"
        "dagster: {key_prefix: team/lake}\n"
    )
    loaded = load_deployment(tmp_path / "pneuma.yaml", environ={})
    resources = build_resources(loaded)
    options = resources["pneuma_options"]
    for section, resource in {
        "sampling": options.sampling,
        "indexing": options.indexing,
        "dagster": options.dagster,
        "query": resources["pneuma_query"].config,
        "encoder": resources["pneuma_encoder"].config,
        "narration": resources["pneuma_narrator"].config,
        "judge": resources["pneuma_judge"].config,
        "limits": LimitsConfig.model_validate(resources["pneuma_sources"].limits),
        "index": resources["pneuma_index"].config,
    }.items():
        assert resource == getattr(loaded.deployment, section), section
