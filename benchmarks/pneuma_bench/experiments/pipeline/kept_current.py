"""Print what it costs to keep many small tables current: in a folder, a bucket and a database.

Run `python -m pneuma_bench.experiments.pipeline.kept_current --tables 10000 --where folder s3`, or
with `--tables 500 --where postgresql`. First all tables are indexed; then a tick looks at a lake
where nothing has changed; then 3 % are changed, 0.4 % are new and 0.2 % are gone, and one run
brings that into the index.

The bucket's server is moto's, the database's a PostgreSQL that is started for it; both are
processes of their own, whose time does not count. No model describes columns, and the encoder is a
stand-in that costs next to nothing: `--encoder packaged` takes the real one.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg

import pneuma_assets.resources.models
from pneuma_assets.core.config.models import EncoderConfig
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_assets.core.service.state import open_store
from pneuma_bench.experiments.pipeline.lakes import opened
from pneuma_bench.experiments.pipeline.tables import NoEncoder
from tests.support.ticks import Ticking


def cpu_s() -> float:
    """Return the processor time of this process and of those it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def timed(what: str, tables: int, work: Callable[[], object]) -> Any:
    """Print the time that one thing takes, and the processor's for each table."""
    began, cpu = time.monotonic(), cpu_s()
    said = work()
    took, used = time.monotonic() - began, cpu_s() - cpu
    each = f"{1000 * used / tables:8.1f} ms a table" if tables else ""
    print(f"  {what:44}{took:9.2f} s{used:9.2f} s CPU{each}", flush=True)
    return said


def work_off(ticking: Ticking, what: str, tables: int) -> None:
    """Tick and run until there is nothing to do."""
    request = timed(f"a tick over {what}", 0, ticking.watch)
    runs = 0

    def all_runs() -> None:
        nonlocal request, runs
        while isinstance(request, dg.RunRequest):
            request = ticking.go_on(ticking.execute(request))
            runs += 1

    timed(f"{what}: the runs", tables, all_runs)
    with open_store(ticking.loaded, {}) as store:
        states = [str(record.state) for record in store.tables.records()]
    if set(states) != {"indexed"}:
        raise SystemExit(f"not all tables are indexed: {sorted(set(states))}")
    print(f"  {'':44}{runs} runs, {len(states):,} tables indexed", flush=True)


def measure(where: str, root: Path, tables: int) -> None:
    """Measure one place and print."""
    changed, new, gone = max(1, tables * 3 // 100), max(1, tables // 250), max(1, tables // 500)
    (root / "dagster").mkdir(parents=True)
    with (
        opened(where, root) as lake,
        dg.DagsterInstance.local_temp(str(root / "dagster")) as instance,
    ):
        for number in range(tables):
            lake.put(number)
        ticking = Ticking(root, instance, sources=[lake.source])
        print(f"{tables:,} tables in a {where}", flush=True)
        work_off(ticking, "a new lake", tables)
        for number in range(2):
            what = "an unchanged lake" + (", again" if number else "")
            decision = timed(f"a tick over {what}", 0, ticking.watch)
            if not isinstance(decision, dg.SkipReason):
                raise SystemExit(f"an unchanged lake was reason for a run: {decision.tags}")
        step = tables // (changed + gone)
        for number in range(changed):
            lake.put(number * step, version=1)
        for number in range(gone):
            lake.drop((changed + number) * step)
        for number in range(new):
            lake.put(tables + number)
        work_off(ticking, f"{changed} changed, {new} new, {gone} gone", changed + new + gone)


def stand_in(config: EncoderConfig) -> Encoder:
    """Return what costs nothing and bears the name that a tick expects of the index."""
    encoder = NoEncoder()
    encoder.name = open_encoder(config).name
    return encoder


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    places = ["folder", "s3", "postgresql"]
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--where", nargs="+", choices=places, default=["folder", "s3"])
    parser.add_argument("--encoder", choices=["packaged", "none"], default="none")
    options = parser.parse_args()
    if options.encoder == "none":
        pneuma_assets.resources.models.open_encoder = stand_in
    for where in options.where:
        with tempfile.TemporaryDirectory() as name:
            measure(where, Path(name), options.tables)


if __name__ == "__main__":
    main()
