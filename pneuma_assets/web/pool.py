"""Runs what takes time beside the event loop: so many at once, so many waiting, so long.

A thread cannot be ended. What is given up keeps its place until it ends by its own bounds, so that
work that nobody waits for never piles up.
"""

import asyncio
import contextvars
import inspect
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from fastapi.routing import APIRoute
from starlette.requests import Request

from pneuma_assets.web.problems import RefusedError

T = TypeVar("T")

_WAITING_PER_THREAD = 16


class WorkPool:
    """Threads of one worker process for one kind of work.

    Args:
        name: Of its threads.
        threads: How many run at once.
        seconds: How long a request waits for its work.
    """

    def __init__(self, name: str, threads: int, seconds: float) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=f"pneuma-{name}")
        self._most, self._seconds = threads * (1 + _WAITING_PER_THREAD), seconds
        self.held = 0

    async def run(self, work: Callable[[], T]) -> T:
        """Return what the work returns.

        Raises:
            RefusedError: Too much is waiting, or it took too long.
        """
        if self.held >= self._most:
            raise RefusedError(
                503, "busy", "Too many ask at once; ask again.", {"Retry-After": "1"}
            )
        self.held += 1
        future = asyncio.get_running_loop().run_in_executor(
            self._threads, contextvars.copy_context().run, work
        )
        future.add_done_callback(self._release)
        done, _ = await asyncio.wait([future], timeout=self._seconds)
        if not done:
            future.cancel()
            raise RefusedError(
                503, "too-slow", "This took too long and was given up; ask for less."
            )
        return future.result()

    def close(self) -> None:
        """Take no more work, and wait for none."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _release(self, future: "asyncio.Future[Any]") -> None:
        self.held -= 1
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
