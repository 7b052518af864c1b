"""The package's retrieval tasks and ours, on sets at hand, figure by figure.

    python -m pneuma_bench.experiments.target PYTHON KEEP NAME=TABLES,QUERIES ...

PYTHON is that of an environment with `target_benchmark` 0.1.3. Each set is written in the package's
format under KEEP; its evaluator asks this project's retriever, and `pneuma-bench run` measures the
same files. Ends with 1 if a figure differs by more than 1e-9. --named sets: ids are names.
"""

import argparse
import os
import sys
from pathlib import Path

from pneuma_assets.core.config.deployment import Deployment
from pneuma_bench.experiments.target.package import Compared, asking, evaluate, show
from pneuma_bench.lab import Lab
from pneuma_bench.outcome import Outcome
from pneuma_bench.reading import read_files
from pneuma_bench.run import measure
from pneuma_bench.settings import setting_of
from pneuma_bench.target.writing import recalls_as_target, write_target

PLAIN = Deployment()
DEPTHS = (1, 5, 10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python")
    parser.add_argument("keep", type=Path)
    parser.add_argument("sets", nargs="+", metavar="NAME=TABLES,QUERIES")
    parser.add_argument("--named", action="append", default=[], metavar="NAME")
    options = parser.parse_args()
    keep = options.keep.resolve()
    agree = True
    for one in options.sets:
        name, _, files = one.partition("=")
        tables, queries = map(Path, files.split(","))
        agree &= compare(options.python, keep, name, tables, queries, name in options.named)
    print("every figure agrees" if agree else "figures differ")
    sys.exit(not agree)


def compare(python: str, keep: Path, name: str, tables: Path, queries: Path, named: bool) -> bool:
    """Print every figure of a set, at every depth, by both; return whether all agree."""
    corpus, asked, _ = write_target(read_files(tables, queries), keep / name)
    job = {"name": name, "folder": str(keep / name), "k": DEPTHS,
           "ids_are_names": named, **asking(keep / "theirs")}  # fmt: skip
    theirs = evaluate(python, job)
    dataset = read_files(corpus, asked)
    if named:
        # As the server does: database and table are the name.
        dataset = read_files(named_corpus(corpus), asked)
    agree = True
    with Lab(dataset, keep / "ours", os.environ) as lab:
        for k in DEPTHS:
            outcome = measure(lab, setting_of(PLAIN, {"k": k}))
            performance = theirs[k]["retrieval_performance"]
            agree &= show(f"{name}, k={k}", figures(outcome, performance))
            print(f"{'':24} our R@{k}, recall@{k}: {outcome.figures.values[f'R@{k}']!r}, "
                  f"{outcome.figures.values[f'recall@{k}']!r}")  # fmt: skip
    return agree


def figures(outcome: Outcome, theirs: dict[str, float]) -> list[Compared]:
    """Return the package's figures of retrieval, each beside ours by the same rule."""
    found = [answer.ranked for answer in outcome.answers]
    gold = [answer.relevant for answer in outcome.answers]
    recall, capped = recalls_as_target(found, gold)
    ours = {"accuracy": recall, "recall": recall, "capped_recall": capped}
    return [Compared(name, theirs[name], value) for name, value in ours.items()]


def named_corpus(corpus: Path) -> Path:
    """Write a corpus again, database and table as each one's name; return the path."""
    import json

    lines = [json.loads(line) for line in corpus.read_text(encoding="utf-8").split("\n") if line]
    path = corpus.with_name("named.jsonl")
    named = ({**one, "name": [one["database_id"], one["table_id"]]} for one in lines)
    path.write_text("".join(json.dumps(one) + "\n" for one in named), encoding="utf-8")
    return path


if __name__ == "__main__":
    main()
