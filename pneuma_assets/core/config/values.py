"""The kinds of value that several keys of a deployment file share, and what each must look like."""

import re
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from pneuma_assets.core.config.secrets import EndpointUrl


def matching(pattern: str, message: str) -> AfterValidator:
    """Return what refuses a text that is not of this pattern as a whole, in these words."""
    whole = re.compile(pattern, re.ASCII)

    def check(value: str) -> str:
        if not whole.fullmatch(value):
            raise ValueError(message)
        return value

    return AfterValidator(check)


MIN_REPLICAS, MAX_REPLICAS = 0, 10

_SOURCE_NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"
_DEPLOYMENT_NAME = r"[A-Za-z0-9][A-Za-z0-9_]{0,63}"

SourceName = Annotated[
    str,
    Field(json_schema_extra={"pattern": f"^{_SOURCE_NAME}$"}),
    matching(
        _SOURCE_NAME, "use letters, digits, '_', '.', '-', at most 64, a letter or digit first"
    ),
]
"""Starts every table id of the source, so it is short and needs no escaping."""

DeploymentName = Annotated[
    str,
    Field(json_schema_extra={"pattern": f"^{_DEPLOYMENT_NAME}$"}),
    matching(_DEPLOYMENT_NAME, "use letters, digits, '_', at most 64, a letter or digit first"),
]
"""A part of asset keys, and of the names of jobs and resources."""


def _reader(value: str) -> str:
    if not value.strip() or len(value) > 1000 or not value.isprintable():
        raise ValueError("must be 1 to 1,000 printable characters, such as finance")
    return value


def _local_path(value: object) -> object:
    """Refuse what `Path` would take without a word: nothing at all, and NUL; expand `~`."""
    if not isinstance(value, str | Path):
        return value
    if not str(value).strip():
        raise ValueError("is empty; name a path ('.' is the folder of the deployment file)")
    if "\0" in str(value):
        raise ValueError("holds a NUL character; name an existing path")
    if "://" in str(value):  # it may hold a password, and would be taken for a relative path
        raise ValueError("is an address; name a path of this machine")
    try:
        return Path(value).expanduser()
    except RuntimeError as error:
        raise ValueError(f"{error}; write the path in full") from error


def node_url(url: str) -> str:
    """Return the address of a node with its port, as the Elasticsearch client wants it.

    `https://host` means port 443. Raises `ValueError` of a plain `http://host`: 80 is the rule of
    the web, 9200 that of Elasticsearch, and a guess would fail late.
    """
    parts = urlsplit(url)
    port = {"https": 443}.get(parts.scheme) if parts.port is None else parts.port
    if not port:
        raise ValueError("has no port; add it, such as http://localhost:9200")
    host = f"[{parts.hostname}]" if ":" in str(parts.hostname) else parts.hostname
    return f"{parts.scheme}://{host}:{port}{parts.path.rstrip('/')}"


def is_exposed(url: str) -> bool:
    """Tell whether what is sent there crosses a network unencrypted."""
    host = urlsplit(url).hostname or ""
    return url.startswith("http://") and host != "localhost" and not _is_loopback(host)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _replicas(value: object, handler: ValidatorFunctionWrapHandler) -> object:
    """Make one finding of the two that pydantic has, one for each kind of value."""
    try:
        return handler(value)
    except ValidationError as error:
        raise ValueError(
            f"must be 'auto', or a whole number from {MIN_REPLICAS} to {MAX_REPLICAS}"
        ) from error


LocalPath = Annotated[Path, BeforeValidator(_local_path)]
"""A path on this machine; `~` is the home folder."""

_PART = "[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}"

KeyPrefix = Annotated[
    str,
    matching(
        f"{_PART}(/{_PART}){{0,7}}",
        "must be one to eight parts with '/' between them, each of letters, digits, '_', '.', "
        "'-', at most 64, and no '.' or '-' first",
    ),
]
"""Begins the asset keys of a deployment, so that no other team's asset has the same."""

Owner = Annotated[
    str,
    matching(
        r"(?=.{,254}$)([A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,7}|team:[\w.&-]+)",
        "must be an e-mail address, or 'team:' and the name of a team",
    ),
]
"""Who owns a table; Dagster would refuse any other when it loads, and with it the deployment."""

Reader = Annotated[str, AfterValidator(_reader)]
"""A name under which tables let people in; `core.access_names` says how names are spelt."""

NodeUrl = Annotated[EndpointUrl, AfterValidator(node_url)]
"""Where a node of a search server listens; the port is always there after loading."""

Replicas = Annotated[
    Literal["auto"] | Annotated[int, Field(ge=MIN_REPLICAS, le=MAX_REPLICAS)],
    WrapValidator(_replicas),
]
"""How many copies of each shard there are besides the first."""

IndexName = Annotated[
    str,
    matching(
        "[a-z0-9][a-z0-9_.-]{0,199}",
        "must be the name of an index: lower-case letters, digits, '_', '.', '-', "
        "a letter or digit first, at most 200 characters",
    ),
]
"""Names an index of a search server."""
