"""The documentation and the example name every key there is, with its true default."""

import re
from operator import attrgetter
from pathlib import Path

import pytest
from pydantic import BaseModel

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.config.models import ModelConfig
from pneuma_assets.core.config.source_kinds import KINDS
from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.text.analysis import ANALYZERS

ROOT = Path(__file__).resolve().parents[3]
DOCS = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "examples" / "pneuma.yaml"

SOURCES: dict[str, type[BaseModel]] = {
    f"sources, type: {name}": kind for name in KINDS.names() if (kind := KINDS.find(name))
}


def sections(model: type[BaseModel], prefix: str = "") -> dict[str, type[BaseModel]]:
    """Every section of a section, by its path: `index`, `index.elasticsearch`."""
    found: dict[str, type[BaseModel]] = {}
    for name, field in model.model_fields.items():
        inner = field.annotation
        if inner is not ModelConfig and isinstance(inner, type) and issubclass(inner, BaseModel):
            found |= {prefix + name: inner} | sections(inner, f"{prefix}{name}.")
    return found


SECTIONS = sections(Deployment)
DESCRIBED = {"Top level": Deployment, "models": ModelConfig, "sources": SourceConfig}
DESCRIBED |= SOURCES | SECTIONS
KEYS = [
    (title, key)
    for title, model in DESCRIBED.items()
    for key in model.model_fields
    if title not in SOURCES or key not in SourceConfig.model_fields  # said once, under `sources`
    if (key if title == "Top level" else f"{title}.{key}") not in SECTIONS  # have their headings
]


def documented(title: str) -> dict[str, list[str]]:
    """The rows of the table under one heading: key -> the row's other cells."""
    (part,) = re.findall(
        rf"^### {re.escape(title)}$(.*?)(?=^##|\Z)", DOCS.replace("`", ""), re.M | re.S
    )
    lines = [line for line in part.splitlines() if line.startswith("| ")][2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {name: cells for name, *cells in rows}


@pytest.mark.parametrize(("title", "key"), KEYS)
def test_every_key_is_documented_with_its_default(title, key):
    field = DESCRIBED[title].model_fields[key]
    default = documented(title)[key][1]
    if field.is_required() or key == "type":
        assert default == "required"
    elif isinstance(field.default, bool):
        assert default == str(field.default).lower()
    elif field.default is None:
        assert default
    elif isinstance(field.default, tuple) and field.default:
        assert default == ", ".join(field.default)
    elif isinstance(field.default, str | int | float | Path) and field.default != "":
        assert default == str(field.default)


@pytest.mark.parametrize("title", DESCRIBED)
def test_no_key_is_documented_that_does_not_exist(title):
    assert set(documented(title)) == {key for of, key in KEYS if of == title}


def test_the_example_holds_every_key_and_shows_the_defaults():
    deployment = load_deployment(EXAMPLE, environ={}).deployment
    assert deployment.model_fields_set == set(Deployment.model_fields)
    for name, model in SECTIONS.items():
        section = attrgetter(name)(deployment)
        assert section.model_fields_set == set(model.model_fields), name
        assert section == model(), name
    (one,) = deployment.models.values()
    assert one.model_fields_set == set(ModelConfig.model_fields)
    given = {f"sources, type: {source.type}": source for source in deployment.sources}
    assert set(given) == set(SOURCES)
    for title, kind in SOURCES.items():
        assert given[title].model_fields_set == set(kind.model_fields), title


def test_the_sections_include_those_inside_others():
    assert {"index", "index.elasticsearch"} < set(SECTIONS)


def test_every_piece_of_a_file_in_the_documentation_loads(tmp_path):
    pieces = re.findall(r"^```yaml\n(.*?)^```", DOCS, re.M | re.S)
    assert len(pieces) == 2
    for piece in pieces:
        file = tmp_path / "pneuma.yaml"
        file.write_text(piece)
        deployment = load_deployment(file, environ={}).deployment
        assert deployment.models or deployment.index.engine == "elasticsearch"


def test_every_analyzer_is_documented():
    (row,) = re.findall(r"^\| `analyzer` \|.*$", DOCS, re.M)
    assert set(ANALYZERS) <= set(re.findall(r"`(\w+)`", row))


def test_the_message_in_the_documentation_is_the_real_one(tmp_path):
    file = tmp_path / "pneuma.yaml"
    file.write_text("sources:\n- type: folder\n  name: a\n  pth: x\n")
    with pytest.raises(Exception, match="unknown key") as caught:
        load_deployment(file, environ={})
    shown = str(caught.value).replace(f"{tmp_path}/", "")
    assert any(line in DOCS for line in shown.splitlines())
