"""Which machine this is, and whether a process of it still lives."""

import os
import socket
from functools import cache
from pathlib import Path

import psutil

_SAME_S = 2.0
"""Two readings of when a process began differ by less; another of the same number began later."""


@cache
def this_machine() -> str:
    """Name the place whose processes can be seen from here.

    Containers may share a host's name, and a host is another one once it has started anew.
    """
    seen = [socket.gethostname()]
    for place in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        try:
            seen.append(
                str(Path(place).readlink()) if "/ns/" in place else Path(place).read_text().strip()
            )
        except OSError:  # not Linux
            seen.append("")
    return "|".join(seen)


def born_at(pid: int | None = None) -> float:
    """Return when a process of this machine began, this one by default, in seconds since 1970."""
    return psutil.Process(os.getpid() if pid is None else pid).create_time()


def lives_here(pid: int, born: float) -> bool:
    """Tell whether the process with this number that began then still runs."""
    try:
        process = psutil.Process(pid)
        dead = process.status() in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}
        return not dead and abs(process.create_time() - born) < _SAME_S
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True
