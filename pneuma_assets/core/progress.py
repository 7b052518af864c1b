"""Progress of long work, reported without knowing who listens.

Code that works through many items calls `report`; a command line shows a bar, a Dagster asset
writes a log line now and then, a test does nothing.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

ProgressListener = Callable[[str, int, int], None]
"""Called with what is being done, how many items are done, and how many there are.

None done says that it begins, and of no items that nobody knows how much it is.
"""

_listeners: ContextVar[tuple[ProgressListener, ...]] = ContextVar("listeners", default=())


def report(activity: str, done: int, total: int) -> None:
    """Tell every listener that `done` of `total` items of `activity` are finished."""
    for listener in _listeners.get():
        listener(activity, done, total)


@contextmanager
def working(activity: str) -> Iterator[None]:
    """Report the beginning and the end of what cannot be counted, such as loading a model."""
    report(activity, 0, 0)
    yield
    report(activity, 1, 1)


@contextmanager
def listening(listener: ProgressListener) -> Iterator[None]:
    """Let `listener` hear every report made inside the `with` block."""
    token = _listeners.set((*_listeners.get(), listener))
    try:
        yield
    finally:
        _listeners.reset(token)
