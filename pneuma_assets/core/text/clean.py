"""Texts of strangers made fit to be kept, printed and shown on one line."""

import re
import unicodedata

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
_HARMFUL = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode categories that move the cursor, change the direction of text, or cannot be printed."""


def well_formed(text: str) -> str:
    """Return the text with lone surrogates replaced by '?'; no file, index or model takes those."""
    return text.encode("utf-8", "replace").decode("utf-8")


def one_line(text: str, limit: int = 200) -> str:
    """Collapse blanks and control characters to one space each, and cut at `limit` characters."""
    flat = well_formed(_BLANKS.sub(" ", text[: 4 * limit]).strip())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def printable(text: str) -> str:
    """Return the text on one line, without anything a terminal would obey instead of show.

    File names, column names and cells come from strangers: an escape sequence in one of them
    could rewrite the screen, and a change of direction could disguise a name.
    """
    shown = "".join(" " if unicodedata.category(c) in _HARMFUL else c for c in text)
    return " ".join(shown.split())
