"""The documentation and the example name every key there is, with its true default."""

import re
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from pneuma_assets.core.config import Deployment, SourceConfig
from pneuma_assets.core.config_file import load_deployment

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs" / "configuration.md"
EXAMPLE = ROOT / "examples" / "pneuma.yaml"

SOURCES: dict[str, type[BaseModel]] = {
    f"sources, type: {model.model_fields['type'].default}": model
    for model in get_args(get_args(SourceConfig)[0])
}
SECTIONS: dict[str, type[BaseModel]] = {
    name: field.annotation
    for name, field in Deployment.model_fields.items()
    if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
}
MODELS = {"Top level": Deployment} | SOURCES | SECTIONS
KEYS = [(title, key) for title, model in MODELS.items() for key in model.model_fields]


def documented(title: str) -> dict[str, list[str]]:
    """The rows of the table under one heading: key -> the row's other cells."""
    text = DOCS.read_text(encoding="utf-8").replace("`", "")
    (part,) = re.findall(
        rf"^### {re.escape(title)}$(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL
    )
    rows = {}
    for line in part.splitlines():
        if line.startswith("| ") and not line.startswith(("| key", "| ---")):
            names, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            rows |= dict.fromkeys(names.split(", "), cells)
    return rows


@pytest.mark.parametrize(("title", "key"), KEYS)
def test_every_key_is_documented_with_its_default(title, key):
    field = MODELS[title].model_fields[key]
    default = documented(title)[key][1]
    if field.is_required() or key == "type":
        assert default == "required"
    elif isinstance(field.default, bool):
        assert default in {str(field.default).lower(), "as there"}
    elif isinstance(field.default, str | int | float | Path) and field.default != "":
        assert default in {str(field.default), "as there"}


@pytest.mark.parametrize("title", MODELS)
def test_no_key_is_documented_that_does_not_exist(title):
    assert set(documented(title)) == set(MODELS[title].model_fields)


def test_the_example_loads_and_holds_every_key():
    deployment = load_deployment(EXAMPLE, environ={}).deployment
    assert deployment.model_fields_set == set(Deployment.model_fields)
    for name, model in SECTIONS.items():
        section = getattr(deployment, name)
        assert section.model_fields_set == set(model.model_fields), name
    given = {f"sources, type: {source.type}": source for source in deployment.sources}
    assert set(given) == set(SOURCES)
    for title, model in SOURCES.items():
        assert given[title].model_fields_set == set(model.model_fields), title


def test_the_example_shows_the_defaults():
    deployment = load_deployment(EXAMPLE, environ={}).deployment
    for name, model in SECTIONS.items():
        assert getattr(deployment, name) == model(), name


def test_the_message_in_the_documentation_is_the_real_one(tmp_path):
    file = tmp_path / "pneuma.yaml"
    file.write_text("sources:\n- type: folder\n  name: a\n  pth: x\n")
    with pytest.raises(Exception, match="unknown key") as caught:
        load_deployment(file, environ={})
    shown = str(caught.value).replace(f"{tmp_path}/", "")
    assert any(line in DOCS.read_text(encoding="utf-8") for line in shown.splitlines())
