"""How names of files and tables become ids, and names and comments of columns fit to show.

One rule covers ids and locations: `%`, control characters, line separators, marks that reorder
text, and bytes that are not UTF-8 are written as `%` and two hexadecimal digits a byte. All
other characters stay as they are, so that people recognise their files, and the rule can be
reversed. Ids are therefore always valid UTF-8, of one line, and unique.
"""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import unquote_to_bytes

from pneuma_assets.core.text.safe import one_line

_UNSAFE = re.compile(
    "[%\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]", re.UNICODE
)

PANDAS_INDEX = re.compile(r"__index_level_\d+__")
"""The name of the column that pandas writes of an index without a name."""

_NAME_CHARACTERS = 200


def escape(name: str) -> str:
    """Make a file name or path safe to print and to store; `unescape` reverses it."""
    return _UNSAFE.sub(_percent, name)


def escape_segment(name: str) -> str:
    """Escape a name that may hold slashes of its own, for use as one part of an id."""
    return escape(name).replace("/", "%2F")


def unescape(text: str) -> str:
    """Return the name that `escape` was given, undecodable bytes as surrogates."""
    return unquote_to_bytes(text).decode("utf-8", "surrogateescape") if "%" in text else text


def comment_in(metadata: Mapping[bytes, bytes] | None) -> str:
    """Return what the metadata of a schema or field says in words; empty where it says nothing."""
    said = (metadata or {}).get(b"description") or (metadata or {}).get(b"comment") or b""
    return one_line(said.decode("utf-8", "replace"), 1000)


def readable_names(names: Sequence[str]) -> list[str]:
    """Return column names on one line each, bounded and distinct; a nameless one by position."""
    taken: set[str] = set()
    result = []
    for position, name in enumerate(names):
        base = one_line(name, _NAME_CHARACTERS) or f"column{position}"
        unique, number = base, 1
        while unique in taken:
            unique, number = f"{base}_{number}", number + 1
        taken.add(unique)
        result.append(unique)
    return result


def _percent(match: re.Match[str]) -> str:
    character = match.group()
    undecoded = "\udc80" <= character <= "\udcff"
    data = character.encode("utf-8", "surrogateescape" if undecoded else "surrogatepass")
    return "".join(f"%{byte:02X}" for byte in data)
