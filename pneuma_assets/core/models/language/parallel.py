"""Asks several prompts at once."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextvars import copy_context
from queue import SimpleQueue
from threading import Event, Thread
from typing import TypeVar

from pneuma_assets.core.errors import ModelError

P = TypeVar("P")
T = TypeVar("T")


def in_parallel(
    work: Callable[[P], T], prompts: Sequence[P], threads: int
) -> Iterator[tuple[int, T]]:
    """Yield (position, result) as they finish; after a failure no other one is begun.

    What is under way then is waited for and yielded: it is paid for. Who stops early waits for
    nothing, nor does a process that ends, so that an interrupt is one.

    Raises:
        ModelError: There is no thread left; or whatever the first that failed raised.
    """
    waiting = deque((at, prompt, copy_context()) for at, prompt in enumerate(prompts))
    done: SimpleQueue[tuple[int, T] | BaseException | None] = SimpleQueue()
    stopped = Event()

    def ask() -> None:
        try:
            while (task := _next(waiting)) and not stopped.is_set():
                at, prompt, context = task
                done.put((at, context.run(work, prompt)))
        except BaseException as error:  # noqa: BLE001 (it is raised where the results are taken)
            stopped.set()
            done.put(error)
        finally:
            done.put(None)

    failure: BaseException | None = None
    try:
        working = _started(ask, min(threads, len(prompts)))
        while working:
            given = done.get()
            if given is None:
                working -= 1
            elif isinstance(given, BaseException):
                failure = failure or given
            else:
                yield given
        if failure is not None:
            raise failure
    finally:
        stopped.set()


def _next(waiting: deque[P]) -> P | None:
    try:
        return waiting.popleft()
    except IndexError:  # all are begun
        return None


def _started(work: Callable[[], None], threads: int) -> int:
    """Start so many threads, or fewer where there are no more; returns how many."""
    for number in range(threads):
        try:
            Thread(target=work, name="prompts", daemon=True).start()
        except RuntimeError as error:
            if not number:
                raise ModelError("This machine has no thread left to ask a model by") from error
            return number
    return threads
