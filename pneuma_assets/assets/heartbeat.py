"""A stage's progress in the log of its run: what begins, now and then how far it is, and silence.

A model that loads, or one call that takes minutes, reports nothing, and a log without a line looks
like a run that hangs. So whatever was said last is repeated while nothing else is.
"""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from pneuma_assets.core.progress import ProgressListener

LOG_EVERY_S = 10.0
"""Least time between two lines of the same work."""

SILENCE_S = 30.0
"""Most time without any line."""


class Heartbeat:
    """Writes what is reported to a log, and repeats it in silence; safe to use from threads.

    Args:
        log: Of the run.
        stage: What is said to be at work before anything was reported.
        silence_s: See `SILENCE_S`.
    """

    def __init__(self, log: logging.Logger, stage: str, silence_s: float = SILENCE_S) -> None:
        self._log = log
        self._silence_s = silence_s
        self._lock = threading.Lock()
        self._said, self._said_at = stage, time.monotonic()
        self._logged_at = self._said_at

    def hear(self, activity: str, done: int, total: int) -> None:
        """Log what begins at once, and the rest every `LOG_EVERY_S`."""
        now = time.monotonic()
        with self._lock:
            self._said = f"{activity}: {done} of {total}" if total else activity
            self._said_at = now
            if done != 0 and now - self._logged_at < LOG_EVERY_S:
                return
            self._logged_at = now
            said = self._said
        self._log.info(said)

    def repeat(self, ended: threading.Event) -> None:
        """Say in silence what was said last, and for how long, until `ended` is set."""
        while not ended.wait(self._remaining()):
            now = time.monotonic()
            with self._lock:
                if now - self._logged_at < self._silence_s:
                    continue
                self._logged_at = now
                said = f"still, after {now - self._said_at:.0f} s: {self._said}"
            self._log.info(said)

    def _remaining(self) -> float:
        with self._lock:
            return max(0.0, self._logged_at + self._silence_s - time.monotonic())


@contextmanager
def beating(
    log: logging.Logger, stage: str, silence_s: float = SILENCE_S
) -> Iterator[ProgressListener]:
    """Yield a listener whose log is never silent for long, until the `with` block ends."""
    heartbeat, ended = Heartbeat(log, stage, silence_s), threading.Event()
    thread = threading.Thread(
        target=heartbeat.repeat, args=(ended,), name=f"heartbeat of {stage}", daemon=True
    )
    thread.start()
    try:
        yield heartbeat.hear
    finally:
        ended.set()
        thread.join()
