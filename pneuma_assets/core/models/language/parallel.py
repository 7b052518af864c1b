"""Asks several prompts at once."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextvars import copy_context
from typing import TypeVar

from pneuma_assets.core.errors import ModelError

P = TypeVar("P")
T = TypeVar("T")


def in_parallel(
    work: Callable[[P], T], prompts: Sequence[P], threads: int
) -> Iterator[tuple[int, T]]:
    """Yield (position, result) as they finish; a failure or stopping early cancels the rest.

    What was under way as one failed is yielded before that raises.
    """
    pool = ThreadPoolExecutor(threads, thread_name_prefix="prompts")
    try:
        try:
            asked = {
                pool.submit(copy_context().run, work, prompt): index
                for index, prompt in enumerate(prompts)
            }
        except RuntimeError as error:
            raise ModelError("This machine has no thread left to ask a model by") from error
        try:
            for future in as_completed(asked):
                yield asked.pop(future), future.result()
        except Exception:
            pool.shutdown(cancel_futures=True)
            for future, index in asked.items():
                if not future.cancelled() and future.exception() is None:
                    yield index, future.result()
            raise
    finally:
        pool.shutdown(cancel_futures=True)
