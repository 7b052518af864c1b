"""Runs in a process that dies at a chosen write, or before it.

Moments are the writes of a run, told by the function of `core/pipeline` that asks for them: each is
there twice, before it is kept and after. So a kill can be aimed at a step, however short it is.
"""

import os
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.store.sqlite_database import SqliteDatabase

_ROOM = str(Path("core", "pipeline"))


@dataclass
class Moments:
    """Counts the writes of a run, and kills this process at one of them.

    Attributes:
        last: The number of the moment at which to die; None: at none.
        seen: What was written at each moment so far, by which step.
    """

    last: int | None = None
    seen: list[str] = field(default_factory=list)

    def here(self, when: str, write: str = "") -> None:
        """Note a moment, or die of it."""
        if len(self.seen) == self.last:
            os.kill(os.getpid(), signal.SIGKILL)
        self.seen.append(f"{when} {_step(write)}")

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Notice all writes of the state, and those of the index that replace anything."""
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(SqliteDatabase, "_transaction", self._of(SqliteDatabase._transaction))
            for name in ("replace_tables", "set_facts", "delete_tables"):
                patched.setattr(EmbeddedIndex, name, self._around(getattr(EmbeddedIndex, name)))
            yield

    def _of(self, begin: Callable[..., Any]) -> Callable[..., Any]:
        @contextmanager
        def transaction(database: SqliteDatabase) -> Iterator[Any]:
            with begin(database) as connection:
                yield connection
                self.here("before")
            self.here("after")

        return transaction

    def _around(self, write: Callable[..., None]) -> Callable[..., None]:
        def written(index: EmbeddedIndex, *given: Any) -> None:
            self.here("before", write.__name__)
            write(index, *given)
            self.here("after", write.__name__)

        return written


def _step(write: str) -> str:
    """Return which function of the pipeline is at work, and what it calls to write."""
    called = write
    for frame in reversed(traceback.extract_stack()):
        if _ROOM in frame.filename:
            return f"{Path(frame.filename).stem}.{frame.name}: {called}"
        if not write and "pneuma_assets" in frame.filename:
            called = frame.name
    return "around the stages"


def killed_at(number: int, run: Callable[[], None]) -> None:
    """Run in a child that dies at a moment; fails where it lived."""
    child = os.fork()
    if not child:
        status = 1
        try:
            with Moments(number).watching():
                run()
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, f"it lived at moment {number}"
