"""Print what a statement in DuckDB takes: forked from a process that is there, or started anew.

    python -m pneuma_bench.experiments.answers.statements [--rounds 9]

Of each kind are printed the median milliseconds until its rows are there, both ways in turns, so
that a busy machine slows both: of one statement over a table of ten rows, of ten such statements
one after the other, and of one over a table of 100,000 rows.
"""

import argparse
from collections import defaultdict
from statistics import median

import pyarrow as pa

from pneuma_assets.core.answers.fork_server import SERVER
from pneuma_assets.core.answers.guard import checked
from pneuma_assets.core.answers.run_duckdb import Given, run
from pneuma_assets.core.answers.statements import ReadTable
from pneuma_bench.experiments.support.timing import timed

_TABLE = ReadTable("sales", ("place", "price"))
_STATEMENT = checked(
    "SELECT place, sum(price) FROM sales GROUP BY place ORDER BY 2 DESC", [_TABLE], "duckdb", 10
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    kinds = {"1 over 10 rows": (1, 10), "10 over 10 rows": (10, 10), "1 over 100,000": (1, 100_000)}
    _ask(10)
    found = defaultdict(list)
    for _ in range(rounds):
        for kind, (times, rows) in kinds.items():
            found[kind, "forked"].append(_seconds(times, rows, anew=False))
            found[kind, "anew"].append(_seconds(times, rows, anew=True))
    print(f"{'statements':<16} {'forked':>8} {'anew':>8}  (ms)")
    for kind in kinds:
        forked, anew = (1_000 * median(found[kind, way]) for way in ("forked", "anew"))
        print(f"{kind:<16} {forked:8.0f} {anew:8.0f}")


def _seconds(times: int, rows: int, *, anew: bool) -> float:
    """Return how long statements take that run one after the other."""
    total = 0.0
    for _ in range(times):
        if anew:
            SERVER.end()
        total += timed(lambda: _ask(rows))[1].wall
    return total


def _ask(rows: int) -> None:
    batch = pa.record_batch(
        {"place": [f"place {n % 10}" for n in range(rows)], "price": range(rows)}
    )
    run(_STATEMENT, [Given(_TABLE, [batch])])


if __name__ == "__main__":
    main()
