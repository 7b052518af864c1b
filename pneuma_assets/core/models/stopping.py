"""Ends an answer early: what a model says after its first sentence costs time and adds noise."""

from collections.abc import Callable, Sequence

TAIL_TOKENS = 8
"""Tokens looked at after each step; a stop string is shorter than what these spell."""


def cut_at(text: str, stop: Sequence[str]) -> str:
    """Return the text before the first of these strings in it."""
    ends = [place for place in (text.find(end) for end in stop) if place >= 0]
    return text[: min(ends)] if ends else text


def stop_test(
    stop: Sequence[str], decode: Callable[[Sequence[int]], str]
) -> Callable[[Sequence[int]], bool]:
    """Return what tells from the tokens written so far whether a stop string has just appeared."""

    def ended(written: Sequence[int]) -> bool:
        tail = decode(written[-TAIL_TOKENS:])
        return any(end in tail for end in stop)

    return ended if stop else lambda _: False
