"""The package's retrieval tasks and ours, on sets at hand, figure by figure.

    python -m pneuma_bench.experiments.target PYTHON KEEP NAME=TABLES,QUERIES ...

PYTHON is that of an environment with `target_benchmark` 0.1.3. Each set is written in the package's
format under KEEP; its evaluator asks this project's retriever, and `pneuma-bench run` measures the
same files. Ends with 1 if a figure differs by more than 1e-9. --named sets: ids are names.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pneuma_assets.core.config.deployment import Deployment
from pneuma_bench.files import write_lines
from pneuma_bench.lab import Lab
from pneuma_bench.reading import read_files
from pneuma_bench.run import measure
from pneuma_bench.settings import setting_of
from pneuma_bench.target import serving
from pneuma_bench.target.writing import recalls_as_target, write_target

DEPTHS = (1, 5, 10)
CLOSE = 1e-9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python")
    parser.add_argument("keep", type=Path)
    parser.add_argument("sets", nargs="+", metavar="NAME=TABLES,QUERIES")
    parser.add_argument("--named", action="append", default=[], metavar="NAME")
    options = parser.parse_args()
    agree = True
    for one in options.sets:
        name, _, files = one.partition("=")
        tables, queries = map(Path, files.split(","))
        named = name in options.named
        agree &= compare(options.python, options.keep.resolve(), name, tables, queries, named)
    print("every figure agrees" if agree else "figures differ")
    sys.exit(not agree)


def compare(python: str, keep: Path, name: str, tables: Path, queries: Path, named: bool) -> bool:
    """Print every figure of a set, at every depth, by both; return whether all agree."""
    corpus, asked, _ = write_target(read_files(tables, queries), keep / name)
    job = {
        "name": name,
        "folder": str(keep / name),
        "k": DEPTHS,
        "ids_are_names": named,
        "client": str(Path(serving.__file__).with_name("client.py")),
        "command": [sys.executable, "-m", "pneuma_bench.cli"],
        "options": ["--keep", str(keep / "theirs")],
    }
    theirs = evaluate(python, job)
    if named:  # as the server does: database and table are the name
        lines = map(json.loads, corpus.read_text(encoding="utf-8").splitlines())
        corpus = corpus.with_name("named.jsonl")
        write_lines(corpus, ({**o, "name": [o["database_id"], o["table_id"]]} for o in lines))
    agree = True
    with Lab(read_files(corpus, asked), keep / "ours", os.environ) as lab:
        for k in DEPTHS:
            outcome = measure(lab, setting_of(Deployment(), {"k": k}))
            found = [answer.ranked for answer in outcome.answers]
            recall, capped = recalls_as_target(found, [one.relevant for one in outcome.answers])
            ours = {"accuracy": recall, "recall": recall, "capped_recall": capped}
            for figure, value in ours.items():
                package = theirs[str(k)]["retrieval_performance"][figure]
                agrees = abs(package - value) <= CLOSE
                agree &= agrees
                mark = "" if agrees else "   DIFFERS"
                print(f"{name}, k={k:<4} {figure:22} {package!r:24} {value!r:24}{mark}", flush=True)
    return agree


def evaluate(python: str, job: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what the package computes, by k; see `evaluating`.

    The order of tables in its prompts is that of a set of Python's: the seed of hashes is fixed.
    """
    with tempfile.TemporaryDirectory(prefix="pneuma-target-") as scratch:
        file = Path(scratch) / "job.json"
        file.write_text(json.dumps(job), encoding="utf-8")
        environ = {**os.environ, "HF_HOME": scratch, "PYTHONHASHSEED": "0"}
        script = Path(__file__).with_name("evaluating.py")
        done = subprocess.run(
            [python, str(script), str(file)], env=environ, stdout=subprocess.PIPE, check=True,
            text=True, cwd=scratch,
        )  # fmt: skip
    found: dict[str, dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    main()
