"""Reads the tables of a source in a process of its own, so that no table can hold up the others.

A table that takes too long is stopped by killing that process; one that crashes it or asks for
too much memory ends only it. Either becomes the table's problem and the next table gets a new
process. Of the environment it sees what its kind of source needs: of a database file no secrets.
"""

import logging
import os
import pickle
import shutil
import signal
import tempfile
import time
import weakref
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from io import BytesIO
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa

from pneuma_assets.core.changes.sketch import TableSketch
from pneuma_assets.core.config.small_sections import LimitsConfig
from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.dictionaries.lines import Glossary
from pneuma_assets.core.errors import (
    AccessRefusedError,
    PneumaError,
    SourceError,
    SqlFailedError,
    SqlStoppedError,
    TableReadError,
    TableTooSlowError,
)
from pneuma_assets.core.sources.base import Contexts, Listing, SampledRow, StatementRows
from pneuma_assets.core.sources.privacy.rules import Rules
from pneuma_assets.core.tables import (
    Column,
    ColumnProfile,
    Definition,
    ForeignKey,
    Problem,
    RowMark,
    Table,
    TableRef,
    TableTerms,
)
from pneuma_assets.core.terms.collect import CollectedTerms
from pneuma_assets.core.text.safe import one_line
from pneuma_assets.core.worker.handle import Server, Worker

logger = logging.getLogger(__name__)

START_SECONDS = 300.0
"""A process that has not begun by then never will; a busy machine takes seconds."""

_END_SECONDS = 5.0
"""For a process that closed its pipe to be gone; a busy machine takes some of it."""

SERVER = Server("pneuma_assets.core.sources.isolation.reader_process", ("HOME", "PATH"))
_ANSWER_BYTES = 1 << 30
_LAST_BYTES = 20_000
_LINE_CHARACTERS = 300
_ERRORS = (SourceError, AccessRefusedError, TableTooSlowError, SqlFailedError, SqlStoppedError)
_RETURNED = {
    (kind.__module__, kind.__qualname__): kind
    for kind in (
        *(Column, Contexts, Definition, TableTerms, ForeignKey, CollectedTerms, Glossary),
        *(
            ColumnProfile,
            Listing,
            Problem,
            RowMark,
            SampledRow,
            Table,
            TableRef,
            TableSketch,
            StatementRows,
        ),
    )
}
"""The only classes that a process may send."""

_CONTENTS: dict[str, type] = {
    **dict.fromkeys(("ready", "spent", "grown", "done"), object),
    **{"size": int, "batch": bytes, "problem": tuple, "unforeseen": tuple},
}
"""Its messages, and what each holds; the tuples are two texts."""


class ReaderError(PneumaError):
    """A process that reads ended, or had to be; the message is a cause and a remedy."""


