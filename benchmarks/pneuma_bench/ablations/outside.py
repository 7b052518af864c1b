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
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from pneuma_assets.core.close_once import Closing
from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.models.encoder.files import locate_encoder
from pneuma_assets.core.progress import working
from pneuma_assets.core.tables import content_hash
from pneuma_assets.core.text.safe import one_line
from pneuma_bench.ablations.contestants import Prepared
from pneuma_bench.files import write_lines
from pneuma_bench.sets import RetrievalSet

_END_SECONDS = 10
_LIST_PACKAGES = """
import importlib.metadata, sys
print(sys.version)
there = importlib.metadata.distributions()
found = {f"{one.metadata['Name']}=={one.version}" for one in there}
print(*sorted(found), sep="\\n")
"""


class OutsideContestant(Closing):
    """Runs a script in another environment; keeps `Contestant`.

    The script is trusted as any program that one starts is; what it answers may be wrong.

    Args:
        name: What people call it.
        python: The environment's interpreter.
        script: Runs there; see the module.
        encoder: Embeds there, too: `encoder.model` of a deployment.
        rows: Most rows of a table that it is to index.
    """

    def __init__(self, name: str, python: Path, script: Path, encoder: str, rows: int) -> None:
        self.name, self._python, self._script = name, python.absolute(), script.absolute()
        self._encoder, self._rows = encoder, rows
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def key(self) -> str:
        """Equal for the same script, interpreter, packages there, encoder and number of rows."""
        code = self._script.read_bytes().hex() if self._script.exists() else ""
        there = str(self._python), packages_of(self._python)
        return content_hash(self.name, code, *there, self._encoder, str(self._rows))

    def prepare(self, dataset: RetrievalSet, folder: Path) -> Prepared:
        """Start the script and let it index the tables.

        Raises:
            BenchmarkError: It cannot be started, failed, or answers something else.
        """
        tables, files = folder.absolute() / "tables.jsonl", folder.absolute() / "files"
        shutil.rmtree(files, ignore_errors=True)
        records = (
            {
                "id": table.table_id,
                "name": dataset.names.get(table.table_id, ()),
                "columns": [column.name for column in table.columns],
                "rows": rows,
                "contexts": dataset.contexts.get(table.table_id, ()),
            }
            for table, rows in dataset.tables
        )
        write_lines(tables, records)
        files.mkdir()
        self._ids = frozenset(table.table_id for table, _ in dataset.tables)
        self._start(folder)
        asked = {
            "tables": str(tables),
            "folder": str(files),
            "encoder": locate_encoder(self._encoder).model,
            "rows": self._rows,
        }
        with working(f"indexing, {self.name}"):
            said = self._ask({"do": "prepare", **asked})
        try:
            size, documents, vectors = (int(said[key]) for key in ("bytes", "documents", "vectors"))
            about = one_line(str(said.get("about", "")))
            return Prepared(float(said["seconds"]), size, documents, vectors, about)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise self._wrong("what indexing took") from error

    def answer(self, questions: Sequence[str], k: int) -> list[list[str]]:
        """Let the script answer.

        Raises:
            BenchmarkError: It failed, or names a table that there is not.
        """
        found = self._ask({"do": "answer", "questions": [*questions], "k": k}).get("tables")
        if not isinstance(found, list) or len(found) != len(questions):
            raise self._wrong("a list of tables for each question")
        if not all(self._ids.issuperset(one) for one in found):
            raise self._wrong("ids of the tables that it was given")
        return [one[:k] for one in found]

    def close(self) -> None:
        """End the script."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(subprocess.TimeoutExpired, OSError):
                process.communicate(timeout=_END_SECONDS)
            process.kill()
            process.wait()

    def _start(self, folder: Path) -> None:
        self._log = folder / "log.txt"
        try:
            with self._log.open("wb") as log:
                self._process = subprocess.Popen(  # noqa: S603 (what the caller names)
                    [self._python, self._script],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    cwd=folder,
                    env=_environment(),
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
        with suppress(BrokenPipeError):  # it ended; reading tells
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            log = self._log.read_text(encoding="utf-8", errors="replace").split("\n")
            why = next((one for one in log[::-1] if one.strip()), "no reason")
            raise BenchmarkError(f"{self._script.name} ended: {one_line(why)}")
        try:
            said = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise self._wrong("a JSON object") from error
        if not isinstance(said, dict):
            raise self._wrong("a JSON object")
        if "error" in said:
            raise BenchmarkError(one_line(str(said["error"])))
        return said

    def _wrong(self, expected: str) -> BenchmarkError:
        return BenchmarkError(f"{self._script.name} did not answer with {expected}")


@cache
def packages_of(python: Path) -> str:
    """Return an environment's Python and packages with their versions, looked at once a process.

    It is empty where the interpreter cannot be asked: then nothing is measured by it, either.
    """
    try:
        told = subprocess.run(  # noqa: S603 (what the caller names)
            [python, "-c", _LIST_PACKAGES], capture_output=True, check=True, env=_environment()
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return told.stdout.decode("utf-8", "replace")


def _environment() -> dict[str, str]:
    """Return the process's environment without what would mix ours into the other one."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return kept | {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
