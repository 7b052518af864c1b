"""How long something takes, by the clock and by the processor."""

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

T = TypeVar("T")


class Took(NamedTuple):
    """Seconds by the clock, and of processor time of this process and of those it started."""

    wall: float
    cpu: float


def timed(work: Callable[[], T]) -> tuple[T, Took]:
    """Return what some work gives, and what it took; the processor's tells what others do not."""
    wall, cpu = time.perf_counter(), _cpu()
    found = work()
    return found, Took(time.perf_counter() - wall, _cpu() - cpu)


def _cpu() -> float:
    """Return seconds of this process and of all that it started, also of those that still run."""
    times = os.times()
    spent = times.user + times.system + times.children_user + times.children_system
    pid = os.getpid()
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        fields = Path(f"/proc/{child}/stat").read_text().rpartition(") ")[2].split()
        spent += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return spent


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds of repeated calls: by the clock, and of processor time in the middle."""

    p50: float
    p95: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.p50:.1f} / {self.p95:.1f} / {self.cpu:.1f}"


def time_each(action: Callable[[T], object], items: Iterable[T]) -> Timing:
    """Call `action` with each item; processor time tells what others on the machine do not."""
    took, worked = [], []
    for item in items:
        start, started = time.perf_counter(), time.process_time()
        action(item)
        took.append((time.perf_counter() - start) * 1000)
        worked.append((time.process_time() - started) * 1000)
    p50, p95 = np.percentile(took, [50, 95])
    return Timing(float(p50), float(p95), float(np.median(worked)))
