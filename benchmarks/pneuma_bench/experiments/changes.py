"""How well does a sketch tell which share of a table's rows changed, and what does it cost?

    python -m pneuma_bench.experiments.changes --rows 100 1000 10000 100000 1000000 10000000

Made tables of five columns are changed by appending, deleting and updating a share of their rows,
each state is read as the pipeline reads it, and the share by the sketches is set beside the exact
one. For each size, too: bytes of a sketch, as it is and as the store keeps it, and seconds of
processor time and peak memory of a reading, with the sketch and with no more than evidence needs,
each in a process of its own.
"""

import argparse
import zlib
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa

from pneuma_assets.core.changes.changed_share import Extent, measured
from pneuma_assets.core.changes.sketch import TableSketch
from pneuma_assets.core.sources.duckdb.relation import Relation, feed
from pneuma_assets.core.terms.collect import TermCollector, _as_text
from pneuma_bench.experiments.support.timing import timed

SHARES = (0.01, 0.1, 0.2, 0.5)
KINDS = ("append", "delete", "update")
WIDTH = 5


class OnlyEvidence(TermCollector):
    """Gathers evidence as it is gathered beside a sketch, without one."""

    def add(self, batch: pa.RecordBatch) -> None:
        """Take the next rows."""
        if not self._columns:
            super().add(batch.slice(0, 0))
        columns = [_as_text(column) for column in batch.columns]
        for seen, column in zip(self._columns, columns, strict=True):
            seen.add(column)
        self._draw(columns, batch.num_rows)


class Read(NamedTuple):
    """What one reading gave, and cost."""

    sketch: TableSketch
    seconds: float
    megabytes: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10**n for n in range(2, 8)])
    sizes = parser.parse_args().rows
    for rows in sizes:
        report_errors(rows)
    print(
        "\n| rows | bytes | bytes kept | s of CPU, without | with | MB of memory, without | with |"
        "\n| --- | --- | --- | --- | --- | --- | --- |"
    )
    for rows in sizes:
        without, with_it = (apart(rows, sketched=sketched) for sketched in (False, True))
        data = with_it.sketch.to_json()
        print(
            f"| {rows:,} | {len(data):,} | {len(zlib.compress(data)):,} | {without.seconds:.2f} | "
            f"{with_it.seconds:.2f} | {without.megabytes:.0f} | {with_it.megabytes:.0f} |",
            flush=True,
        )


def report_errors(rows: int) -> None:
    """Print the measured share beside the exact one, for each way and share."""
    before = read(rows, 0, 0, 0).sketch
    for changed, kind in ((round(share * rows), kind) for share in SHARES for kind in KINDS):
        after = read(rows, *(changed if kind == each else 0 for each in KINDS)).sketch
        found = measured(Extent(rows, sketch=before), Extent(after.rows, sketch=after))
        exact = changed / rows
        print(
            f"{rows:>10,} rows, {kind} {exact:6.2%}: {found.share:7.2%} by {found.measured_by}, "
            f"error {100 * (found.share - exact):+.2f} points",
            flush=True,
        )


def apart(rows: int, *, sketched: bool) -> Read:
    """Read a table in a process of its own, whose memory nothing else has used."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(read, rows, 0, 0, 0, sketched=sketched).result()


def read(rows: int, appended: int, deleted: int, updated: int, *, sketched: bool = True) -> Read:
    """Read a made table, some rows of which are not what they were."""
    relation = Relation(
        f"(SELECT n, 'person ' || n % 90000, ['red', 'green', 'blue'][n % 3 + 1], n * 0.37, "
        f"CASE WHEN n % 5 > 0 THEN 'note on ' || n END FROM (SELECT CASE WHEN range < {updated} "
        f"THEN range + 100000000000 ELSE range END AS n FROM range({deleted}, {rows + appended})))"
    )
    gatherer = TermCollector(0) if sketched else OnlyEvidence(0)
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("SET enable_progress_bar = false")
        feed(TermCollector(0), connection, Relation("(SELECT 1)"), 1)  # what is loaded once
        _, took = timed(lambda: feed(gatherer, connection, relation, WIDTH))
        gathered, more = timed(gatherer.collected)
    status = Path("/proc/self/status").read_text()  # getrusage counts the parent's, too
    (peak,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:"))
    return Read(gathered.sketch, took.cpu + more.cpu, int(peak) / 1024)


if __name__ == "__main__":
    main()
