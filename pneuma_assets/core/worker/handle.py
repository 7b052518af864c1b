"""Starts workers: processes forked from one that has loaded what they need, and ended at any time.

Python and its libraries take longer to start than most work takes. The first worker of a kind
therefore starts a server (`core.worker.server`), which loads them and reads no data; it forks a
process for each worker, which is killed when whoever asked hangs up or has ended.
"""

import atexit
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from multiprocessing.connection import wait
from pathlib import Path

from pneuma_assets import core

_LATE_S = 20.0
"""Seconds for a server to end, or to tell how a worker did, on a busy machine."""
_SEEN = ("LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "SYSTEMROOT")
"""What every server sees of the environment: nothing that could be a secret."""
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_ALLOCATORS = {
    # Arrow's other allocators take a gigabyte at once, which counts against a bound of memory.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    # What is forked has no thread but one, so none is started before.
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    # One heap, since reserved addresses count as memory.
    "MALLOC_ARENA_MAX": "1",
}


class Server:
    """The server of one kind of worker in this process, started when it is needed and not there."""

    def __init__(self, entry: str, seen: Sequence[str] = ()) -> None:
        """Take the module that answers, and what else it sees of the environment."""
        self._entry = entry
        self._seen = (*_SEEN, *seen)
        self._lock = threading.RLock()
        self._running: tuple[subprocess.Popen[bytes], socket.socket] | None = None
        atexit.register(self.end)
        os.register_at_fork(after_in_child=self._leave)

    def fork(self, line: socket.socket, kept: socket.socket, folder: bytes) -> None:
        """Have a worker forked that answers on one socket, for as long as the other is held.

        A folder is removed if this process dies.

        Raises:
            OSError: There is no process, or no open file, to spare.
        """
        with self._lock:
            if self._running is None or self._running[0].poll() is not None:
                self.end()
                self._running = self._started()
            socket.send_fds(self._running[1], [folder], [line.fileno(), kept.fileno()])

    def end(self) -> None:
        """End it and what it has forked; the next worker starts another."""
        with self._lock:
            running, self._running = self._running, None
        if running is not None:
            process, control = running
            control.close()
            process.wait(_LATE_S)

    def _leave(self) -> None:
        """Let go of the server of the process from which this one was forked."""
        self._lock = threading.RLock()  # a thread that is not here may have it
        if self._running is not None:
            self._running[0].returncode = 0  # nobody can wait for it here
        self.end()

    def _started(self) -> "tuple[subprocess.Popen[bytes], socket.socket]":
        seen = {name: os.environ[name] for name in self._seen if name in os.environ}
        paths = dict.fromkeys([str(Path(core.__file__).parents[2]), *filter(None, sys.path)])
        seen |= {**_ALLOCATORS, **dict.fromkeys(_THREADS, "1")}
        with ExitStack() as undo:
            pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            here, there = map(undo.enter_context, pair)
            process = subprocess.Popen(  # noqa: S603 (our own module)
                [sys.executable, "-P", "-B", "-m", "pneuma_assets.core.worker.server", self._entry],
                stdin=there.fileno(),
                stdout=subprocess.DEVNULL,
                cwd="/",
                env={**seen, "PYTHONPATH": os.pathsep.join(paths)},
                start_new_session=True,  # Ctrl-C is for this process, which may go on
            )
            there.close()
            undo.pop_all()
        return process, here


class Worker:
    """One worker; `line` leads to it. It is ended by `close`, and with this process."""

    def __init__(self, server: Server, folder: str = "") -> None:
        """Start it; a folder of its own is removed if this process dies.

        Raises:
            OSError: It cannot be started.
        """
        with ExitStack() as undo:
            self.line, there = map(undo.enter_context, socket.socketpair())
            self._kept, kept = map(undo.enter_context, socket.socketpair())
            server.fork(there, kept, os.fsencode(folder) or b".")
            there.close()
            kept.close()
            undo.pop_all()
        self._owner = os.getpid()
        self._code: int | None = None

    @property
    def has_ended(self) -> bool:
        """Whether it is there no more; of a process forked from this one, it never is there."""
        is_told = self._code is not None or bool(wait([self._kept], 0))
        return is_told or not self.is_ours

    @property
    def is_ours(self) -> bool:
        """Whether this process started it, not one from which this was forked."""
        return os.getpid() == self._owner

    def kill(self) -> None:
        """Let its keeper see that nobody waits, even if a fork of this process has the socket."""
        if self.is_ours:
            with suppress(OSError):
                self._kept.shutdown(socket.SHUT_WR)

    def exit_code(self, seconds: float = _LATE_S) -> int | None:
        """Return how it ended, a signal as a negative number.

        None if its keeper does not say, or it has not ended in time (`has_ended`).
        """
        if self._code is None:
            self._kept.settimeout(seconds)
            with suppress(TimeoutError, ConnectionError):
                if said := self._kept.recv(16):
                    self._code = int(said)
        return self._code

    def close(self) -> None:
        """End it, if it has not ended."""
        self.kill()
        self._kept.close()
        self.line.close()
