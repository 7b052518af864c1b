"""Remembering the scores of the newest questions, since each asks an index twice.

First for what it proposes, then for the true scores of what any signal proposed.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

import numpy as np
import numpy.typing as npt

_MOST_BYTES = 64_000_000

Arrays = tuple[npt.NDArray[np.float32], ...]


class Recent:
    """Arrays by what they were computed of, the newest of them, for any number of threads.

    Two threads that ask for the same at once may both compute it.
    """

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, Arrays] = OrderedDict()
        self._bytes = 0

    def get(self, key: Hashable, compute: Callable[[], Arrays]) -> Arrays:
        """Return what is kept under the key, computed now if there is nothing."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        found = compute()
        with self._lock:
            if key not in self._kept:
                self._kept[key] = found
                self._bytes += _size(found)
            while self._bytes > self._most_bytes:
                _, oldest = self._kept.popitem(last=False)
                self._bytes -= _size(oldest)
        return found


def _size(arrays: Arrays) -> int:
    return sum(array.nbytes for array in arrays)
