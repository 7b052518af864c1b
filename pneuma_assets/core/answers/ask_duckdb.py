"""Has each statement run by a worker of its own (`duckdb_process`), which is ended in time."""

import json
import signal
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from pneuma_assets.core.errors import SqlStoppedError
from pneuma_assets.core.worker.handle import Server, Worker

_LATE = 20.0
"""Seconds for a process to start on a busy machine."""
_JSON_BYTES = 8
"""That a byte of rows takes as JSON: a sign of six, or a short number and what is around it."""
_NOT_STARTED = "its process does not start ({}); ask again when the machine is less busy"

SERVER = Server("pneuma_assets.core.answers.duckdb_process")


def ask(request: Mapping[str, Any], files: Sequence[int], seconds: float) -> dict[str, Any]:
    """Return what the process of a statement answers, which is killed when its time is over.

    Its time begins when it says so, behind the start of the server, which takes long on a busy
    machine. Nothing in the process ends it: DuckDB cannot be interrupted everywhere.

    Args:
        request: As `duckdb_process` has it.
        files: Numbers of open files that it is given: of each table, and of the result.
        seconds: What it may take.

    Raises:
        SqlStoppedError: It does not start, does not end well in its time, or answers too much.
    """
    try:
        worker = Worker(SERVER)
    except OSError as error:
        raise SqlStoppedError(_NOT_STARTED.format(error)) from error
    with closing(worker):
        try:
            worker.line.settimeout(_LATE)
            socket.send_fds(worker.line, [b"."], files)
            worker.line.sendall(json.dumps(request).encode() + b"\n")
            begun = worker.line.recv(1)
        except OSError as error:
            raise SqlStoppedError(_NOT_STARTED.format(error)) from error
        if not begun:
            _check_end(worker)
            raise SqlStoppedError(_NOT_STARTED.format("it ended"))
        return _answered(worker, seconds, _JSON_BYTES * request["bytes"])


def _answered(worker: Worker, seconds: float, most: int) -> dict[str, Any]:
    said, until = bytearray(), time.monotonic() + seconds
    try:
        while part := _received(worker.line, until):
            said += part
            if len(said) > most:
                raise SqlStoppedError(f"its rows take more than {most:,} bytes; ask for less")
    except TimeoutError as error:
        raise SqlStoppedError(f"it takes more than {seconds:g} s; ask for less") from error
    except ConnectionError:
        pass  # how it ended is told below
    _check_end(worker)
    reply: dict[str, Any] = json.loads(said)
    return reply


def _check_end(worker: Worker) -> None:
    """Raise `SqlStoppedError` unless the process has ended well."""
    code = worker.exit_code()
    if code is None:
        raise SqlStoppedError("its process was ended from outside; ask again")
    if code == -signal.SIGBUS:
        raise SqlStoppedError("the folder for temporary files has no room left for its rows")
    if code:
        raise SqlStoppedError("it takes too much memory, and its process was ended; ask for less")


def _received(line: socket.socket, until: float) -> bytes:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    line.settimeout(left)
    return line.recv(1 << 16)
