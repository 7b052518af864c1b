"""How many cores there are to use."""

import os


def usable_cores() -> int:
    """Return how many cores this process may use; machines show more than they grant."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
