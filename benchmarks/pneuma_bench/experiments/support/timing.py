"""How long something takes, by the clock and by the processor, and how much memory there was."""

import os
import resource
import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Took(NamedTuple):
    """Seconds by the clock, and of processor time of this process and of those it waited for."""

    wall: float
    cpu: float


def timed(work: Callable[[], T]) -> tuple[T, Took]:
    """Return what some work gives, and what it took; the processor's tells what others do not."""
    wall, cpu = time.perf_counter(), _cpu()
    found = work()
    return found, Took(time.perf_counter() - wall, _cpu() - cpu)


def peak_mb() -> float:
    """Return the most memory that this process has had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
