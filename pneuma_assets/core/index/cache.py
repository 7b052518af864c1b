"""Remembering what was computed or read last, since each question asks an index twice.

First for what it proposes, then for the true scores of what any signal proposed; and questions
that people ask one after the other propose much the same tables.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

from pneuma_assets.core.tables import content_hash

Value = TypeVar("Value")

MOST_KEPT = 10_000
"""Values, however small they are: each takes some hundred bytes beside what it holds."""


def key_of(name: str, terms: Sequence[str]) -> str:
    """Return a key for what was computed of terms, as small for a long question as for a short."""
    return content_hash(name, " ".join(terms))  # no term holds a space


class LruCache(Generic[Value]):
    """Values by what they were made of, the newest of them, for any number of threads.

    Two threads that ask for the same at once may both make it. Keys are not weighed: they are to
    be small.

    Args:
        most_bytes: How much is kept.
        size: Bytes that a value takes.
        most: How many are kept.
    """

    def __init__(
        self,
        most_bytes: int = 0,
        size: Callable[[Value], int] = lambda _: 0,
        most: int = MOST_KEPT,
    ) -> None:
        self._most_bytes = most_bytes
        self._most = most
        self._size = size
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, Value] = OrderedDict()
        self._bytes = 0

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return what belongs to a key, made now if it is not kept."""
        return self.many([key], lambda _: [make()])[0]

    def many(
        self, keys: Sequence[Hashable], make: Callable[[Sequence[int]], Sequence[Value]]
    ) -> list[Value]:
        """Return what belongs to different keys; `make` gets the places of those not kept."""
        found: dict[int, Value] = {}
        with self._lock:
            for place, key in enumerate(keys):
                if key in self._kept:
                    self._kept.move_to_end(key)
                    found[place] = self._kept[key]
        missing = [place for place in range(len(keys)) if place not in found]
        if missing:
            made = make(missing)
            found.update(zip(missing, made, strict=True))
            self._keep([keys[place] for place in missing], made)
        return [found[place] for place in range(len(keys))]

    def _keep(self, keys: Sequence[Hashable], values: Sequence[Value]) -> None:
        with self._lock:
            for key, value in zip(keys, values, strict=True):
                if key not in self._kept:
                    self._kept[key] = value
                    self._bytes += self._size(value)
            while self._bytes > self._most_bytes or len(self._kept) > self._most:
                _, oldest = self._kept.popitem(last=False)
                self._bytes -= self._size(oldest)
