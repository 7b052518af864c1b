"""Batches balanced by tokens whose size is searched, and shrinks when memory runs out.

This is "data ingestion via dynamic batch-size selection" of Pneuma, section 4, for anything that
works through many texts: generation, judging, encoding. Two things differ from the paper. The
search costs no probing: the work itself is the probe, and what a failed batch had already
finished is kept. And a batch is bounded by its padded tokens rather than by its rows, so a batch
of long prompts has few rows and a batch of short ones has many.
"""

import gc
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from pneuma_assets.core.errors import OutOfMemoryError
from pneuma_assets.core.models.batch_size import BatchSizer
from pneuma_assets.core.models.memory import is_out_of_memory

__all__ = ["BatchSizer", "is_out_of_memory", "longest_first", "run_batches"]

T = TypeVar("T")

PATIENCE = (0.5, 1.0)
"""Seconds before one item that did not fit is tried again: another process may give way."""

_log = logging.getLogger(__name__)


def run_batches(
    sizes: Sequence[int],
    run: Callable[[list[int]], Iterator[tuple[int, T]]],
    sizer: BatchSizer,
    *,
    order: Sequence[int] | None = None,
    release: Callable[[], object] = gc.collect,
    unfit: Callable[[int, OutOfMemoryError], object] | None = None,
    wait: Callable[[float], object] = time.sleep,
) -> Iterator[tuple[int, T]]:
    """Work through items in batches; yield each item's position and result as it finishes.

    An item that does not fit even alone is tried again after a while; if it fails for good, the
    next that does not fit has no second try until something fits again, so that a thousand of
    them cost no hour.

    Args:
        sizes: Tokens of each item, those it will generate included.
        run: Works on the items at these positions and yields (position, result) for each, in any
            order. What it yielded before running out of memory is kept and not done again.
        sizer: The batch size, kept from call to call by its owner.
        order: The positions in the order to take them, longest first by default, so that memory
            runs out at the start or not at all.
        release: Frees what a failed batch left behind.
        unfit: Told of an item that does not fit alone, which then has no result; the others go
            on. Without it such an item ends the work.
        wait: Sleeps.

    Raises:
        OutOfMemoryError: A single item does not fit, and there is no `unfit`.
    """
    waiting = deque(order if order is not None else longest_first(sizes))
    mean = max(1.0, sum(sizes) / max(1, len(sizes)))
    sizer.measure_in(mean)
    patience = iter(PATIENCE)
    while waiting:
        batch = _take(waiting, sizes, sizer, mean)
        pending = set(batch)
        failure = None
        try:
            for position, result in run(batch):
                pending.discard(position)
                yield position, result
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            # Without its traceback, which holds the batch's tensors.
            failure = error.with_traceback(None)
        rows = len(batch) * max(sizes[position] for position in batch) / mean
        if failure is None:
            sizer.succeeded(rows, full=bool(waiting))
            patience = iter(PATIENCE)
            continue
        release()
        if len(batch) > 1:
            sizer.failed(rows)
            _log.warning("Out of memory at batch size %.0f; going on with %d", rows, sizer.size)
        elif pending:
            pause = next(patience, None)
            if pause is None:
                _give_up(batch[0], sizes[batch[0]], failure, unfit)
                continue
            wait(pause)
        waiting.extendleft(position for position in reversed(batch) if position in pending)


def longest_first(sizes: Sequence[int]) -> list[int]:
    """Return the positions by falling size; neighbours of equal size stay neighbours."""
    return sorted(range(len(sizes)), key=lambda position: -sizes[position])


def _take(waiting: deque[int], sizes: Sequence[int], sizer: BatchSizer, mean: float) -> list[int]:
    """Take items from the front until the batch's padded tokens reach what the size allows."""
    tokens = sizer.size * mean
    if sizer.token_budget is not None:
        tokens = min(tokens, sizer.token_budget)
    batch = [waiting.popleft()]
    widest = sizes[batch[0]]
    rows = sizer.max_batch if sizer.size > 1 else 1
    while waiting and len(batch) < rows:
        widest = max(widest, sizes[waiting[0]])
        if widest * (len(batch) + 1) > tokens:
            break
        batch.append(waiting.popleft())
    return batch


def _give_up(
    position: int,
    tokens: int,
    failure: BaseException,
    unfit: Callable[[int, OutOfMemoryError], object] | None,
) -> None:
    error = OutOfMemoryError(
        f"One text of {tokens} tokens does not fit in memory; use a smaller model, dtype '4bit' "
        "or 'bfloat16', or a device with more memory"
    )
    if unfit is None:
        raise error from failure
    unfit(position, error)
