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
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from pneuma_assets.core.errors import OutOfMemoryError

T = TypeVar("T")

_HOST_MESSAGES = ("not enough memory", "can't allocate memory", "out of memory")
_log = logging.getLogger(__name__)


class BatchSizer:
    """Searches the largest batch that fits, between one row and `max_batch`.

    The first batch is tried at `max_batch`; where it does not fit, its half is tried, and so on.
    After `calm_batches` full batches without failure the size moves half-way to the smallest one
    that failed (the binary search), and once there is nothing between them, past it: what else
    lives in the memory changes with time.

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
        self.size = max_batch
        self.history: deque[int] = deque(maxlen=10_000)
        self._failed: int | None = None
        self._calm = 0

    def succeeded(self, *, full: bool) -> None:
        """Note that a batch fitted; only `full` ones say something about the size."""
        self.history.append(self.size)
        self._calm += full
        if self._calm < self.calm_batches or self.size == self.max_batch:
            return
        self._calm = 0
        if self._failed is not None and self._failed > self.size + 1:
            self.size = (self.size + self._failed) // 2
        else:
            self._failed = None
            self.size = min(self.max_batch, self.size + max(1, self.size // 4))

    def failed(self, tried: int) -> None:
        """Note that `tried` rows of average length did not fit, and halve them."""
        self.history.append(self.size)
        self._calm = 0
        self._failed = max(2, min(tried, self.size))
        self.size = self._failed // 2


def run_batches(
    sizes: Sequence[int],
    run: Callable[[list[int]], Iterator[tuple[int, T]]],
    sizer: BatchSizer,
    *,
    order: Sequence[int] | None = None,
    release: Callable[[], object] = gc.collect,
) -> Iterator[tuple[int, T]]:
    """Work through items in batches; yield each item's position and result as it finishes.

    Args:
        sizes: Tokens of each item, those it will generate included.
        run: Works on the items at these positions and yields (position, result) for each, in any
            order. What it yielded before running out of memory is kept and not done again.
        sizer: The batch size, kept from call to call by its owner.
        order: The positions in the order to take them, longest first by default, so that memory
            runs out at the start or not at all.
        release: Frees what a failed batch left behind.

    Raises:
        OutOfMemoryError: A single item does not fit.
    """
    waiting = deque(order if order is not None else longest_first(sizes))
    mean = max(1.0, sum(sizes) / max(1, len(sizes)))
    while waiting:
        batch = _take(waiting, sizes, sizer, mean)
        pending = set(batch)
        try:
            for position, result in run(batch):
                pending.discard(position)
                yield position, result
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            if len(batch) == 1:
                raise OutOfMemoryError(
                    f"One text of {sizes[batch[0]]} tokens does not fit in memory; use a smaller "
                    f"model, dtype '4bit' or 'bfloat16', or a device with more memory"
                ) from error
        if pending:
            # Outside the except block, so that the traceback no longer holds the batch's tensors.
            tried = max(len(batch), round(_padded(batch, sizes) / mean))
            sizer.failed(tried)
            _log.warning("Out of memory at batch size %d; going on with %d", tried, sizer.size)
            release()
            waiting.extendleft(position for position in reversed(batch) if position in pending)
        else:
            sizer.succeeded(full=bool(waiting))


def longest_first(sizes: Sequence[int]) -> list[int]:
    """Return the positions by falling size; neighbours of equal size stay neighbours."""
    return sorted(range(len(sizes)), key=lambda position: -sizes[position])


def is_out_of_memory(error: BaseException) -> bool:
    """Say whether an exception means that memory ran out, on the device or on the host."""
    if isinstance(error, MemoryError):
        return True
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(error, torch.OutOfMemoryError):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and any(part in text for part in _HOST_MESSAGES)


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


def _padded(batch: Sequence[int], sizes: Sequence[int]) -> int:
    return len(batch) * max(sizes[position] for position in batch)
