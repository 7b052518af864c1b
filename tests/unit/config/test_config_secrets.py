"""What may hold a secret is derived from the model, and never repeated, whoever loads it."""

import functools
import json
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_origin

import pytest
import yaml
from dagster.components.testing import create_defs_folder_sandbox
from pydantic import ValidationError

from pneuma_assets.component import ScaffoldParams
from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.load import inline_deployment, load_deployment
from pneuma_assets.core.config.secrets import holds_secret, redacted
from pneuma_assets.core.config.section_base import Section, may_hold_secret, section_in
from pneuma_assets.core.config.source_kinds import KINDS
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.resources.deployment import DeploymentResource
from tests.support.config_keys import section_keys

CANARY = "hunter2canary"
NAMED = ("url", "urls", "uri", "password", "token", "env")

SECTIONS: dict[str, dict[str, Any]] = {
    "iceberg": {"catalog": "rest", "uri": "https://catalog"},
    "sql": {"url": "postgresql://bob@db/prod"},
    "s3": {"bucket": "lake"},
}
VALUES: dict[str, Any] = {
    "password": f"postgresql://bob:{CANARY}@db/prod",
    "unknown driver": f"nosuch+thing://bob:{CANARY}@db/prod",
    "not escaped": f"postgresql://bob:1/{CANARY}@db/prod",
    "query": f"http://h/v1?key={CANARY}",
    "fragment": f"http://h/v1#{CANARY}",
    "option": f"postgresql://db/prod?password={CANARY}",
    "option of an option": f"mssql://db/x?odbc_connect=UID%3Dbob%3BPWD%3D{CANARY}",
    "wrong type": {"value": CANARY},
    "list": [f"http://h:9?token={CANARY}"],
    "bare": f"{CANARY}-{CANARY}",
}


def _sections(section: type[Section], place: tuple[Any, ...] = ()) -> Iterator[Any]:
    yield place, section
    for name, field in section.model_fields.items():
        inner = section_in(field.annotation)
        if inner is not None and name != "sources":
            named = ("m",) if get_origin(field.annotation) is dict else ()
            yield from _sections(inner, (*place, name, *named))


def _all_sections() -> Iterator[Any]:
    yield from _sections(Deployment)
    for kind in KINDS.names():
        found = KINDS.find(kind)
        assert found is not None
        yield from _sections(found, (kind,))


KEYS = [
    (place, key)
    for place, section in _all_sections()
    for key in section.model_fields
    if may_hold_secret(section, key)
]


def _data(place: tuple[Any, ...], key: str, value: Any, *, wrong_key: bool) -> dict[str, Any]:
    kinds = set(KINDS.names())
    data: dict[str, Any] = {}
    inner = data
    if place and place[0] in kinds:
        inner = {"type": place[0], "name": "one", **SECTIONS.get(place[0], {})}
        data["sources"] = [inner]
        place = place[1:]
    for name in place:
        inner[name] = inner = {}
    if key in {"properties", "properties_env"} and not isinstance(value, dict):
        value = {"uri.password": value}
    inner[key] = value
    if wrong_key:
        inner["wrong"] = f"x {CANARY}"
    return data


def _told(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)) + repr(error)


def test_keys_that_sound_like_it_are_of_the_type() -> None:
    """A new key is looked after by itself, or this fails."""
    missed = [
        (place, key)
        for place, section in _all_sections()
        for key in section.model_fields
        if key.rpartition("_")[2] in NAMED and not may_hold_secret(section, key)
    ]
    assert not missed
    assert len(KEYS) > 15


@pytest.mark.parametrize(("place", "key"), KEYS)
def test_no_door_repeats_it(place: tuple[Any, ...], key: str, tmp_path: Path) -> None:
    """A file, a component's mapping and Python objects say what is wrong without the value."""
    for name, value in VALUES.items():
        _check_doors(place, key, value, tmp_path, wrong_key=False)
        if name in {"password", "wrong type"}:
            _check_doors(place, key, value, tmp_path, wrong_key=True)


def _check_doors(
    place: tuple[Any, ...], key: str, value: Any, tmp_path: Path, *, wrong_key: bool
) -> None:
    data = _data(place, key, value, wrong_key=wrong_key)
    file = tmp_path / "pneuma.yaml"
    file.write_text(json.dumps(data), "utf-8")
    told = []
    for load in (
        lambda: load_deployment(file, environ={}),
        lambda: inline_deployment(data, tmp_path, tmp_path, "defs.yaml"),
        lambda: Deployment.model_validate(data),
    ):
        try:
            load()
        except (ConfigError, ValidationError) as error:
            told.append(_told(error))
    assert not any(CANARY in one for one in told)
    refused = wrong_key or (isinstance(value, str) and holds_secret(value))
    assert len(told) == 3 or not refused


IN_PLACES_OF_NO_SECRET = (VALUES["password"], [VALUES["password"]], {"x": VALUES["password"]})


@pytest.mark.parametrize("keys", [*section_keys()], ids=".".join)
def test_addresses_are_shown_without_password_in_every_key(
    keys: tuple[str, ...], tmp_path: Path
) -> None:
    """Whatever a key is for: who takes it for that of an address is not quoted."""
    told = []
    for value in IN_PLACES_OF_NO_SECRET:
        data: Any = functools.reduce(lambda inner, key: {key: inner}, keys[::-1], value)
        try:
            inline_deployment(data, tmp_path, tmp_path, "defs.yaml")
        except ConfigError as error:
            told.append(_told(error))
    assert not any(CANARY in one for one in told)
    assert told


