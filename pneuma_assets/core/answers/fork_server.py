"""Has each statement run by a process of its own, forked from one that has DuckDB loaded.

Python, DuckDB and Arrow take longer to start than most statements take to run. The first statement
of this process therefore starts a server (`duckdb_process`), which loads them and reads no data.
For each statement it forks a process, which is killed when whoever asked hangs up or has ended.
"""

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from pneuma_assets.core.errors import SqlStoppedError

_SCRIPT = Path(__file__).with_name("duckdb_process.py")
_LATE = 20.0
"""Seconds for a process to start on a busy machine."""
_KEPT = ("LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "SYSTEMROOT")
"""What the server sees of the environment."""
_JSON_BYTES = 8
"""That a byte of rows takes as JSON: a sign of six, or a short number and what is around it."""
_NOT_STARTED = "its process does not start ({}); ask again when the machine is less busy"


class _Server:
    """The server of this process, started when it is needed and is not there."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._running: tuple[subprocess.Popen[bytes], socket.socket] | None = None

    def fork(self, line: socket.socket) -> None:
        """Have a process forked that answers on a socket; raises `OSError`."""
        with self._lock:
            if self._running is None or self._running[0].poll() is not None:
                self.end()
                self._running = _started()
            socket.send_fds(self._running[1], [b"."], [line.fileno()])

    def end(self) -> None:
        """End it and what it has forked; the next statement starts another."""
        with self._lock:
            running, self._running = self._running, None
        if running is not None:
            process, control = running
            control.close()
            process.wait(_LATE)

    def leave(self) -> None:
        """Let go of the server of the process from which this one was forked."""
        self._lock = threading.RLock()  # a thread that is not here may have it
        if self._running is not None:
            self._running[0].returncode = 0  # nobody can wait for it here
        self.end()


SERVER = _Server()
atexit.register(SERVER.end)
os.register_at_fork(after_in_child=SERVER.leave)


def _started() -> "tuple[subprocess.Popen[bytes], socket.socket]":
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    environment |= {
        # Arrow's other allocators take a gigabyte at once, which counts against the limit.
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        # What is forked has no threads but one, so none are started before.
        "JE_ARROW_MALLOC_CONF": "background_thread:false",
        "OMP_NUM_THREADS": "1",
    }
    with ExitStack() as undo:
        here, there = map(undo.enter_context, socket.socketpair())
        process = subprocess.Popen(  # noqa: S603 (our own script)
            [sys.executable, "-I", _SCRIPT],
            stdin=there.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env=environment,
            start_new_session=True,  # Ctrl-C is for this process, which may go on
        )
        there.close()
        undo.pop_all()
    return process, here


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
    with ExitStack() as stack:
        try:
            line, there = map(stack.enter_context, socket.socketpair())
            stack.callback(_hang_up, line)
            SERVER.fork(there)
            there.close()
            line.settimeout(_LATE)
            socket.send_fds(line, [b"."], files)
            line.sendall(json.dumps(request).encode() + b"\n")
            begun = line.recv(1)
        except OSError as error:
            raise SqlStoppedError(_NOT_STARTED.format(error)) from error
        if not begun:
            raise SqlStoppedError(_NOT_STARTED.format("it ended"))
        return _answered(line, seconds, _JSON_BYTES * request["bytes"])


def _hang_up(line: socket.socket) -> None:
    """Let the other end see that nobody waits, even if a fork of this process has the socket."""
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)


def _answered(line: socket.socket, seconds: float, most: int) -> dict[str, Any]:
    said, until = bytearray(), time.monotonic() + seconds
    try:
        while part := _received(line, until):
            said += part
            if len(said) > most:
                raise SqlStoppedError(f"its rows take more than {most:,} bytes; ask for less")
    except TimeoutError as error:
        raise SqlStoppedError(f"it takes more than {seconds:g} s; ask for less") from error
    answer, is_whole, code = said.rpartition(b"\n")
    if not is_whole:
        raise SqlStoppedError("its process was ended from outside; ask again")
    if int(code) == -signal.SIGBUS:
        raise SqlStoppedError("the folder for temporary files has no room left for its rows")
    if int(code):
        raise SqlStoppedError("it takes too much memory, and its process was ended; ask for less")
    reply: dict[str, Any] = json.loads(answer)
    return reply


def _received(line: socket.socket, until: float) -> bytes:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    line.settimeout(left)
    return line.recv(1 << 16)
