"""Print what indexing, asking, an unchanged run and an installation cost, in one run.

    python -m pneuma_bench.experiments.costs LAKE [--against CHECKOUT] [--tables 379] [--rounds 3]

LAKE is a folder of CSV and Parquet files, of which the first so many are taken. All is measured in
processes of its own; with --against, over another checkout of the repository, too, in turns, so
that a busy machine slows both. Printed are medians, and the ratios to the other checkout:

- the processor time that indexing a small table takes, with a stand-in for the encoder
  (`experiments.tables`);
- `search` and `index` as commands where nothing has changed: seconds until they end, and of the
  processor;
- a question in a process that has answered others: processor time beside the encoding of the
  question, and that of bm25s and NumPy over the same texts and vectors;
- megabytes of what a default installation needs, by the files of the packages in this environment.
"""

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from statistics import median

from packaging.requirements import Requirement

HERE = Path(__file__).resolve().parents[3]
_CPU = re.compile(r"first run\b.*?([\d.]+) ms a table")
_SHOWN = 10

Found = dict[str, dict[Path, list[float]]]
"""Every figure of every round, by what it is of and by checkout."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lake", type=Path)
    parser.add_argument("--against", type=Path, metavar="CHECKOUT")
    parser.add_argument("--tables", type=int, default=379)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    checkouts = [HERE, *([options.against.resolve()] if options.against else [])]
    found: Found = defaultdict(lambda: defaultdict(list))
    with tempfile.TemporaryDirectory(prefix="pneuma-costs-") as name:
        scratch = Path(name)
        questions = copied(options.lake, scratch / "lake", options.tables)
        homes = {one: scratch / f"home{at}" for at, one in enumerate(checkouts)}
        for checkout, home in homes.items():
            begin(found, checkout, home, questions)
        for _ in range(options.rounds):
            for checkout, home in homes.items():
                measure(found, checkout, home, questions[0])
    print(f"| | {' | '.join(one.name for one in checkouts)} |{' ratio |' * (len(checkouts) - 1)}")
    print("| --- |" + " --- |" * (2 * len(checkouts) - 1))
    for name, by_checkout in found.items():
        medians = [median(by_checkout[one]) for one in checkouts if by_checkout[one]]
        ratio = [medians[0] / medians[1]] if len(medians) == 2 and medians[1] else []
        print(f"| {name} | {' | '.join(f'{one:.2f}' for one in [*medians, *ratio])} |")


def copied(lake: Path, folder: Path, count: int) -> list[str]:
    """Copy the first tables of a lake; return a question about each CSV file among them."""
    files = sorted(one for one in lake.rglob("*") if one.suffix in (".csv", ".parquet"))[:count]
    if not files:
        raise SystemExit(f"there are no CSV or Parquet files under {lake}; name another folder")
    questions = []
    for file in files:
        target = folder / file.relative_to(lake)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
        if file.suffix == ".csv":
            with file.open(encoding="utf-8", errors="replace", newline="") as lines:
                columns = next(csv.reader(lines), [])[:3]
            questions.append(f"{' and '.join(columns)} of {file.stem}")
    return questions


def begin(found: Found, checkout: Path, home: Path, questions: list[str]) -> None:
    """Make a home over the lake beside it, and index that."""
    home.mkdir()
    sources = [{"name": "lake", "type": "folder", "path": str(home.parent / "lake")}]
    config = {"home": str(home), "sources": sources}
    (home / "pneuma.yaml").write_text(json.dumps(config), encoding="utf-8")
    (home / "questions.json").write_text(json.dumps(questions), encoding="utf-8")
    found["first index, s"][checkout] += [command(checkout, home, "index")[0]]
    found["a default installation, MB"][checkout] += [installed(checkout) / 1e6]


def measure(found: Found, checkout: Path, home: Path, question: str) -> None:
    """Add what a round of a checkout takes."""
    tables = [str(Path(__file__).with_name("tables.py")), "--encoder", "none"]
    if said := _CPU.search(run(checkout, home, *tables, "--tables", "200")):
        found["index, ms of CPU a small table"][checkout].append(float(said[1]))
    commands = {"cold search": ["search", "--json", question], "an unchanged run": ["index"]}
    for name, asked in commands.items():
        wall, cpu = command(checkout, home, *asked)
        found[f"{name}, s"][checkout].append(wall)
        found[f"{name}, s of CPU"][checkout].append(cpu)
    warm_said = run(checkout, home, __file__, "warm", str(home)).splitlines()[-1]
    for name, value in json.loads(warm_said).items():
        found[name][checkout].append(value)


def run(checkout: Path, home: Path, *arguments: str) -> str:
    """Run Python over a checkout; return what it prints."""
    kept = (key for key in os.environ if not key.startswith("PNEUMA_"))
    # As installed by pip, with compiled modules: without, each start compiles the product anew.
    environ = {key: os.environ[key] for key in kept if key != "PYTHONDONTWRITEBYTECODE"}
    environ["PYTHONPATH"] = f"{checkout}{os.pathsep}{checkout / 'benchmarks'}"
    command = [sys.executable, "-P", *arguments]
    done = subprocess.run(
        command, env=environ, cwd=home, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} of {checkout} failed: {done.stderr[-2000:]}")
    return done.stdout


def command(checkout: Path, home: Path, *arguments: str) -> tuple[float, float]:
    """Return seconds by the clock, and of the processor, of a command line until it ends."""
    from pneuma_bench.experiments.support.timing import timed  # another checkout may have none

    file = str(home / "pneuma.yaml")
    asked = ("-m", "pneuma_assets.cli", "--config", file, *arguments)
    return timed(lambda: run(checkout, home, *asked))[1]


def warm(home: Path) -> dict[str, float]:
    """Return milliseconds of processor time of warm questions, in the process of a checkout."""
    import bm25s
    import numpy as np

    from pneuma_assets.core.config.load import load_deployment
    from pneuma_assets.core.service.workspace import Workspace

    questions = json.loads((home / "questions.json").read_text(encoding="utf-8"))
    loaded = load_deployment(config=home / "pneuma.yaml", environ={}, cwd=home)
    with Workspace(loaded) as workspace:
        blocks = [*workspace.search_index.blocks()]
        vectors = np.stack([one.vector for one in blocks])
        words = bm25s.BM25()
        texts = [one.block.text for one in blocks]
        words.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
        vector = workspace.encoder.encode_queries(questions[:1])[0]

        def plain(question: str) -> None:
            asked = bm25s.tokenize([question], show_progress=False, return_ids=False)
            sides = words.get_scores(asked[0]), vectors @ vector
            scaled = [(one - one.min()) / max(float(np.ptp(one)), 1e-9) for one in sides]
            np.argsort(-(scaled[0] + scaled[1]))[:_SHOWN]

        encoding = each(lambda one: workspace.encoder.encode_queries([one]), questions)
        asking = each(workspace.ask, questions)
        beside = [whole - own for whole, own in zip(asking, encoding, strict=True)]
        return {
            "a warm question beside its encoding, ms of CPU": median(beside),
            "its encoding, ms of CPU": median(encoding),
            "bm25s and NumPy on the same texts, ms of CPU": median(each(plain, questions)),
        }


def each(act: Callable[[str], object], questions: list[str]) -> list[float]:
    """Return milliseconds of processor time of each question, after one that is not counted."""
    act(questions[0])
    taken = []
    for question in questions:
        began = time.process_time()
        act(question)
        taken.append(1000 * (time.process_time() - began))
    return taken


def installed(checkout: Path) -> int:
    """Return the bytes of the packages that a checkout needs without extras, and of its own."""
    project = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    sizes: dict[str, int] = {}
    left = [Requirement(one) for one in project["dependencies"]]
    seen: set[str] = set()
    while left:
        one = left.pop()
        if (asked := f"{one.name.lower()}{sorted(one.extras)}") in seen:
            continue
        seen.add(asked)
        try:
            package = distribution(one.name)
        except PackageNotFoundError:
            print(f"not in this environment, and not counted: {one.name}", file=sys.stderr)
            continue
        files = {Path(str(file.locate())) for file in package.files or ()}
        sizes[package.name] = sum(file.stat().st_size for file in files if file.is_file())
        for needed in map(Requirement, package.requires or ()):
            extras = [{"extra": extra} for extra in {"", *one.extras}]
            if needed.marker is None or any(map(needed.marker.evaluate, extras)):
                left.append(needed)
    own = sum(file.stat().st_size for file in (checkout / "pneuma_assets").rglob("*.py"))
    return own + sum(sizes.values())


if __name__ == "__main__":
    if sys.argv[1:2] == ["warm"]:
        print(json.dumps(warm(Path(sys.argv[2]))))
    else:
        main()
