"""What nobody is told of a configuration of openlineage-python: its keys, passwords and headers.

Its transports, and the libraries below them, quote in their errors what they could not send.
"""

import json
import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote, quote_plus

_SECRET = re.compile("auth|key|passw|pwd|secret|token|header|credential|sasl|jaas", re.IGNORECASE)
_SIGNS_IN = re.compile(r"://([^/?#\s]+)@")
_SHORTEST = 4
"""Characters of a secret; fewer are parts of any word."""
_SHORTEST_NUMBER = 5
"""Digits of a number that may be a key; shorter ones are seconds and ports."""
_DEEPEST = 20


def masked(text: str, configuration: object, environ: Mapping[str, str]) -> str:
    """Return a text with `***` instead of every secret of a configuration.

    Args:
        text: That of an error, not cut yet: half a key would not be known as one.
        configuration: What `openlineage.yml` holds.
        environ: Its variables `OPENLINEAGE…` come before that file.
    """
    variables = {k: _parsed(v) for k, v in environ.items() if k.upper().startswith("OPENLINEAGE")}
    forms = {
        form
        for secret in (*_secrets(configuration), *_secrets(variables))
        for form in _forms(secret)
    }
    for form in sorted(forms, key=len, reverse=True):  # one may be part of another
        text = text.replace(form, "***")
    return text


def _secrets(value: object, *, is_secret: bool = False, depth: int = 0) -> Iterator[str]:
    """Yield every string below a key that sounds secret, and who signs in by an address."""
    if depth > _DEEPEST:
        return
    if isinstance(value, Mapping):
        for key, one in value.items():
            # The kind of authentication is none, and the words of an error that explains it.
            below = key != "type" and (is_secret or bool(_SECRET.search(str(key))))
            yield from _secrets(one, is_secret=below, depth=depth + 1)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _secrets(one, is_secret=is_secret, depth=depth + 1)
    elif isinstance(value, str):
        yield from [value] if is_secret else _SIGNS_IN.findall(value)
    elif is_secret and len(str(value)) >= _SHORTEST_NUMBER and not isinstance(value, bool):
        yield str(value)


def _forms(secret: str) -> set[str]:
    """Return how a secret is spelled in an error: as it is, as Python, JSON or a URL has it."""
    plain = {one for one in (secret, *secret.split()) if len(one) >= _SHORTEST}
    spelled = {repr(one)[1:-1] for one in plain} | {json.dumps(one)[1:-1] for one in plain}
    quoted = {quote(one, safe="") for one in plain} | {quote_plus(one) for one in plain}
    return plain | spelled | quoted


def _parsed(value: str) -> object:
    """Return what a variable holds: JSON, where one stands for a whole branch of the file."""
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
