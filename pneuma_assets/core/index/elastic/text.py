"""Texts as JSON can hold them.

Any string survives: JSON has no lone surrogates, which file names that are not text bring along,
so those are escaped.
"""

import re

from pneuma_assets.core.tables import content_hash

_ESCAPE = "\ufdd0"  # a noncharacter: valid in UTF-8, never part of a text
_SPECIAL = re.compile(f"[\ud800-\udfff{_ESCAPE}]")
_ESCAPED = re.compile(f"{_ESCAPE}([0-9a-f]{{4}})")


_LONGEST_TERM = 100
"""Characters; the server cuts a term of more than 255 in pieces."""


def token(term: str) -> str:
    """Return a term as it is indexed; of a long one, its hash stands for it."""
    return term if len(term) <= _LONGEST_TERM else f"#{content_hash(term)}"


def escape(text: str) -> str:
    """Return a text that UTF-8 can hold; nearly all are returned as they are."""
    return _SPECIAL.sub(lambda found: f"{_ESCAPE}{ord(found[0]):04x}", text)


def unescape(text: str) -> str:
    """Undo `escape`."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
