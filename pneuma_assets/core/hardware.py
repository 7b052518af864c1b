"""Which cores and which GPU this process may use, told without loading torch; and its memory."""

import ctypes
import os
import platform
import re
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_GPUS = ("nvidia[0-9]*", "kfd", "dxg")
"""Devices of NVIDIA's and AMD's drivers, and of Windows' below Linux."""
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
"""Options of glibc's mallopt(3)."""


def usable_cores() -> int:
    """Return how many cores this process may use; machines show more than they grant."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def has_gpu() -> bool:
    """Tell whether there is a GPU that an installed torch can use and this process may see."""
    if os.environ.get("CUDA_VISIBLE_DEVICES", "all") in {"", "-1"}:
        return False
    try:
        built_for_cpu = version("torch").endswith("+cpu")
    except PackageNotFoundError:
        return False
    return not built_for_cpu and any(any(Path("/dev").glob(name)) for name in _GPUS)


def return_freed_memory() -> None:
    """Have large arrays that are freed returned to the system, for a process that lives for days.

    glibc would keep those of an index that was replaced, in a heap for each of many threads: by
    default it takes from heaps what is as large as the largest block that was ever freed.
    """
    if platform.libc_ver()[0] == "glibc":
        libc = ctypes.CDLL(None)
        libc.mallopt(_M_MMAP_THRESHOLD, 1 << 20)
        libc.mallopt(_M_ARENA_MAX, 2)


@cache
def multiplies_bfloat16() -> bool:
    """Tell whether the processor does; emulated, it is slower than float32."""
    try:
        features = Path("/proc/cpuinfo").read_text("ascii", "replace")
    except OSError:
        return False
    return re.search(r"\b(avx512_bf16|amx_bf16|bf16)\b", features) is not None
