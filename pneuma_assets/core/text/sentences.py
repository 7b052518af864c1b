"""Where sentences end, and where a text is cut: after its first sentences, or to fit a window.

A rule of this project's own, because such text is full of units and abbreviations: the libraries
tried (sentencex 1.0.32, pysbd 0.3.4, syntok 1.4.4) end a sentence at "The approx. weight",
"in lbs. of the ship", or "e.g. The Wall". Here what follows decides first: a small letter never
begins a sentence.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, dropwhile, takewhile

from pneuma_assets.core.text.safe import printable

_MARK = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s|$)|[。！？।]+[\"'”’」）]*")  # noqa: RUF001
_FIRST_MARK = re.compile(f"(?<![.!?…]){_MARK.pattern}")  # else a row of dots is read from each
_BLANKS = re.compile(r"\s*")
_LAST_WORD = re.compile(r"[^\s(\[\"'/-]+$")
_DOTTED = re.compile(r"[a-z](\.[a-z])*")

_NEVER_LAST = frozenset(
    "aka approx cf dr e.g eg excl i.e ie incl mr mrs prof viz vs".split()  # noqa: SIM905
)
_SELDOM_LAST = frozenset(
    "abbr apr art aug avg ave capt col dec dept dist div est feb fig figs fri gen gov hon"  # noqa: SIM905
    " jan jr lat long max mean min mon mt ms no nos nov nr num oct op pct pop pp qty ref rep resp"
    " sat sen sep sept sr st std sun temp thu tue univ vol wed".split()
)
"""Also words, units or names that may end a sentence: they do before a word that begins one."""

_FIRST = re.compile(r"(A|An|Each|For|If|In|It|Its|That|The|There|These|They|This)\b")


def sentence_ends(text: str) -> Iterator[int]:
    """Yield the places behind the marks that end a sentence, the end of the text included."""
    for mark in _FIRST_MARK.finditer(text):
        if _ends(text, mark):
            yield mark.end()


def ends_sentence(text: str, at: int) -> bool:
    """Tell whether the mark at this place of the text ends a sentence."""
    mark = _MARK.match(text, at)
    return mark is not None and _ends(text, mark)


def _ends(text: str, mark: re.Match[str]) -> bool:
    following = _BLANKS.match(text, mark.end())
    after = following.end() if following else mark.end()
    if after == len(text) or mark.group()[0] in "。！？।":  # noqa: RUF001
        return True
    if text[after].islower():
        return False
    if mark.group()[0] != ".":
        return True
    found = _LAST_WORD.search(text, max(0, mark.start() - 20), mark.start())
    word = found.group().lower() if found else ""
    if word in _NEVER_LAST:
        return False
    if word in _SELDOM_LAST or _DOTTED.fullmatch(word):
        return _FIRST.match(text, after) is not None
    return True


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


_BOUNDARIES = ("\n", " | ", ". ", " ")
"""Where a long document is best cut: between lines, cells, sentences, words, in this order."""

Spans = Sequence[tuple[int, int]]
"""Where each token of a text starts and ends, in characters."""

Piece = tuple[str, int]
"""A text that fits the window, and how many tokens it has."""


def pieces(
    text: str, spans: Spans, window: int, tokenize: Callable[[Sequence[str]], Sequence[Spans]]
) -> list[Piece]:
    """Split a text until every piece, tokenized by itself, fits the window; no token, no piece."""
    parts = [part.strip() for part in split_text(text, spans, window)]
    if len(parts) <= 1:
        return [(text, len(spans))] if spans else []
    return [
        piece
        for part, part_spans in zip(parts, tokenize(parts), strict=True)
        for piece in pieces(part, part_spans, window, tokenize)
    ]


def split_text(text: str, spans: Spans, window: int) -> list[str]:
    """Cut a text into parts of at most `window` tokens that, joined, are the text again.

    Args:
        text: The text.
        spans: Where each of its tokens starts and ends, in characters.
        window: The most tokens of one part. A part has more only if a single character does.
    """
    starts = list(accumulate((start for start, _ in spans), max))
    parts, begin, first = [], 0, 0
    while len(starts) - first > window:
        end = starts[first + window]
        if end <= begin:  # one character of more than `window` tokens cannot be cut
            following = bisect_right(starts, begin)
            if following == len(starts):
                break
            end = starts[following]
        cut = _best_cut(text, max(begin, starts[first + window // 2]), end)
        parts.append(text[begin:cut])
        begin, first = cut, bisect_left(starts, cut, first)
    return [part for part in (*parts, text[begin:]) if part]


def _best_cut(text: str, low: int, high: int) -> int:
    """Return where to cut after `low` and up to `high`: at the best boundary, or at `high`."""
    for boundary in _BOUNDARIES:
        at = text.rfind(boundary, low, high)
        if at >= 0:
            return at + len(boundary)
    return high
