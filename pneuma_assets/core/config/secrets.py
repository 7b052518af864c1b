"""What may hold a secret, by mistake, and is therefore never repeated.

A deployment file names the variables that hold secrets. Whoever writes the secret itself there is
refused, and told so without it: no error, log or page shows the value of a key of these types.
"""

import re
from collections.abc import Mapping
from typing import Annotated
from urllib.parse import unquote_plus, urlsplit

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from pneuma_assets.core.errors import SecretMissingError

_NAMES_SECRET = re.compile(
    r"passw|pwd|passcode|token|secret|private[-_.]?key|credential|account-?key|api_?key|access_key|\bkey$"
    r"|\bsas|\bsig|connection-string|authorization|jwt",
    re.IGNORECASE,
)
_SIGNED_IN = re.compile(r"//.*@", re.DOTALL)
_OPTIONS = re.compile(r"(//[^\s?]*\?)\S+")


class MayHoldSecret:
    """Marks a type of which no value is shown, be it accepted or refused."""


def sounds_secret(name: str) -> bool:
    """Tell by the name of an option, property or key whether its value is a secret."""
    return _NAMES_SECRET.search(name) is not None


def redacted(text: str) -> str:
    """Return a text without what follows `//` up to an `@`, and without options of addresses."""
    return _OPTIONS.sub(r"\1***", _SIGNED_IN.sub("//***@", text))


def read_secret(environ: Mapping[str, str], variable: str, where: str, holds: str) -> str:
    """Return what a variable holds that `where` names; raises `SecretMissingError`."""
    secret = environ.get(variable, "")
    if not secret.strip():
        raise SecretMissingError(
            f"{where}: the environment variable {variable} is not set; it should hold {holds}"
        )
    return secret


def holds_secret(url: str) -> bool:
    """Tell whether an address holds a password, token or key; raises `ValueError` of none."""
    parts = urlsplit(url)
    rest = url.partition("://")[2].removeprefix(parts.netloc)
    unescaped = bool(parts.netloc) and "@" in rest  # such as that of bob:1/2@host
    named = any(sounds_secret(one) for one in _options(f"{parts.query}&{parts.fragment}"))
    return parts.password is not None or unescaped or named


def _options(text: str) -> list[str]:
    """Return the names of options; one may be a list of options itself (`odbc_connect`)."""
    parts = re.split("[&;]", unquote_plus(unquote_plus(text)))
    return [name for part in parts for name in part.split("=")[:-1]]


def _without_secret(value: str) -> str:
    try:
        held = holds_secret(value)
    except ValueError:
        return value  # no address, which whoever wants one says
    if held:
        raise PydanticCustomError(
            "secret_given",
            "must not hold a password, token or key; put it into an environment variable",
        )
    return value


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
    """Check the form of a server's address, and that no password or key hides in it."""
    try:
        parts = urlsplit(value)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        usable = False
    if not usable or re.search(r"[\s\x00-\x1f]", value):
        raise ValueError("must be a web address, such as http://localhost:9000")
    if "@" in value:
        raise ValueError("must not hold a user name; use the *_env keys")
    if "?" in value or "#" in value:
        raise ValueError(
            "must not go on after the path; remove '?' or '#' and what follows (a key belongs "
            "into an environment variable that a *_env key names)"
        )
    return value


Url = Annotated[str, MayHoldSecret(), AfterValidator(_without_secret)]
"""An address; refused with a password or a key, which may be given by mistake."""

EndpointUrl = Annotated[Url, AfterValidator(_endpoint_url)]
"""Where a server listens, without credentials and options."""

VariableName = Annotated[str, MayHoldSecret(), AfterValidator(_variable_name)]
"""Names the environment variable that holds a secret."""
