"""What pydantic finds wrong, in words for whoever gave it, who knows nothing of pydantic."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

_WORDS = (
    (r"^Value error, ", ""),
    (r", unable to .*", ""),
    (r" after validation", ""),
    (r"^Field required$", "is missing"),
    (r"^Extra inputs are not permitted$", "is not known here"),
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


def readable(findings: Iterable[Mapping[str, Any]], whole: str = "it") -> list[Finding]:
    """Return what `ValidationError.errors` gave in plain words, without the values that were given.

    Args:
        findings: Each has `loc` and `msg`.
        whole: What stands for the place of what is wrong as a whole.
    """
    return [
        Finding(".".join(map(str, one["loc"])) or whole, phrased(one["msg"])) for one in findings
    ]


def phrased(message: str) -> str:
    """Return a message of pydantic's in plain words."""
    for pattern, words in _WORDS:
        message = re.sub(pattern, words, message)
    return message
