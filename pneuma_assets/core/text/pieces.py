"""Cutting a text into pieces that fit a window of tokens, where a reader would cut it."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate

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
