"""The search for the largest batch that fits in memory (Pneuma, section 4)."""

from collections import deque

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
