"""Batches balanced by tokens whose size is searched, and shrinks when memory runs out.

This is "data ingestion via dynamic batch-size selection" of Pneuma, section 4, for anything that
works through many texts: generation, judging, encoding. Two things differ from the paper. The
search costs no probing: the work itself is the probe, and what a failed batch had already
finished is kept. And a batch is bounded by its padded tokens rather than by its rows, so a batch
of long prompts has few rows and a batch of short ones has many.
"""

import gc
import logging
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from pneuma_assets.core.errors import OutOfMemoryError

T = TypeVar("T")

PATIENCE = (0.5, 1.0)
"""Seconds before one item that did not fit is tried again: another process may give way."""

_log = logging.getLogger(__name__)

_MESSAGES = (
    "not enough memory",
    "can't allocate memory",
    "out of memory",
    "bad_alloc",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_NOT_SUPPORTED",  # what cuDNN says where it finds no room to work in
)


PRECISION = 0.05
"""The search ends when the smallest batch that failed is this share above the largest that fit."""

_RAREST_PROBE = 128
"""Batches; however often memory was found full, it is tried again after so many."""


class BatchSizer:
    """Searches the largest batch that fits, between one row and `max_batch`.

    The first batch is tried at `max_batch` and halved until one fits. From there it is a binary
    search between the largest that fitted and the smallest that failed, a step a batch. What
    else lives in the memory changes with time, so after `calm_batches` batches without failure
    the size that failed is tried again: if it fits now, the size climbs in growing steps, if it
    does not, the next probe waits twice as long. A failure at what once fitted begins anew.

    Sizes count rows of average length; `run_batches` turns them into tokens.

    Attributes:
        size: The current batch size.
        history: The size of every batch run, failed ones included, the last 10,000.
    """

    def __init__(
        self, max_batch: int, token_budget: int | None = None, calm_batches: int = 8
    ) -> None:
        self.max_batch = max_batch
        self.token_budget = token_budget
        self.calm_batches = calm_batches
        self.size: float = max_batch
        self.history: deque[float] = deque(maxlen=10_000)
        self._mean: float | None = None
        self._fitted = 0.0
        self._failed: float | None = None
        self._calm = 0
        self._patience = calm_batches
        self._climbs = 0  # batches in a row that went beyond what had failed

    def measure_in(self, mean: float) -> None:
        """Let sizes count rows of `mean` tokens from now on; what is known is converted."""
        scale = 1.0 if self._mean is None else self._mean / mean
        self._mean = mean
        self._fitted *= scale
        if self._failed is not None:
            self._failed *= scale
        if self._failed is not None or self.size < self.max_batch:
            self._set(self.size * scale)

    def succeeded(self, rows: float, *, full: bool) -> None:
        """Note that `rows` fitted; unless `full`, more would have been taken had there been any."""
        self.history.append(self.size)
        self._fitted = max(self._fitted, rows)
        if self._failed is not None and self._fitted >= self._failed:
            self._failed = None
        if not full:
            return
        if self._failed is None:
            self._climb()
            return
        self._climbs = 0
        self._calm += 1
        if self._calm < self._patience:
            self._search(self._failed)
        else:
            self._calm = 0
            self._climbs = 1
            self._set(self._failed)

    def failed(self, rows: float) -> None:
        """Note that `rows` did not fit."""
        self.history.append(self.size)
        dropped = rows <= self._fitted
        if dropped or self._climbs:
            self._patience = min(_RAREST_PROBE, 2 * self._patience)
        if dropped:
            self._fitted = 0.0
        self._calm = self._climbs = 0
        self._failed = rows
        self._search(rows)

    def _search(self, failed: float) -> None:
        """Go to the middle of what fitted and what failed, or stay at what fitted."""
        close = failed - self._fitted <= max(1.0, PRECISION * self._fitted)
        self._set(self._fitted if close else (self._fitted + failed) / 2)

    def _climb(self) -> None:
        if self.size >= self.max_batch:
            return
        self._climbs += 1
        if self._climbs > 2:  # memory was freed; one success beyond the border may be chance
            self._patience = self.calm_batches
        self._set(self._fitted + max(1.0, PRECISION * self._fitted) * 2**self._climbs)

    def _set(self, size: float) -> None:
        self.size = max(1.0, min(self.max_batch, size))


def run_batches(
    sizes: Sequence[int],
    run: Callable[[list[int]], Iterator[tuple[int, T]]],
    sizer: BatchSizer,
    *,
    order: Sequence[int] | None = None,
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
        release_memory()
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


def is_out_of_memory(error: BaseException) -> bool:
    """Say whether an exception means that memory ran out, on the device or on the host."""
    if isinstance(error, MemoryError):
        return True
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(error, torch.OutOfMemoryError):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and any(part.lower() in text for part in _MESSAGES)


def release_memory() -> None:
    """Give back what is no longer referenced, on the host and on the device."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
