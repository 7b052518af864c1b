"""The package's evaluation of a model's answers and ours, figure by figure.

    python -m pneuma_bench.experiments.target.downstream PYTHON OUT

PYTHON is that of an environment with `target_benchmark` 0.1.3, OUT what `pneuma-bench target
answer --out` wrote. The package reads what was retrieved and answered, asks nothing, and scores it.
It works on a copy: it opens databases to write, and runs the statements of a model without bounds
(those that did not run within ours were written as none). Ends with 1 if a figure differs by more
than 1e-9.
"""

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pneuma_bench.experiments.target.package import Compared, evaluate, show

OURS_ALONE = frozenset({"accuracy_any", "not_run", "unknown"})
"""Scores that the package does not compute."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python")
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    files = sorted(options.out.glob("*.json"))
    agree = bool(files)
    for file in files:
        ours = json.loads(file.read_text(encoding="utf-8"))
        agree &= compare(options.python, options.out, ours)
    print("every figure agrees" if agree else "figures differ, or there are none")
    sys.exit(not agree)


def compare(python: str, out: Path, ours: Mapping[str, Any]) -> bool:
    """Print every figure of a task by both; return whether all agree."""
    k, name = ours["k"], ours["name"]
    with tempfile.TemporaryDirectory(prefix="pneuma-target-") as scratch:
        copy = Path(scratch)
        for folder in (name, "retrieved", "answered"):
            shutil.copytree(out / folder, copy / folder)
        job = {
            "name": name,
            "folder": str(copy / name),
            "task": ours["task"],
            "k": [k],
            "retrieved": str(copy / "retrieved"),
            "answered": str(copy / "answered"),
        }
        found = evaluate(python, job)[k]
    theirs = of_tables(found["retrieval_performance"])
    theirs |= scores_of(found["downstream_task_performance"])
    mine = {**of_tables(ours), **ours["scores"]}
    names = [one for one in mine if one not in OURS_ALONE]
    if missing := [one for one in names if one not in theirs]:
        print(f"{name}, k={k}: the package computes no {', '.join(missing)}")
        return False
    label = f"{name}, {ours['task']}, k={k}"
    return show(label, [Compared(one, theirs[one], mine[one]) for one in names])


def of_tables(found: Mapping[str, Any]) -> dict[str, float]:
    """Return the figures of retrieval; labels of facts have a recall, too."""
    return {f"{one} of tables": found[one] for one in ("recall", "capped_recall")}


def scores_of(performance: Mapping[str, Any]) -> dict[str, float]:
    """Return the package's scores by the names that ours have."""
    scores = performance["scores"]
    if "all" in scores:
        return dict(scores["all"])
    if "sacrebleu" in scores:
        return {"sacrebleu": scores["sacrebleu"]["score"]}
    return dict(scores)


if __name__ == "__main__":
    main()
