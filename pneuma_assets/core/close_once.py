"""What is opened once and closed once, by one owner or by the last of several threads."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar


class Closing(ABC):
    """Closes itself at the end of a `with` block."""

    @abstractmethod
    def close(self) -> None:
        """Release what is held; the object is not used afterwards."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Closeable(Protocol):
    def close(self) -> None: ...


T = TypeVar("T", bound=_Closeable)


class _Use(Generic[T]):
    """A resource, and how many threads use it now."""

    def __init__(self, resource: T) -> None:
        self.resource = resource
        self.users = 0
        self.retired = False


class Shared(Generic[T]):
    """A resource that threads share: the first one opens it, and it is closed after its last use.

    Args:
        open_it: Opens the resource, while all others wait.
    """

    def __init__(self, open_it: Callable[[], T]) -> None:
        self._open = open_it
        self._lock = threading.RLock()
        self._current: _Use[T] | None = None

    @property
    def is_open(self) -> bool:
        """Whether the next use finds it open."""
        return self._current is not None

    def current(self) -> T:
        """Return the resource, opened if it is not; it may be retired and closed at any time."""
        return self._used().resource

    @contextmanager
    def use(self) -> Iterator[T]:
        """Keep the resource open within the block, whoever retires it meanwhile."""
        with self._lock:
            one = self._used()
            one.users += 1
        try:
            yield one.resource
        finally:
            with self._lock:
                one.users -= 1
                is_last = one.retired and not one.users
            if is_last:
                one.resource.close()

    def retire(self, resource: T | None = None) -> None:
        """Have the next use open another one; this one is closed when its last use has ended.

        Args:
            resource: What is retired, unless another one is in its place by now; None: any.
        """
        with self._lock:
            one = self._current
            if one is None or (resource is not None and resource is not one.resource):
                return
            self._current, one.retired = None, True
            is_unused = not one.users
        if is_unused:
            one.resource.close()

    def _used(self) -> _Use[T]:
        with self._lock:
            if self._current is None:
                self._current = _Use(self._open())
            return self._current
