"""A retriever of another package, in a Python environment of its own.

Two packages that need other versions of the same library can never be in one environment; so a
script that knows the other package runs there, and the two speak lines of JSON: a request on its
standard input, one answer on its standard output.

    {"do": "prepare", "tables": FILE, "folder": DIR, "encoder": MODEL, "rows": N}
        -> {"seconds": S, "bytes": B, "documents": D, "vectors": V, "about": TEXT}
    {"do": "answer", "questions": [TEXT], "k": K} -> {"tables": [[ID, best first]]}

FILE has a JSON object a line: `id`, `name` (a list of parts), `columns`, `rows`, `contexts`. An
answer `{"error": TEXT}` says why it cannot; the script ends at the end of its input.
"""

import json
import math
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from pneuma_assets.core.closing import Closing
from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.models.encoder.files import locate_encoder
from pneuma_assets.core.progress import working
from pneuma_assets.core.tables import content_hash
from pneuma_assets.core.text.safe import one_line
from pneuma_bench.ablations.contestants import Prepared
from pneuma_bench.files import whole
from pneuma_bench.sets import RetrievalSet

_SECONDS = 4 * 3_600
_END_SECONDS = 10
_MOST_BYTES = 256 * 1024**2
_AT_ONCE = 100
_LISTED_SECONDS = 120
_LIST_PACKAGES = """
import importlib.metadata, sys
print(sys.version)
there = importlib.metadata.distributions()
found = {f"{one.metadata['Name']}=={one.version}" for one in there}
print(*sorted(found), sep="\\n")
"""


