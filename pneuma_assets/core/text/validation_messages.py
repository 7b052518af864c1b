"""What pydantic finds wrong, in words for whoever gave it, who knows nothing of pydantic."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel

from pneuma_assets.core.text.suggest import nearest

_WORDS = (
    (r"^Value error, ", ""),
    (r", unable to .*", ""),
    (r" after validation", ""),
    (r"^Field required$", "is missing"),
    (r"^Extra inputs are not permitted$", "unknown key"),
    (r"^(?:Data|Dictionary|Input|List|Object|Set|String|Tuple|Value) should ", "must "),
    (r"a valid (?:dictionary|instance|object).*", "an object"),
    (r"a valid boolean", "true or false"),
    (r"a valid integer", "a whole number"),
    (r"a valid string", "a text"),
    (r"a valid (?:array|tuple)", "a list"),
    (r"\ba valid ", "a "),
)


class Finding(NamedTuple):
    """One thing that is wrong: where, with dots between the keys, and what."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def readable(
    findings: Iterable[Mapping[str, Any]], whole: str = "it", of: Any = None
) -> list[Finding]:
    """Return what `ValidationError.errors` gave in plain words, without the values that were given.

    Args:
        findings: Each has `type`, `loc` and `msg`.
        whole: What stands for the place of what is wrong as a whole.
        of: The type of what was given, whose keys are named where one is unknown; None: not known.
    """
    return [Finding(".".join(map(str, one["loc"])) or whole, _told(one, of)) for one in findings]


def _told(finding: Mapping[str, Any], of: Any) -> str:
    *inner, last = finding["loc"] or ("",)
    known = _keys(of, inner) if finding["type"] == "extra_forbidden" else ()
    return unknown_key(str(last), known) if known else phrased(finding["msg"])


def _keys(of: Any, inner: Sequence[str | int]) -> list[str]:
    """Return which keys there are at a place within a type."""
    models = list(_models(of))
    for key in inner:  # of a list, a dictionary or a union it names no field
        fields = [one.model_fields[str(key)] for one in models if key in one.model_fields]
        models = [model for one in fields for model in _models(one.annotation)] or models
    return list(dict.fromkeys(name for one in models for name in one.model_fields))


def _models(of: Any) -> Iterable[type[BaseModel]]:
    if isinstance(of, type) and issubclass(of, BaseModel):
        yield of
    for one in get_args(of):
        yield from _models(one)


def unknown_key(name: str, known: Collection[str]) -> str:
    """Return that a key is unknown, with the nearest that is known, and all of them."""
    return f"unknown key;{did_you_mean(name, known)} known here: {', '.join(known)}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question after the nearest known name; empty where none is near."""
    near = nearest(name, known, 1, 0.6)
    return f" did you mean '{near[0]}'?" if near else ""


def phrased(message: str) -> str:
    """Return a message of pydantic's in plain words."""
    for pattern, words in _WORDS:
        message = re.sub(pattern, words, message)
    return message
