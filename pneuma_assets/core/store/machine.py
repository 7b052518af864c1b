"""Which machine this is, and whether a process of it still lives."""

import socket
import uuid
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
    address = uuid.getnode()
    known = not address >> 40 & 1  # else it is drawn anew by each process
    seen = [socket.gethostname(), f"{address:x}" if known else ""]
    for place in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        try:
            seen.append(
                str(Path(place).readlink()) if "/ns/" in place else Path(place).read_text().strip()
            )
        except OSError:  # not Linux
            seen.append("")
    return "|".join(seen)


def born_at() -> float:
    """Return when this process began, in seconds since 1970."""
    return psutil.Process().create_time()


def lives_here(pid: int, born: float) -> bool | None:
    """Tell whether the process with this number that began then still runs; None: unclear.

    It is where the number is another process's, or the machine's clock was set since.
    """
    try:
        process = psutil.Process(pid)
        if process.status() in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}:
            return False
        return True if abs(process.create_time() - born) < _SAME_S else None
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return None
