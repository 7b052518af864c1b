"""Reads what a model answers: where an answer ends early, and how sure a yes is.

What a model says after its first sentence costs time and adds noise.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextvars import copy_context
from typing import TypeVar

from pneuma_assets.core.text.sentences import ends_sentence

P = TypeVar("P")
T = TypeVar("T")

TAIL_TOKENS = 8
"""Tokens looked at after each step; a stop string is shorter than what these spell."""


def cut_at(text: str, stop: Sequence[str]) -> str:
    """Return the text before the first of these strings in it.

    One that begins with a full stop counts only where a sentence ends: not "e.g. Italy" but
    "of Rome. Italy" ends at ". It".
    """
    ends = [place for end in stop if (place := _find(text, end)) >= 0]
    return text[: min(ends)] if ends else text


def stop_test(
    stop: Sequence[str], decode: Callable[[Sequence[int]], str]
) -> Callable[[Sequence[int]], bool]:
    """Return what tells from the tokens written so far whether a stop string has just appeared."""

    def ended(written: Sequence[int]) -> bool:
        tail = decode(written[-TAIL_TOKENS:])
        if not any(end in tail for end in stop):
            return False
        text = decode(written)  # an abbreviation may be longer than the tail
        return cut_at(text, stop) != text

    return ended if stop else lambda _: False


def wrongly_cut(text: str, stop: Sequence[str]) -> bool:
    """Tell whether a server, which knows no abbreviations, cut this text after one.

    Such an answer is to be asked for again with `cautious(stop)`.
    """
    sentence = next((end for end in stop if end.startswith(".")), None)
    return sentence is not None and not ends_sentence(text + sentence, len(text))


def cautious(stop: Sequence[str]) -> list[str]:
    """Return the stop strings that need no sentence's end."""
    return [end for end in stop if not end.startswith(".")]


def _find(text: str, end: str) -> int:
    place = text.find(end)
    while place >= 0 and end.startswith(".") and not ends_sentence(text, place):
        place = text.find(end, place + 1)
    return place


YES_WORDS = ("yes", "Yes", "YES", " yes", " Yes", " YES")
NO_WORDS = ("no", "No", "NO", " no", " No", " NO")


def yes_share(log_probabilities: Iterable[tuple[str, float]]) -> float | None:
    """Return P(yes) / (P(yes) + P(no)) over first tokens, or None where neither occurs.

    Args:
        log_probabilities: The text of each candidate token and its natural log probability.
    """
    yes = no = 0.0
    for text, value in log_probabilities:
        word = text.strip().lower()
        if word == "yes":
            yes += math.exp(value)
        elif word == "no":
            no += math.exp(value)
    return yes / (yes + no) if yes + no > 0 else None


def said(answer: str) -> float:
    """Return 1.0 for an answer that begins with yes; as with the authors, all else is a no: 0.0."""
    return float(answer.lstrip(" \t\r\n\"'*#-").lower().startswith("yes"))


def in_parallel(
    work: Callable[[P], T], prompts: Sequence[P], threads: int
) -> Iterator[tuple[int, T]]:
    """Yield (position, result) as they finish; a failure or stopping early cancels the rest."""
    pool = ThreadPoolExecutor(threads, thread_name_prefix="prompts")
    try:
        asked = {
            pool.submit(copy_context().run, work, prompt): index
            for index, prompt in enumerate(prompts)
        }
        for future in as_completed(asked):
            yield asked[future], future.result()
    finally:
        pool.shutdown(cancel_futures=True)