class OutsideContestant(Closing):
    """Runs a script in another environment; keeps `Contestant`.

    The script is trusted as any program that one starts is; what it answers is checked, since it
    may be wrong.

    Args:
        name: What people call it.
        python: The environment's interpreter.
        script: Runs there; see the module.
        encoder: Embeds there, too: `encoder.model` of a deployment.
        rows: Most rows of a table that it is to index.
        seconds: After so many without an answer it is ended.
    """

    def __init__(
        self, name: str, python: Path, script: Path, encoder: str, rows: int,
        seconds: float = _SECONDS,
    ) -> None:  # fmt: skip
        self.name, self._python, self._script = name, python, script
        self._encoder, self._rows, self._seconds = encoder, rows, seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._log: Path | None = None
        self._ids: frozenset[str] = frozenset()

    @property
    def key(self) -> str:
        """Equal for the same script, interpreter, packages there, encoder and number of rows."""
        try:
            code = self._script.read_bytes().hex()
        except OSError:
            code = "unreadable"
        python = self._python.absolute()
        return content_hash(
            self.name, code, str(python), packages_of(python), self._encoder, str(self._rows)
        )

    def prepare(self, dataset: RetrievalSet, folder: Path) -> Prepared:
        """Start the script and let it index the tables.

        Raises:
            BenchmarkError: It cannot be started, failed, or answers something else.
        """
        folder = folder.absolute()
        tables, files = folder / "tables.jsonl", folder / "files"
        shutil.rmtree(files, ignore_errors=True)
        try:
            files.mkdir(parents=True)
        except OSError as error:
            raise BenchmarkError(
                f"{files} cannot be made ({error.strerror}); keep files elsewhere"
            ) from error
        _write(tables, dataset)
        self._ids = frozenset(table.table_id for table, _ in dataset.tables)
        self._start(folder)
        with working(f"indexing, {self.name}"):
            said = self._ask(
                {
                    "do": "prepare",
                    "tables": str(tables),
                    "folder": str(files),
                    "encoder": locate_encoder(self._encoder).model,
                    "rows": self._rows,
                }
            )
        try:
            numbers = [float(said["seconds"]), *(int(said[key]) for key in _COUNTS)]
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise self._wrong("what indexing took") from error
        seconds, size, documents, vectors = numbers
        if not math.isfinite(seconds):
            raise self._wrong("what indexing took")
        about = one_line(str(said.get("about", "")))
        return Prepared(seconds, int(size), int(documents), int(vectors), about)

    def answer(self, questions: Sequence[str], k: int) -> list[list[str]]:
        """Let the script answer.

        Raises:
            BenchmarkError: It failed, or names a table that there is not.
        """
        answers: list[list[str]] = []
        for start in range(0, len(questions), _AT_ONCE):
            some = list(questions[start : start + _AT_ONCE])
            found = self._ask({"do": "answer", "questions": some, "k": k}).get("tables")
            if not isinstance(found, list) or len(found) != len(some):
                raise self._wrong("a list of tables for each question")
            for one in found:
                if not isinstance(one, list) or not self._ids.issuperset(map(str, one)):
                    raise self._wrong("ids of the tables that it was given")
                answers.append([str(table_id) for table_id in one][:k])
        return answers

    def close(self) -> None:
        """End the script."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(OSError):
            if process.stdin:
                process.stdin.close()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            _end(process)
            process.wait()
        if process.stdout:
            process.stdout.close()

    def _start(self, folder: Path) -> None:
        self._log = folder / "log.txt"
        try:
            with self._log.open("wb") as log:
                self._process = subprocess.Popen(  # noqa: S603 (what the caller names)
                    [self._python, self._script.absolute()],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    cwd=folder,
                    env=_environment(os.environ),
                    start_new_session=True,
                )
        except OSError as error:
            raise BenchmarkError(
                f"{self._python} cannot be started ({error.strerror or error}); name the "
                f"interpreter of an environment that has the package"
            ) from error

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise BenchmarkError(f"{self.name} was asked before it had indexed a set")
        late = threading.Timer(self._seconds, _end, [process])
        late.start()
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            line = process.stdout.readline(_MOST_BYTES)
        except OSError:
            line = b""
        finally:
            in_time = late.is_alive()
            late.cancel()
        if not line.endswith(b"\n"):
            why = self._last_words() if in_time else f"no answer in {self._seconds:g} s"
            raise BenchmarkError(f"{self._script.name} ended: {why}")
        try:
            said = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise self._wrong("a JSON object") from error
        if not isinstance(said, dict):
            raise self._wrong("a JSON object")
        if "error" in said:
            raise BenchmarkError(one_line(str(said["error"])))
        return said

    def _last_words(self) -> str:
        """Return the last line that the script wrote as an error."""
        try:
            text = self._log.read_text(encoding="utf-8", errors="replace") if self._log else ""
        except OSError:
            text = ""
        return one_line(next((one for one in text.splitlines()[::-1] if one.strip()), "no reason"))

    def _wrong(self, expected: str) -> BenchmarkError:
        return BenchmarkError(f"{self._script.name} did not answer with {expected}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the script and what it started, which would keep the pipe to it open."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


@cache
def packages_of(python: Path) -> str:
    """Return an environment's Python and packages with their versions, looked at once a process.

    It is empty where the interpreter cannot be asked: then nothing is measured by it, either.
    """
    try:
        told = subprocess.run(  # noqa: S603 (what the caller names)
            [python, "-c", _LIST_PACKAGES],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_LISTED_SECONDS,
            check=True,
            env=_environment(os.environ),
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return told.stdout.decode("utf-8", "replace")


_COUNTS = ("bytes", "documents", "vectors")


def _write(path: Path, dataset: RetrievalSet) -> None:
    with whole(path) as stream:
        for table, rows in dataset.tables:
            record = {
                "id": table.table_id,
                "name": [*dataset.names.get(table.table_id, ())],
                "columns": [column.name for column in table.columns],
                "rows": [[*row] for row in rows],
                "contexts": [*dataset.contexts.get(table.table_id, ())],
            }
            stream.write(json.dumps(record).encode() + b"\n")


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the process's environment without what would mix ours into the other one."""
    kept = {key: value for key, value in environ.items() if not key.startswith("PYTHON")}
    return kept | {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
