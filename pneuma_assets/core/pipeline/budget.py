"""The time that one tick of a sensor has, for all that it asks of others."""

import time
from collections.abc import Callable

BUDGET_S = 40.0
"""Dagster waits 60 s for a tick, unless DAGSTER_SENSOR_GRPC_TIMEOUT_SECONDS says otherwise."""

LIMIT_S = 55.0
"""By then a tick should have ended; nothing is begun that is known to take longer."""


class Budget:
    """Counts the seconds of one tick, from when this is made.

    Args:
        seconds: After so many nothing else is begun.
        clock: Counts seconds.
    """

    def __init__(
        self, seconds: float = BUDGET_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.seconds = seconds
        self.clock = clock
        self._began = clock()

    @property
    def spent(self) -> float:
        """Seconds that have passed."""
        return self.clock() - self._began

    def has_room_for(self, seconds: float | None) -> bool:
        """Tell whether something may be begun that took so long the last time; None: unknown."""
        spent = self.spent
        return spent < self.seconds and spent + (seconds or 0.0) <= LIMIT_S
