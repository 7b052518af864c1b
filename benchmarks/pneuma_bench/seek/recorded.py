"""Conversations with an endpoint, recorded as YAML and replayed without a network (vcrpy)."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import vcr
import yaml

_KEPT = "content-type"
"""The one header that is kept: keys, cookies and accounts stand in others."""


@contextmanager
def recorded(file: Path) -> Iterator[None]:
    """Within the block replay what a file has; where there is none, ask and write it at the end.

    What is kept of a request is its path and its body, which names the model; of an answer its
    status and body. The file begins with when it was recorded and the models that answered. While
    it is replayed nothing else can be asked. Nothing is written where the block raises.

    Raises:
        vcr.errors.CannotOverwriteExistingCassetteException: The file lacks a request, as after a
            change of a prompt; it says what differs.
        ValueError: The file is none of these.
    """
    player = vcr.VCR(
        record_mode=vcr.mode.ONCE,
        match_on=("method", "path", "body"),
        before_record_request=_without_place,
        before_record_response=_without_headers,
        record_on_exception=False,
    )
    player.register_serializer("dated", _Dated)
    with player.use_cassette(str(file), serializer="dated"):
        yield


def _without_place(request: Any) -> Any:
    """Return a request without its host, which is private, and which may be another in a replay."""
    request.uri = f"http://endpoint{urlsplit(request.uri).path}"
    request.headers = _kept(request.headers)
    return request


def _without_headers(response: dict[str, Any]) -> dict[str, Any]:
    return {**response, "headers": _kept(response["headers"])}


def _kept(headers: Any) -> dict[str, Any]:
    return {name: value for name, value in headers.items() if name.lower() == _KEPT}


class _Dated:
    """The format of the file: when, which models, and what was said."""

    @staticmethod
    def serialize(said: dict[str, Any]) -> str:
        models = {_model(one["response"]["body"]["string"]) for one in said["interactions"]}
        head = {"recorded": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC", "models": sorted(models)}
        return yaml.safe_dump({**head, **said}, sort_keys=False, allow_unicode=True)

    @staticmethod
    def deserialize(text: str) -> dict[str, Any]:
        said = yaml.safe_load(text)
        if not isinstance(said, dict) or "interactions" not in said:
            raise ValueError("it is no recorded conversation")
        return said


def _model(body: Any) -> str:
    try:
        return str(json.loads(body)["model"])
    except (ValueError, KeyError, TypeError):  # an error has none
        return "none"
