"""The beginning of a text, cut where a sentence ends."""

import re
from itertools import dropwhile, takewhile

from pneuma_assets.core.text.clean import printable
from pneuma_assets.core.text.sentences import sentence_ends

_READ = 4_000
"""Characters looked at; documents may be long."""

_TITLE = re.compile(r"\s*(?:#{1,6}\s[^\n]*|[^\n]*\n[=\-~^\"]{3,})(?:\n|$)")
_RULE = re.compile(r"[\W_]{3,}")
_NO_PROSE = re.compile(r"\s*(?:#{1,6}\s|[-*+]\s|\d{1,3}[.)]\s|\|)")
"""How a heading, an item of a list, and a row of a table begin."""


def first_words(text: str, limit: int) -> str:
    """Return the first whole sentences of a text that fit, on one line; empty if it says nothing.

    A title before them is left out where more follows: a file is seldom explained by its name.
    They end where a heading, a list or a table follows, which on one line would be no sentence.
    Where not even one sentence fits, it is cut between words.

    Args:
        text: What somebody wrote, in plain text or Markdown.
        limit: The most characters.
    """
    text = text[:_READ].lstrip("\ufeff \n\r\t")
    body = text
    while found := _TITLE.match(body):
        body = body[found.end() :].lstrip()
    lines = [line for line in (body or text).splitlines() if not _RULE.fullmatch(line.strip())]
    flat = printable(" ".join(_first_prose(lines) or lines)).lstrip("#>*- ")
    if len(flat) <= limit:
        return flat
    whole = [end for end in sentence_ends(flat[: limit + 1]) if end < limit]
    if whole and whole[-1] >= min(40, limit // 5):
        return flat[: whole[-1]]
    return flat[: limit - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


def _first_prose(lines: list[str]) -> list[str]:
    """Return the first lines that belong together and are no heading, list or table."""
    begun = dropwhile(lambda line: not line.strip() or _NO_PROSE.match(line), lines)
    return list(takewhile(lambda line: not _NO_PROSE.match(line), begun))
