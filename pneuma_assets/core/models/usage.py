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


@dataclass(slots=True)
class Usage:
    """What language models were asked.

    Attributes:
        calls: Requests, repeated and refused ones included; of a model in this process, prompts.
        read: Tokens of these, as the back end counts them, else a third of the characters.
        written: Tokens of the answers, likewise.
    """

    calls: int = 0
    read: int = 0
    written: int = 0


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


def note(calls: int = 0, read: int = 0, written: int = 0) -> None:
    """Add to whatever counts here."""
    with _lock:
        for used in _counts.get():
            used.calls += calls
            used.read += read
            used.written += written


def tokens(counted: object, text: str) -> int:
    """Return the tokens that a back end counted, or about how many a text has."""
    return counted if isinstance(counted, int) else len(text) // CHARACTERS_PER_TOKEN
