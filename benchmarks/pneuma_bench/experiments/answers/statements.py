"""Print what statements in DuckDB and the rows of their tables take, with processes kept or anew.

    python -m pneuma_bench.experiments.answers.statements [--rounds 9]

Printed are the median milliseconds, both ways in turns, so that a busy machine slows both, of one
statement over a table of ten rows, of ten such statements one after the other, of one over a table
of 100,000 rows, and of reading 12 CSV files of 1,000 rows of a folder. Anew means that the process
from which statements are forked, or the one that reads, is ended before each statement or table.
"""

import argparse
import os
import tempfile
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import pyarrow as pa

from pneuma_assets.core.answers.fork_server import SERVER
from pneuma_assets.core.answers.guard import checked
from pneuma_assets.core.answers.run_duckdb import Given, run
from pneuma_assets.core.answers.statements import ReadTable
from pneuma_assets.core.config.small_sections import LimitsConfig
from pneuma_assets.core.sources.isolation.source import IsolatedSource
from pneuma_assets.core.sources.kinds.folder import FolderSourceConfig
from pneuma_assets.core.tables import TableRef
from pneuma_bench.experiments.support.timing import timed

_TABLE = ReadTable("sales", ("place", "price"))
_STATEMENT = checked(
    "SELECT place, sum(price) FROM sales GROUP BY place ORDER BY 2 DESC", [_TABLE], "duckdb", 10
)
_FILES = 12


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    found = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="pneuma-files-") as folder:
        source = _family(Path(folder))
        reads = [partial(_read, source, ref) for ref in source.list_tables().tables]
        kinds = {
            "1 over 10 rows": ([partial(_ask, 10)], SERVER.end),
            "10 over 10 rows": ([partial(_ask, 10)] * 10, SERVER.end),
            "1 over 100,000": ([partial(_ask, 100_000)], SERVER.end),
            "reading 12 files": (reads, source.close),
        }
        _ask(10)
        reads[0]()
        for _ in range(rounds):
            for kind, (works, end) in kinds.items():
                found[kind, "kept"].append(_seconds(works, lambda: None))
                found[kind, "anew"].append(_seconds(works, end))
        source.close()
    print(f"{'':<16} {'kept':>8} {'anew':>8}  (ms)")
    for kind in kinds:
        kept, anew = (1_000 * median(found[kind, way]) for way in ("kept", "anew"))
        print(f"{kind:<16} {kept:8.0f} {anew:8.0f}")


def _seconds(works: list[Callable[[], None]], before: Callable[[], None]) -> float:
    """Return how long it takes to do one after the other."""
    total = 0.0
    for work in works:
        before()
        total += timed(work)[1].wall
    return total


def _ask(rows: int) -> None:
    batch = pa.record_batch(
        {"place": [f"place {n % 10}" for n in range(rows)], "price": range(rows)}
    )
    run(_STATEMENT, [Given(_TABLE, [batch])])


def _read(source: IsolatedSource, ref: TableRef) -> None:
    list(source.scan(ref))


def _family(folder: Path) -> IsolatedSource:
    """Return a folder of like files."""
    rows = "".join(f"place {n % 10},{n}\n" for n in range(1_000))
    for at in range(_FILES):
        (folder / f"sales_{2000 + at}.csv").write_text(f"place,price\n{rows}")
    return IsolatedSource(FolderSourceConfig(name="s", path=folder), os.environ, LimitsConfig())


if __name__ == "__main__":
    main()
