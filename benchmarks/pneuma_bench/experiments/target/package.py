"""Asks the package `target_benchmark` in its own environment, and compares figures with it."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pneuma_bench.target import serving

SCRIPT = Path(__file__).with_name("evaluating.py")
CLOSE = 1e-9


class Compared(NamedTuple):
    """A figure by the package and by this project."""

    name: str
    package: float
    ours: float

    @property
    def agrees(self) -> bool:
        """Whether they are the same but for rounding in the last places."""
        return abs(self.package - self.ours) <= CLOSE


def evaluate(python: str, job: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
    """Return what the package computes, by k; see `evaluating`.

    The order of tables in its prompts is that of a set of Python's: the seed of hashes is fixed.
    """
    with tempfile.TemporaryDirectory(prefix="pneuma-target-") as scratch:
        file = Path(scratch) / "job.json"
        file.write_text(json.dumps(job), encoding="utf-8")
        environ = {**os.environ, "HF_HOME": scratch, "PYTHONHASHSEED": "0"}
        done = subprocess.run(
            [python, str(SCRIPT), str(file)], env=environ, stdout=subprocess.PIPE, check=True,
            text=True, cwd=scratch,
        )  # fmt: skip
    return {int(k): found for k, found in json.loads(done.stdout.splitlines()[-1]).items()}


def asking(keep: Path) -> dict[str, Any]:
    """Return the part of a job that has this project's retriever asked."""
    return {
        "client": str(Path(serving.__file__).with_name("client.py")),
        "command": [sys.executable, "-m", "pneuma_bench.cli"],
        "options": ["--keep", str(keep)],
    }


def show(of: str, compared: list[Compared]) -> bool:
    """Print both figures a line; return whether all agree."""
    for one in compared:
        mark = "" if one.agrees else "   DIFFERS"
        print(f"{of:24} {one.name:22} {one.package!r:24} {one.ours!r:24}{mark}", flush=True)
    return all(one.agrees for one in compared)
