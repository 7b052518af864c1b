"""The kinds of value that several keys of a deployment file share, and what each must look like."""

import re
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

SourceName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
"""Starts every table id of the source, so it is short and needs no escaping."""


def _local_path(value: object) -> object:
    """Refuse what `Path` would take without a word: nothing at all, and NUL; expand `~`."""
    if not isinstance(value, str | Path):
        return value
    if not str(value).strip():
        raise ValueError("is empty; name a path ('.' is the folder of the deployment file)")
    if "\0" in str(value):
        raise ValueError("holds a NUL character; name an existing path")
    try:
        return Path(value).expanduser()
    except RuntimeError as error:
        raise ValueError(f"{error}; write the path in full") from error


def _variable_name(value: str) -> str:
    """Catch a secret that stands where the name of its environment variable should."""
    looks_like_key = re.fullmatch(r"(AKIA|ASIA)[A-Z0-9]{16}", value)
    if looks_like_key or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,127}", value):
        raise ValueError(
            "must be the name of an environment variable (letters, digits, '_'), "
            "not the secret itself"
        )
    return value


def _endpoint_url(value: str) -> str:
    """Check the form of a server's address, and that no password hides in it."""
    try:
        parts = urlsplit(value)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        usable = False
    if not usable or re.search(r"[\s\x00-\x1f]", value):
        raise ValueError("must be a web address, such as http://localhost:9000")
    if parts.username is not None or parts.password is not None:
        raise ValueError("must not hold a user name or password; use the *_env keys")
    return value


LocalPath = Annotated[Path, BeforeValidator(_local_path)]
"""A path on this machine; `~` is the home folder."""

VariableName = Annotated[str, AfterValidator(_variable_name)]
"""Names the environment variable that holds a secret."""

EndpointUrl = Annotated[str, AfterValidator(_endpoint_url)]
"""Where a server listens, without credentials."""
