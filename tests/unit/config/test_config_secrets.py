"""What may hold a secret is derived from the model, and never repeated, whoever loads it."""

import json
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

import pytest
from pydantic import ValidationError

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.load import inline_deployment, load_deployment
from pneuma_assets.core.config.secrets import holds_secret, may_hold_secret, redacted
from pneuma_assets.core.config.section import Section
from pneuma_assets.core.config.source_kinds import source_kind, source_types
from pneuma_assets.core.errors import ConfigError

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
        kinds = (
            get_args(field.annotation)
            if get_origin(field.annotation) in {Union, UnionType}
            else (field.annotation,)
        )
        for inner in kinds:
            if isinstance(inner, type) and issubclass(inner, Section):
                yield from _sections(inner, (*place, name))


def _all_sections() -> Iterator[Any]:
    yield from _sections(Deployment)
    for kind in source_types():
        found = source_kind(kind)
        assert found is not None
        yield from _sections(found, (kind,))


KEYS = [
    (place, key)
    for place, section in _all_sections()
    for key in section.model_fields
    if may_hold_secret(section, key)
]


def _data(place: tuple[Any, ...], key: str, value: Any, *, wrong_key: bool) -> dict[str, Any]:
    kinds = set(source_types())
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


@pytest.mark.parametrize("wrong_key", [False, True], ids=["alone", "beside a wrong key"])
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize(("place", "key"), KEYS)
def test_no_door_repeats_it(
    place: tuple[Any, ...], key: str, value: Any, wrong_key: bool, tmp_path: Path
) -> None:
    """A file, a component's mapping and Python objects say what is wrong without the value."""
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
    assert told or not wrong_key


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