class Reader:
    """One process that reads the tables of one source, one request at a time.

    What it was lent for `last` is noted by who lends it.
    """

    def __init__(
        self, config: SourceConfig, environ: Mapping[str, str], limits: LimitsConfig
    ) -> None:
        """Start it; raises `ReaderError` where that fails."""
        self._limits, self.last = limits, ""
        self.answered = self.spent = self.grown = self.idle = False
        self._may_quote = not Rules(config.privacy).hide_anything
        seen = config.environment(environ)
        here = self._start()
        self._connection = here
        self._begun, self._granted = time.monotonic(), START_SECONDS
        try:
            place = Path.cwd()
        except FileNotFoundError:  # it was removed
            place = Path("/")
        try:
            here.send((config, seen, limits, self._folder, place))
        except OSError as error:
            self._ended(error)
        kind, content = self._receive()
        if kind == "problem":  # of the source as a whole: a secret or a driver is missing
            self.close()
            raise ReaderError(content[1])

    def _start(self) -> Connection:
        try:
            with ExitStack() as undo:
                self._folder = tempfile.mkdtemp(prefix="pneuma-reader-")
                undo.callback(os.rmdir, self._folder)  # rmtree needs open files to spare
                self._worker = Worker(SERVER, self._folder)
                undo.pop_all()
        except OSError as error:
            raise ReaderError(
                f"no process to read it could be started ({error.strerror or error}); run again "
                "when this machine has memory, open files (ulimit -n), processes and room for "
                "temporary files (TMPDIR) to spare"
            ) from error
        here = Connection(self._worker.line.detach())
        self.close = weakref.finalize(self, _end, self._worker, here, self._folder)
        return here

    @property
    def ended(self) -> bool:
        """Whether its process has ended."""
        return self._worker.has_ended

    def ask(self, method: str, *arguments: object) -> Iterator[Any]:
        """Yield what the source's method returns: all batches of a scan, or one answer.

        The time that the caller takes for a batch does not count. Raises what the method does, and
        `ReaderError` where it took too long, or the process ended; it cannot be asked again.
        """
        self._begun, self._granted = time.monotonic(), self._limits.seconds_per_table
        self.idle = False
        try:
            self._connection.send((method, arguments))
        except OSError as error:
            self._ended(error)
        while True:
            kind, content = self._receive()
            if kind == "size":
                self._granted += content / 1e9 * self._limits.seconds_per_gigabyte
            elif kind == "batch":
                for batch in self._unpacked(content):
                    given = time.monotonic()
                    yield batch
                    self._begun += time.monotonic() - given
            elif kind in {"spent", "grown"}:
                setattr(self, kind, True)
            elif kind == "done":
                self.answered = self.idle = True
                yield content
                return
            elif kind == "ready":
                self._ended(ValueError("a reader began twice"))
            else:
                self._raise(kind, content)

    def _unpacked(self, data: bytes) -> list[pa.RecordBatch]:
        try:
            with pa.ipc.open_stream(data) as stream:
                return list(stream)
        except (pa.ArrowException, OSError) as error:
            self._ended(error)

    def _receive(self) -> tuple[str, Any]:
        try:
            left = self._begun + self._granted - time.monotonic()
            if not self._connection.poll(max(0.0, left)):
                self.close()
                raise ReaderError(
                    f"reading it took more than {self._granted:.0f} s and was stopped; make it "
                    "smaller or simpler, or raise limits.seconds_per_table in the deployment file"
                )
            return _unpickled(self._connection.recv_bytes(_ANSWER_BYTES))
        except (EOFError, OSError) as error:
            self._ended(error)

    def _raise(self, kind: str, content: tuple[str, str]) -> NoReturn:
        name, message = content
        self.idle = True
        if kind == "unforeseen":
            logger.error("Reading failed unexpectedly\n%s", _shown(message))
            raise TableReadError(f"Unexpected {name}; please report this file.")
        if name == "MemoryError":
            raise ReaderError(self._memory_words())
        raise next((one for one in _ERRORS if one.__name__ == name), TableReadError)(message)

    def _ended(self, error: Exception) -> NoReturn:
        code = self._worker.exit_code(_END_SECONDS)
        if not self._worker.has_ended:  # it lives, and what it said is no message
            self.close()
            logger.warning("A reader was not understood: %s", _shown(str(error))[:_LINE_CHARACTERS])
            raise ReaderError(
                "the process that read it sent what is no message and was stopped; please report "
                "this source"
            ) from error
        last = self._last_words()
        self.spent = True
        self.close()
        words = "ended from outside" if code is None else f"exit code {code}"
        if code is not None and code < 0:
            words = signal.strsignal(-code) or words
        raise ReaderError(
            f"it crashed the process that read it ({words}{last}): {self._memory_words()}, or "
            "write the file again if it may be damaged"
        ) from error

    def _last_words(self) -> str:
        """Return the last line that the process wrote to its standard error, and log the rest."""
        try:
            with Path(self._folder, "stderr").open("rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - _LAST_BYTES))
                text = file.read().decode("utf-8", "replace").strip()
        except OSError:
            return ""  # Its folder is gone, and with it what it said.
        if not text or not self._may_quote:
            return ""
        logger.error("The process that read a source ended with these words\n%s", _shown(text))
        return f", {one_line(text.splitlines()[-1], _LINE_CHARACTERS)}"

    def _memory_words(self) -> str:
        return (
            f"it may need more than {self._limits.memory_gigabytes:g} GB of memory; make it "
            "smaller, or raise limits.memory_gigabytes in the deployment file"
        )


class _Unpickler(pickle._Unpickler):
    """Makes what sources return and nothing else: a crashed reader may send anything.

    It is the one in Python, because four bytes tell the one in C to fill 64 GB of memory.
    """

    def find_class(self, module: str, name: str) -> Any:
        try:
            return _RETURNED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"a reader sent {module}.{name}") from None


def _unpickled(data: bytes) -> tuple[str, Any]:
    """Return one message of a reader; raises `EOFError` for anything else, whatever it is."""
    try:
        kind, content = _Unpickler(BytesIO(data)).load()
        expected = _CONTENTS[kind]
    except Exception as error:  # damaged pickles raise nearly anything
        raise EOFError(f"a reader sent no message: {error}") from error
    if kind == "size" and isinstance(content, int) and not 0 <= content < 1 << 63:
        raise EOFError("a reader sent no size")
    texts = not isinstance(content, tuple) or [type(part) for part in content] == [str, str]
    if not isinstance(content, expected) or (expected is tuple and not texts):
        raise EOFError(f"a reader sent {kind} with {type(content).__name__}")
    return kind, content


def _shown(text: str) -> str:
    """Return text for a log, without what would steer a terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)


def _end(worker: Worker, connection: Connection, folder: str) -> None:
    if worker.is_ours:  # a fork of this process lets go alone
        worker.kill()
        worker.exit_code(_END_SECONDS)
        shutil.rmtree(folder, ignore_errors=True)
    connection.close()
    worker.close()
