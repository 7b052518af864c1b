"""Waiting in tests: as long as a slow machine needs, and no longer than the condition asks."""

import time
from collections.abc import Callable

LONGEST = 600.0
"""Seconds after which something is broken rather than slow, even on a machine with other work."""


def wait_until(condition: Callable[[], object], what: str) -> None:
    """Return as soon as the condition holds; fail where it never does."""
    give_up = time.monotonic() + LONGEST
    while not condition():
        assert time.monotonic() < give_up, f"waited {LONGEST:.0f} seconds in vain: {what}"
        time.sleep(0.01)
