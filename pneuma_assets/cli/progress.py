"""Shows the progress of long work on standard error: a bar an activity, or a line now and then."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from pneuma_assets.core.progress import listening
from pneuma_assets.core.text.safe import printable

SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def showing_progress(*, lasting: bool = True) -> Iterator[None]:
    """Show every report made inside the `with` block.

    On a terminal each activity has a bar. Elsewhere (a log, a pipe) an activity writes a line
    when it ends, when it says that it begins, and at most every `SECONDS_BETWEEN_LINES` between.

    Args:
        lasting: Whether the bars stay when the work is done, and lines are written at all.
    """
    if sys.stderr.isatty():
        with _bars(transient=not lasting):
            yield
    elif lasting:
        with listening(_Lines()):
            yield
    else:
        yield


@contextmanager
def _bars(*, transient: bool) -> Iterator[None]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    tasks: dict[str, TaskID] = {}
    # Dagster turns standard error into a file while a step runs, and copies that late.
    terminal = os.fdopen(
        os.dup(sys.stderr.fileno()), "w", encoding=sys.stderr.encoding, errors="replace"
    )
    bars = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(file=terminal, markup=False, emoji=False, highlight=False),
        transient=transient,
    )

    starting = bars.add_task("starting", total=None)

    def listener(activity: str, done: int, total: int) -> None:
        bars.update(starting, visible=False)
        if activity not in tasks:
            tasks[activity] = bars.add_task(printable(activity), total=None)
        bars.update(tasks[activity], completed=done, total=total or None)

    with terminal, bars, listening(listener):
        yield


class _Lines:
    """Writes plain lines, seldom enough for a log."""

    def __init__(self) -> None:
        self._last: dict[str, float] = {}
        self._uncounted: set[str] = set()

    def __call__(self, activity: str, done: int, total: int) -> None:
        now = time.monotonic()
        due = now - self._last.setdefault(activity, now) >= SECONDS_BETWEEN_LINES
        if not (due or done == 0 or done >= total):
            return
        self._last[activity] = now
        if total == 0:
            self._uncounted.add(activity)
            state = " ..."
        else:
            state = ": done" if activity in self._uncounted else f": {done} of {total}"
        print(f"{printable(activity)}{state}", file=sys.stderr, flush=True)  # noqa: T201
