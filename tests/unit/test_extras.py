"""A package that is not installed is named with the extra that brings it, at every door."""

import importlib.metadata
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pneuma_assets.cli.errors import CommandGroup
from pneuma_assets.core.extras import EXTRA_OF
from tests.support.waiting import LONGEST

ROOT = Path(__file__).parents[2]
HEAVY = ("boto3", "torch", "matplotlib", "scipy", "elasticsearch", "openai", "deltalake")

BLOCKING = f"""
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {sorted({*EXTRA_OF, "scipy", "pandas"})}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
"""

DOORS = """
import json, os, sys
from pathlib import Path
from pneuma_assets.core.config.models import EncoderConfig, ModelConfig
from pneuma_assets.core.config.source_kinds import read_source
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.index.registry import kind_of
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_assets.core.models.language.registry import open_language_model
from pneuma_assets.core.service.openlineage import openlineage_events
from pneuma_assets.cli.serve import serve

def narrate(**config):
    config = ModelConfig(**{"model": "smollm2-135m"} | config)
    model = open_language_model(config, Path("cache"), {})
    return list(model.generate(["Hello"], 8))

def read(**entry):
    source = read_source({"name": "s", **entry}).open(os.environ)
    listing = source.list_tables()
    for ref in listing.tables:
        source.profile(ref)
    raise PneumaError(listing.problems[0].cause)

def file(name):
    Path(name).mkdir()
    (Path(name) / f"a.{name}").write_bytes(b"Obj\\1")
    read(type="folder", path=name)

def delta():
    Path("d/t/_delta_log").mkdir(parents=True)
    Path("d/t/_delta_log/00000000000000000000.json").write_text("{}")
    read(type="folder", path="d")

doors = {
    "endpoint": lambda: narrate(endpoint_url="http://127.0.0.1:1/v1"),
    "transformers": lambda: narrate(),
    "llamacpp": lambda: narrate(model="x.gguf", device="cpu"),
    "encoder": lambda: open_encoder(EncoderConfig(model="a/b")).dimension,
    "elasticsearch": lambda: kind_of("elasticsearch"),
    "engine": lambda: __import__("pneuma_assets.core.index.elastic.lifecycle"),
    "aws": lambda: read(type="s3", bucket="lake"),
    "gcs": lambda: read(type="gcs", bucket="lake"),
    "azure": lambda: read(type="azure", account="lake", container="lake"),
    "excel": lambda: file("xlsx"),
    "avro": lambda: file("avro"),
    "delta": delta,
    "iceberg": lambda: read(type="iceberg", catalog="rest", uri="http://127.0.0.1:1"),
    "postgresql": lambda: read(type="sql", url="postgresql://me@127.0.0.1/shop"),
    "openlineage": lambda: list(openlineage_events(None, None)),
    "serve": lambda: serve(None, "127.0.0.1", 1, 1),
}
told = {}
for name, door in doors.items():
    try:
        told[name] = f"opened: {door()}"
    except PneumaError as error:
        told[name] = str(error)
    except Exception as error:
        told[name] = f"unexpected {error!r}"
print(json.dumps(told))
"""

EXTRAS = {
    "engine": "elasticsearch",
    "serve": "web",
    **dict.fromkeys(("endpoint", "transformers", "llamacpp", "encoder"), "models"),
    **{name: name for name in ("elasticsearch", "aws", "gcs", "azure", "excel", "avro")},
    **{name: name for name in ("delta", "iceberg", "postgresql", "openlineage")},
}


def run(program: str, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_door_names_the_extra_that_it_lacks(tmp_path):
    told = json.loads(run(BLOCKING + DOORS, tmp_path))
    assert told.keys() == EXTRAS.keys()
    for door, line in told.items():
        command = f"needs the extra {EXTRAS[door]}: pip install 'pneuma-assets[{EXTRAS[door]}]'"
        assert command in line, (door, line)
        assert "\n" not in line


def test_definitions_load_without_what_is_optional(tmp_path):
    program = "import sys, pneuma_assets.definitions; print(*sys.modules)"
    loaded = set(run(program, tmp_path).split())
    assert "dagster" in loaded
    assert loaded.isdisjoint(HEAVY)
    assert run(BLOCKING + program, tmp_path)


def test_every_package_is_in_the_extra_that_is_named():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = declared["optional-dependencies"]
    packages = importlib.metadata.packages_distributions()
    for module, extra in EXTRA_OF.items():
        names = {name.lower().replace("_", "-") for name in packages[module]}
        listed = " ".join(extras[extra]).lower()
        needed = names | {"elasticsearch", "boto3"}  # which bring some of their own
        assert any(name in listed for name in needed), module
    brought = re.findall(r"[\w-]+(?=[,\]])", " ".join(extras["all"]))
    assert {*brought} == extras.keys() - {"all", "demo", "dev"}
    light = " ".join(declared["dependencies"]).lower()
    assert not [module for module in HEAVY if re.search(rf"\b{module}\b", light)]


@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("psycopg.rows", "pip install 'pneuma-assets[postgresql]'"),
        ("python_calamine", "pip install 'pneuma-assets[excel]'"),
        ("duckdb", "pip install duckdb"),
    ],
)
def test_the_command_line_names_any_missing_package(monkeypatch, capsys, module, command):
    def without(*_: object, **__: object) -> None:
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    monkeypatch.setattr("typer.core.TyperGroup.main", without)
    assert CommandGroup(name="pneuma-assets").main([], standalone_mode=False) == 1
    told = capsys.readouterr().err
    assert told.endswith(f": {command}\n")
    assert "unexpected" not in told
