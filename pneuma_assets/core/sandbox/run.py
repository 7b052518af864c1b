"""Runs code over tables in a confined process of its own, and proves first that it is confined."""

import contextlib
import signal
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import pyarrow as pa

from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.sandbox.guards import SandboxUnavailableError
from pneuma_assets.core.worker import frames
from pneuma_assets.core.worker.handle import Server, Worker

SERVER = Server("pneuma_assets.core.sandbox.child")
_STARTING_S = 30.0
"""For loading pandas, on a busy machine."""
MOST_CODE = 100_000
MOST_SAID = 20_000
"""Characters that are taken of what it printed, or of why it failed."""


class CodeFailedError(PneumaError):
    """Code does not run to its end; the message says why, so that it can be written anew."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What code may use: seconds, megabytes of memory beyond Python's own, bytes of its result."""

    seconds: int = 30
    megabytes: int = 1_024
    result_bytes: int = 256 << 20


@dataclass(frozen=True, slots=True)
class Ran:
    """What code made: its `result` by name, and the beginning of what it printed."""

    tables: Mapping[str, pa.Table]
    printed: str = ""


@contextlib.contextmanager
def _ending(worker: Worker, seconds: float, why: str) -> Iterator[None]:
    """Kill a worker that is not done in time; raises `CodeFailedError`, also where it ended."""
    timer = threading.Timer(seconds, worker.kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    except (frames.EndedError, ConnectionError) as error:
        code = worker.exit_code(2 * seconds)  # the timer kills one that goes on without its channel
        late = code in {-signal.SIGXCPU, -signal.SIGKILL, None}
        crashed = f"The code crashed its process (signal {-(code or 0)}); write it otherwise."
        gone = "The code ended its process; let it run to its end."
        told = why if late else crashed if (code or 0) < 0 else gone
        raise CodeFailedError(told) from error
    except frames.MessageError as error:
        raise CodeFailedError(f"The code's answer is not used: {error}.") from error
    finally:
        timer.cancel()


def run_python(code: str, tables: Mapping[str, pa.Table], bounds: Bounds = Bounds()) -> Ran:
    """Run code that sees each table as a pandas data frame under its name, and in `tables`.

    It assigns a data frame to `result`, or a dict of several by name.

    Args:
        code: Python that somebody else wrote.
        tables: By names that are identifiers of Python.
        bounds: What it may use.

    Raises:
        SandboxUnavailableError: This machine cannot confine it; nothing was run.
        CodeFailedError: It failed, did not end, or took too much memory.
    """
    try:
        if (reason := why_unavailable()) is not None:
            raise SandboxUnavailableError(f"Python is not run here: {reason}; use SQL.")
        return _run(code, tables, bounds)
    except (OSError, RuntimeError) as error:  # no process, no thread, no room
        told = f"Python does not start ({error}); run it again when this machine is less busy."
        raise CodeFailedError(told) from error


@cache
def why_unavailable() -> str | None:
    """Return why Python cannot be confined on this machine, None where it can.

    Once a process, code of our own tries to get out by every kind of door.
    """
    try:
        found = _run(_ESCAPES, {}, Bounds(seconds=10, megabytes=256))
    except (SandboxUnavailableError, CodeFailedError) as error:
        return str(error).rstrip(".")
    open_doors = found.tables["result"].column("door").to_pylist()
    return f"the self-test got out by: {', '.join(open_doors)}" if open_doors else None


_ESCAPES = """
import os, pandas, signal, socket, subprocess

def write(path):
    with open(path, "w") as file:
        file.write("x")

DOORS = {
    "reading /etc/passwd": lambda: open("/etc/passwd").read(),
    "reading /proc": lambda: open("/proc/self/environ", "rb").read(),
    "listing /": lambda: os.listdir("/"),
    "writing here": lambda: write("x"),
    "writing /tmp": lambda: write("/tmp/x"),
    "a socket": lambda: socket.socket(),
    "a Unix socket": lambda: socket.socket(socket.AF_UNIX),
    "a process": lambda: subprocess.run(["true"]),
    "a fork": lambda: os.fork(),
    "a signal": lambda: os.kill(os.getppid(), 0),
}
found = []
for name, door in DOORS.items():
    try:
        door()
    except OSError:
        continue
    found.append(name)
result = pandas.DataFrame({"door": pandas.Series(found, dtype="object")})
"""


def _run(code: str, tables: Mapping[str, pa.Table], bounds: Bounds) -> Ran:
    if len(code) > MOST_CODE:
        raise CodeFailedError(f"The code has {len(code):,} characters; {MOST_CODE:,} at most.")
    sent = sum(table.nbytes for table in tables.values())
    given = {"code": code, "seconds": bounds.seconds, "megabytes": bounds.megabytes}
    with contextlib.closing(Worker(SERVER)) as worker:
        with _ending(worker, _STARTING_S, "Python did not start in time; try again later."):
            with worker.line.makefile("wb") as channel:
                channel.write((2 * sent + (1 << 20)).to_bytes(8, "big"))
                frames.write(channel, given, tables)
            answers = worker.line.makefile("rb")
            begun, _ = frames.read(answers, 0)
        if unavailable := begun.get("unavailable"):
            raise SandboxUnavailableError(str(unavailable))
        late = f"The code did not end within {bounds.seconds} seconds; let it do less."
        with _ending(worker, bounds.seconds, late):
            header, results = frames.read(answers, bounds.result_bytes)
    if error := header.get("error"):
        raise CodeFailedError(str(error)[:MOST_SAID])
    return Ran(results, str(header.get("printed", ""))[:MOST_SAID])