NO_YAML = {
    "alias": f"state: {{password_env: *{CANARY}}}",
    "anchor": f"a: &{CANARY} &{CANARY} x",
    "tag": f"state: !{CANARY} x",
    "handle": f"state: !a!{CANARY} x",
    "open": f"state: {{url: postgresql://bob:{CANARY}@db",
    "colon": f"state:\n  url: postgresql://bob:{CANARY}@db : x",
    "percent": f"a: %{CANARY}",
    "number": f"x: !!int {CANARY}",
    "no number": f"x: !!int ''\ny: {CANARY}",
    "date": f"x: !!timestamp {CANARY}",
    "bytes": f"x: !!binary {CANARY}",
    "twice": f"postgresql://bob:{CANARY}@db: 1\n" * 2,
    "list as key": f"? [postgresql://bob:{CANARY}@db]\n: x",
}


@pytest.mark.parametrize("text", NO_YAML.values(), ids=NO_YAML)
def test_no_error_of_syntax_quotes_the_file(text: str, tmp_path: Path) -> None:
    """The parser's own words and its cause show the line."""
    file = tmp_path / "pneuma.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_deployment(file, environ={})
    assert CANARY not in _told(caught.value)


PASSWORD = VALUES["password"]
SOURCE = {"type": "sql", "name": "one", "url": PASSWORD}
ATTRIBUTES: dict[str, Any] = {
    "deployment": {"deployment": {"sources": [SOURCE]}},
    "deployment, wrong key": {"deployment": {"sources": [{**SOURCE, "wrong": CANARY}]}},
    "attribute beside": {"deployment": {"sources": []}, "wrong": PASSWORD},
    "text for a mapping": {"deployment": PASSWORD},
    "list for a mapping": {"deployment": [PASSWORD]},
    "list for a text": {"config": [PASSWORD]},
    "mapping for a text": {"folder": {"a": PASSWORD}},
    "template": {"deployment": {"sources": [{**SOURCE, "url": f"{{{{ {{}}.get('{CANARY}') }}}}"}]}},
    "address for a folder": {"folder": PASSWORD},
    "address for a file": {"config": PASSWORD},
    "address for a name": {"folder": "x", "name": PASSWORD},
}


@pytest.mark.parametrize("attributes", ATTRIBUTES.values(), ids=ATTRIBUTES)
def test_no_component_repeats_it(attributes: dict[str, Any], caplog: Any) -> None:
    """Dagster reads `defs.yaml` by our model, and adds what was given to what that says."""
    with create_defs_folder_sandbox() as project:
        folder = project.defs_folder_path / "search"
        folder.mkdir(parents=True)
        said = {"type": "pneuma_assets.PneumaComponent", "attributes": attributes}
        (folder / "defs.yaml").write_text(yaml.safe_dump(said))  # of a template, Dagster shows the
        # line that its attribute begins on
        with pytest.raises(Exception) as caught, project.build_all_defs():  # noqa: PT011 (Dagster's)
            pass
    assert CANARY not in _told(caught.value) + caplog.text


def _of(**settings: Any) -> Any:
    return lambda: DeploymentResource(settings=settings, base="/", home="/x")


RESOURCES: dict[str, Any] = {
    "sources": _of(sources=[SOURCE]),
    "sources, wrong key": _of(sources=[{**SOURCE, "x": CANARY}]),
    "sources, wrong type": _of(sources=[PASSWORD]),
    "deployment": _of(state=PASSWORD),
    "deployment, wrong type": lambda: DeploymentResource(settings=CANARY, base="/", home="/x"),
    "encoder": _of(encoder={"api_key": CANARY}),
    "narration": _of(narration={"model": {"model": "m", "endpoint_url": VALUES["query"]}}),
    "judge": _of(judge={"model": {"model": "m", "api_key_env": VALUES["bare"]}}),
    "index": _of(index={"elasticsearch": {"urls": VALUES["list"]}}),
    "options": _of(dagster={"reload": {"url": VALUES["query"]}}),
    "scaffold": lambda: ScaffoldParams(folder=[CANARY]),
}


@pytest.mark.parametrize("make", RESOURCES.values(), ids=RESOURCES)
def test_no_resource_takes_or_repeats_it(make: Any) -> None:
    """Dagster keeps the configuration of resources with its runs; a secret never gets there."""
    with pytest.raises(ValidationError) as caught:
        make()
    assert CANARY not in _told(caught.value)


ADDRESSES: Mapping[str, bool] = {
    "postgresql://bob@db:5432/prod?sslmode=require": False,
    "snowflake://bob@account/db?warehouse=W&role=R": False,
    "snowflake://bob@a/db?authenticator=PROGRAMMATIC_ACCESS_TOKEN": False,
    "sqlite:////data/a@b/catalogue.db": False,
    "databricks://token@host?http_path=/sql/1&catalog=main": False,
    f"postgresql://bob:{CANARY}@db/prod": True,
    f"postgresql://bob:1/{CANARY}@db/prod": True,
    f"postgresql://bob:1#{CANARY}@db/prod": True,
    f"postgresql://db/prod?PASS%57ORD={CANARY}": True,
    f"mssql://db/x?odbc_connect=UID%3Dbob%3BPWD%3D{CANARY}": True,
    f"https://catalog?key={CANARY}": True,
}


@pytest.mark.parametrize(("url", "secret"), ADDRESSES.items())
def test_what_an_address_holds(url: str, secret: bool) -> None:
    """Options without a secret stay possible."""
    assert holds_secret(url) == secret


def test_redacted() -> None:
    """What stands in a place that nobody thought of is shown without credentials and options."""
    assert (
        redacted(f"see https://bob:{CANARY}@h/x?key={CANARY} now") == "see https://***@h/x?*** now"
    )
