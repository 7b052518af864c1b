"""The process that reads tables (`core.worker`): `reader_handle` bounds its time from outside.

It gets a source's configuration, what it sees of the environment and a folder for its temporary
files, then requests, and ends with its socket.
"""

import os
import resource
import socket
import sys
import tempfile
import threading
import traceback
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.sources import bounds
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.sources.privacy.source import open_private
from pneuma_assets.core.worker.limits import bound_process

_GIGABYTE = 10**9
_TRACEBACK_CHARACTERS = 20_000

_GROWTH_SHARE = 0.25
"""Of the memory that a process may have, what it may keep of a table when it reads the next."""

_SPOILS = (
    *(MemoryError, duckdb.OutOfMemoryException),
    *(duckdb.FatalException, duckdb.InternalException),
)
"""After these a process has less memory than an empty one, or a database that DuckDB gave up."""


class _Parent(Connection):
    """The other end of the pipe; downloads tell of their bytes from threads of their own."""

    _lock = threading.Lock()

    def say(self, kind: str, content: object = None) -> None:
        with self._lock:
            self.send((kind, content))


def _leave_pandas() -> None:
    """Let Arrow look once for pandas in vain: it would load it, in half a second, and not use it.

    Drivers may still load it.
    """
    if "pandas" not in sys.modules:
        sys.modules["pandas"] = None  # type: ignore[assignment]
        for _ in range(2):  # its part in Cython looks, and then its part in C++
            with suppress(AttributeError, ImportError):
                pa.array([""])
        del sys.modules["pandas"]


_leave_pandas()


def answer(line: socket.socket) -> None:
    """Answer requests until the socket ends."""
    parent = _Parent(line.detach())
    # What arrives names the module of its kind of source, which is imported here.
    config, environ, limits, folder, here = parent.recv()
    os.environ.update(environ, TMPDIR=folder)
    tempfile.tempdir = None  # what the server thought of it
    with suppress(OSError):
        os.chdir(here)  # drivers may read files by paths of their own
    bounds.use(limits, partial(parent.say, "size"))
    try:
        source = open_private(config, environ)
    except PneumaError as error:
        parent.say("problem", (type(error).__name__, str(error)))
        return
    bound_process(
        {
            resource.RLIMIT_DATA: int(limits.memory_gigabytes * _GIGABYTE),
            resource.RLIMIT_FSIZE: int(limits.temporary_gigabytes * _GIGABYTE),
        }
    )
    _, most_open = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):  # All files of a table are open while it is read.
        resource.setrlimit(resource.RLIMIT_NOFILE, (most_open, most_open))
    parent.say("ready")
    has_read = False
    most = _data_bytes() + limits.memory_gigabytes * _GIGABYTE * _GROWTH_SHARE
    while True:
        try:
            method, arguments = parent.recv()
        except EOFError:
            return
        if has_read and method == "scan":  # as tables are now, not as they were before
            source.close()
            source = open_private(config, environ)
        has_read = True
        _answer(parent, source, method, arguments, most)


def _answer(
    parent: _Parent, source: Source, method: str, arguments: tuple[Any, ...], most: float
) -> None:
    try:
        result = getattr(source, method)(*arguments)
        if method == "scan":
            for batch in result:
                parent.say("batch", _packed(batch))
            result = None
    except Exception as error:  # noqa: BLE001 (the parent logs it and goes on with other tables)
        if _spoils(error):
            parent.say("spent")
        if isinstance(error, PneumaError):
            parent.say("problem", (type(error).__name__, str(error)))
        elif isinstance(error, MemoryError):
            parent.say("problem", ("MemoryError", ""))
        else:
            parent.say("unforeseen", _described(error, quoting=not source.rules.hide_anything))
    else:
        if _data_bytes() > most:
            parent.say("grown")
        parent.say("done", result)


def _spoils(error: BaseException | None) -> bool:
    """Tell whether what went wrong, or what it came of, leaves a process that may fail others."""
    while error is not None and not isinstance(error, _SPOILS):
        error = error.__cause__ or error.__context__
    return error is not None


def _data_bytes() -> int:
    """Return what the system counts against `RLIMIT_DATA`."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[5]
    return int(pages) * resource.getpagesize()


def _described(error: Exception, *, quoting: bool) -> tuple[str, str]:
    """Return what went wrong and where; without the error's words where they may quote cells."""
    if not quoting:
        where = "".join(traceback.format_tb(error.__traceback__))
        return type(error).__name__, where[-_TRACEBACK_CHARACTERS:]
    words = " ".join(f"{type(error).__name__}: {error}".split())[:500]
    return words, traceback.format_exc()[-_TRACEBACK_CHARACTERS:]


def _packed(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())
