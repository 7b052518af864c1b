"""What the values of a type are, by its name in whatever engine."""

import re

_NUMBER = r"""
(?: u?(?:tiny|small|medium|big|huge)? (?:int(?!erval)|serial)
  | (?:big)?num | dec | double | float | real | money | year )
"""
_KINDS = {
    "number": re.compile(_NUMBER, re.IGNORECASE | re.VERBOSE),
    "text": re.compile(r"n?(?:var)?char|character|text|string|uuid|enum", re.IGNORECASE),
    "time": re.compile(r"(?:small)?date|time|interval", re.IGNORECASE),
    "truth": re.compile(r"bool", re.IGNORECASE),
}
_OF_SEVERAL = re.compile(r"\[|^\w*range", re.IGNORECASE)
"""Lists, `integer[]`, and ranges, `int4range`: none of their cells is a number."""


def kind_of(type_name: str) -> str | None:
    """Return what values of a type are: number, text, time or truth; None where nobody knows."""
    name = type_name.strip()
    if _OF_SEVERAL.search(name):
        return None
    return next((kind for kind, names in _KINDS.items() if names.match(name)), None)
