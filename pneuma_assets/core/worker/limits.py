"""Bounds of a worker that the system holds: what no library bounds."""

import resource
from collections.abc import Mapping


def bound_process(limits: Mapping[int, int]) -> None:
    """Let the system refuse this process more than so much of each resource, for good.

    What it is refused already stays refused; it leaves no image of its memory behind.
    """
    for kind, wanted in {**limits, resource.RLIMIT_CORE: 0}.items():
        _, most = resource.getrlimit(kind)
        value = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(kind, (value, value))
