"""Compare what the state costs now with what it cost before SQLAlchemy, and with PostgreSQL.

    python -m pneuma_bench.experiments.pipeline.state [--tables 10000] [--rounds 3] [--peer COMMIT]

Each round measures the peer (the commit before, checked out of git), a SQLite file and, where one
can be started, a PostgreSQL server on this machine, one after the other, each in a process and an
empty state of its own; medians are printed. The server's own CPU time is not counted.
"""

import argparse
import io
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.postgresql_process import Server
from tests.support.postgresql_server import new_database

PEER = "588dd48"
"""The last commit whose state was written without SQLAlchemy."""
HERE = Path(__file__).parents[4]
WORK = Path(__file__).with_name("state_work.py")

Steps = dict[str, tuple[float, float]]


def check_out(commit: str, folder: Path) -> None:
    """Unpack a commit."""
    packed = subprocess.run(
        ["git", "archive", commit, "pneuma_assets"], cwd=HERE, check=True, capture_output=True
    )
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")


def measure(program: Path, tables: int, url: str | None = None) -> Steps:
    """Run the work once in a process of its own."""
    environ = {**os.environ, "PYTHONPATH": str(program), "STATE_URL": url or ""}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-P", str(WORK), str(tables), folder]
        done = subprocess.run(command, env=environ, check=True, stdout=subprocess.PIPE)
    steps: Steps = json.loads(done.stdout)
    return {**steps, "all": (sum(s[0] for s in steps.values()), sum(s[1] for s in steps.values()))}


def start_server(stack: ExitStack) -> Server | None:
    """Start a server that is stopped at the end; None where none is installed."""
    try:
        return stack.enter_context(Server())
    except pytest.skip.Exception as missing:
        print(missing)
        return None


def show(rounds: Mapping[str, list[Steps]]) -> None:
    """Print medians, and their ratios to the peer's."""
    (peer, *others) = rounds
    medians = {name: median(found) for name, found in rounds.items()}
    print(f"{'seconds: CPU, wall':18}" + "".join(f"{name:>24}" for name in rounds))
    for step, (cpu, wall) in medians[peer].items():
        line = f"{step:18}{cpu:15.2f} {wall:8.2f}"
        for name in others:
            now, waited = medians[name][step]
            line += f"{now:9.2f} x{now / max(cpu, 1e-9):<5.2f}{waited:8.2f}"
        print(line)


def median(found: list[Steps]) -> Steps:
    """Return the median of each figure by itself."""
    return {
        step: (
            statistics.median(one[step][0] for one in found),
            statistics.median(one[step][1] for one in found),
        )
        for step in found[0]
    }


def main() -> None:
    """Measure in turns and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peer", default=PEER)
    options = parser.parse_args()
    rounds: dict[str, Any] = {options.peer: [], "SQLite": []}
    with ExitStack() as stack:
        peer = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        check_out(options.peer, peer)
        server = start_server(stack)
        for _ in range(options.rounds):
            rounds[options.peer].append(measure(peer, options.tables))
            rounds["SQLite"].append(measure(HERE, options.tables))
            if server is not None:
                with new_database(server.url) as url:
                    rounds.setdefault("PostgreSQL", []).append(measure(HERE, options.tables, url))
    show(rounds)


if __name__ == "__main__":
    main()
