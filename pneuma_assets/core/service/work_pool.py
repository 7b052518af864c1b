"""Runs what takes time beside the event loop: so many at once, so many waiting, so long.

A thread cannot be ended. What is given up keeps its place until it ends by its own bounds, so that
work that nobody waits for never piles up.
"""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from pneuma_assets.core.close_once import Closing
from pneuma_assets.core.errors import BusyError, TooSlowError

T = TypeVar("T")

_WAITING_PER_THREAD = 16
_STARTING_S = 30.0
_BUSY = "Too many ask at once; ask again."


class _Asker:
    """What one asker has in a pool: so many requests, and turns in which work of theirs runs."""

    def __init__(self, at_once: int) -> None:
        self.requests, self.turns = 0, asyncio.Semaphore(at_once)


class WorkPool(Closing):
    """Threads of one process for one kind of work, all started now: later there may be none left.

    Args:
        name: Of its threads.
        threads: How many run at once.
        seconds: How long a request waits for its work.
        is_shared: Whether several people ask, so that half of the threads work for one at most.
    """

    def __init__(self, name: str, threads: int, seconds: float, *, is_shared: bool) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=f"pneuma-{name}")
        every = threading.Barrier(threads, timeout=_STARTING_S)
        for _ in range(threads):
            self._threads.submit(every.wait)
        self._most, self._seconds = threads, seconds
        self._of_one = threads // 2 if is_shared else threads
        self._askers: WeakValueDictionary[str, _Asker] = WeakValueDictionary()
        self._requests = 0

    async def run(self, work: Callable[[], T], asker: str = "") -> T:
        """Return what the work returns, for who asks, by name.

        Raises:
            BusyError: Too much is waiting; `TooSlowError`: it took too long, and may go on.
        """
        mine = self._askers.setdefault(asker, _Asker(self._of_one))
        places = 1 + _WAITING_PER_THREAD
        if self._requests >= self._most * places or mine.requests >= self._of_one * places:
            raise BusyError(_BUSY)
        self._requests, mine.requests = self._requests + 1, mine.requests + 1
        begun = None
        try:
            async with asyncio.timeout(self._seconds) as bound:
                await mine.turns.acquire()
                begun = self._threads.submit(contextvars.copy_context().run, work)
                ended = asyncio.wrap_future(begun)
                ended.add_done_callback(partial(_ended, mine))
                return await asyncio.shield(ended)
        except TimeoutError as error:
            if not bound.expired():
                raise
            if begun is None or begun.cancel():
                raise BusyError(_BUSY) from error
            raise TooSlowError("This took too long and was given up; ask for less.") from error
        finally:
            if begun is not None:
                begun.cancel()  # which does nothing where it runs already
            self._requests, mine.requests = self._requests - 1, mine.requests - 1

    def run_later(self, work: Callable[[], object]) -> None:
        """Run what nobody waits for."""
        self._threads.submit(work)

    def close(self) -> None:
        """Take no more work, and wait for none."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _ended(mine: _Asker, future: "asyncio.Future[Any]") -> None:
    mine.turns.release()
    if not future.cancelled():
        future.exception()  # seen, also where nobody waits for it any more
