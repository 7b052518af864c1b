"""What language models were asked, counted where requests leave, for whoever wants to know.

Counted by those who ask, a request that a client repeats would be missed, and those of a judge.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

CHARACTERS_PER_TOKEN = 3
"""Of English and SQL a token has four and more; of names and numbers less."""


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost that a model reads, and that it writes."""

    read: float
    written: float

    def cost(self, read: int, written: int) -> float:
        """Return what so many tokens cost."""
        return (read * self.read + written * self.written) / 1e6


@dataclass(slots=True)
class Usage:
    """What language models were asked.

    Attributes:
        calls: Requests, repeated and refused ones included; of a model in this process, prompts.
        read: Tokens of these, as the back end counts them, else a third of the characters.
        written: Tokens of the answers, likewise.
        cost: Money, by the prices that are given; 0 where none are.
    """

    calls: int = 0
    read: int = 0
    written: int = 0
    cost: float = 0.0


_lock = threading.Lock()
_counts: ContextVar[tuple[Usage, ...]] = ContextVar("usage", default=())


@contextmanager
def counting() -> Iterator[Usage]:
    """Count what any model is asked within the block, by this thread or in its context."""
    used = Usage()
    token = _counts.set((*_counts.get(), used))
    try:
        yield used
    finally:
        _counts.reset(token)


def note(calls: int = 0, read: int = 0, written: int = 0, prices: Prices | None = None) -> None:
    """Add to whatever counts here."""
    cost = prices.cost(read, written) if prices else 0.0
    with _lock:
        for used in _counts.get():
            used.calls += calls
            used.read += read
            used.written += written
            used.cost = round(used.cost + cost, 9)


def tokens(counted: object, text: str) -> int:
    """Return the tokens that a back end counted, or about how many a text has."""
    if isinstance(counted, int) and not isinstance(counted, bool) and counted >= 0:
        return counted
    return len(text) // CHARACTERS_PER_TOKEN
