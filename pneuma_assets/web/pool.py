"""Runs what takes time beside the event loop: so many at once, so many waiting, so long.

A thread cannot be ended. What is given up keeps its place until it ends by its own bounds, so that
work that nobody waits for never piles up.
"""

import asyncio
import contextvars
import inspect
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from fastapi.routing import APIRoute
from starlette.requests import Request

from pneuma_assets.web.authentication import CURRENT_ASKER
from pneuma_assets.web.problems import RefusedError

T = TypeVar("T")

_WAITING_PER_THREAD = 16


class _Asker:
    """What one asker has in a pool: so many requests, and turns in which work of theirs runs."""

    def __init__(self, at_once: int) -> None:
        self.requests, self.turns = 0, asyncio.Semaphore(at_once)


class WorkPool:
    """Threads of one worker process for one kind of work.

    Args:
        name: Of its threads.
        threads: How many run at once.
        seconds: How long a request waits for its work.
        of_one: How many of the threads work for one asker at most, so that others find some.
    """

    def __init__(self, name: str, threads: int, seconds: float, of_one: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=f"pneuma-{name}")
        self._most, self._seconds, self._of_one = threads, seconds, of_one
        self._askers: WeakValueDictionary[str, _Asker] = WeakValueDictionary()
        self._requests = 0

    async def run(self, work: Callable[[], T]) -> T:
        """Return what the work returns, for who asks in this request.

        Raises:
            RefusedError: Too much is waiting, or it took too long.
        """
        asker = CURRENT_ASKER.get()
        mine = self._askers.setdefault("" if asker is None else asker.name, _Asker(self._of_one))
        places = 1 + _WAITING_PER_THREAD
        if self._requests >= self._most * places or mine.requests >= self._of_one * places:
            raise RefusedError(
                503, "busy", "Too many ask at once; ask again.", {"Retry-After": "1"}
            )
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
            if begun is not None:
                begun.cancel()  # which does nothing where it runs already
            told = "This took too long and was given up; ask for less."
            raise RefusedError(503, "too-slow", told) from error
        finally:
            self._requests, mine.requests = self._requests - 1, mine.requests - 1

    def close(self) -> None:
        """Take no more work, and wait for none."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _ended(mine: _Asker, future: "asyncio.Future[Any]") -> None:
    mine.turns.release()
    if not future.cancelled():
        future.exception()  # seen, also where nobody waits for it any more


class PooledRoute(APIRoute):
    """A route whose function, where it is a plain one, runs in the pool `asking` of the app."""

    pool = "asking"

    def __init__(self, path: str, endpoint: Callable[..., Any], **more: Any) -> None:
        if not inspect.iscoroutinefunction(endpoint):
            endpoint = _pooled(endpoint, self.pool)
        super().__init__(path, endpoint, **more)


class AnswerRoute(PooledRoute):
    """Likewise, in the pool of answers: models and statements, few at once."""

    pool = "answering"


def _pooled(endpoint: Callable[..., Any], pool: str) -> Callable[..., Any]:
    """Return a function with the same parameters, and the request, that runs this one in a pool."""
    signature = inspect.signature(endpoint)
    asked = inspect.Parameter("pooled_request", inspect.Parameter.KEYWORD_ONLY, annotation=Request)

    async def run(pooled_request: Request, **given: Any) -> Any:
        chosen: WorkPool = getattr(pooled_request.app.state, pool)
        return await chosen.run(lambda: endpoint(**given))

    run.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), asked]
    )
    run.__name__, run.__doc__ = endpoint.__name__, endpoint.__doc__
    run.__module__ = endpoint.__module__
    return run
