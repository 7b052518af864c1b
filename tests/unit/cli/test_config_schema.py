"""The JSON Schema that editors check deployment files by."""

import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from pneuma_assets.cli.app import app

EXAMPLE = Path(__file__).parents[3] / "examples" / "pneuma.yaml"


@pytest.fixture(scope="module")
def check():
    printed = CliRunner().invoke(app, ["config", "schema"])
    assert printed.exit_code == 0
    schema = json.loads(printed.stdout)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_the_example_keeps_it(check):
    assert not [*check.iter_errors(yaml.safe_load(EXAMPLE.read_text()))]


@pytest.mark.parametrize(
    "wrong",
    [
        {"sampling": {"rows": -1}},
        {"sampling": {"row": 1}},
        {"narration": {"model": 7}},
        {"models": {"m": {"endpoint_url": "http://host/v1"}}},
        {"sources": [{"type": "folder", "name": "lake", "pth": "."}]},
        {"sources": [{"type": "ftp", "name": "lake"}]},
    ],
)
def test_mistakes_are_found(check, wrong):
    assert [*check.iter_errors(wrong)]
