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
    """Yield (position, result) as they finish; a failure or stopping early cancels the rest."""
    pool = ThreadPoolExecutor(threads, thread_name_prefix="prompts")
    try:
        try:
            asked = {
                pool.submit(copy_context().run, work, prompt): index
                for index, prompt in enumerate(prompts)
            }
        except RuntimeError as error:
            raise ModelError("This machine has no thread left to ask a model by") from error
        for future in as_completed(asked):
            yield asked[future], future.result()
    finally:
        pool.shutdown(cancel_futures=True)
