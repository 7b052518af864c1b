"""How well does a sketch tell which share of a table's rows changed?

    python -m pneuma_bench.experiments.changes --rows 100 1000 10000 100000 1000000 10000000

Made tables of five columns are changed by appending, deleting and updating a share of their rows,
each state is read as the pipeline reads it, and the share by the sketches is set beside the exact
one.
"""

import argparse

import duckdb

from pneuma_assets.core.changes.changed_share import Extent, measured
from pneuma_assets.core.changes.sketch import TableSketch
from pneuma_assets.core.sources.duckdb.relation import Relation, feed
from pneuma_assets.core.terms.collect import TermCollector

SHARES = (0.01, 0.1, 0.2, 0.5)
KINDS = ("append", "delete", "update")
WIDTH = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10**n for n in range(2, 8)])
    sizes = parser.parse_args().rows
    for rows in sizes:
        report_errors(rows)


def report_errors(rows: int) -> None:
    """Print the measured share beside the exact one, for each way and share."""
    before = read(rows, 0, 0, 0)
    for changed, kind in ((round(share * rows), kind) for share in SHARES for kind in KINDS):
        after = read(rows, *(changed if kind == each else 0 for each in KINDS))
        found = measured(Extent(rows, sketch=before), Extent(after.rows, sketch=after))
        exact = changed / rows
        print(
            f"{rows:>10,} rows, {kind} {exact:6.2%}: {found.share:7.2%} by {found.measured_by}, "
            f"error {100 * (found.share - exact):+.2f} points",
            flush=True,
        )


def read(rows: int, appended: int, deleted: int, updated: int) -> TableSketch:
    """Read a made table, some rows of which are not what they were."""
    relation = Relation(
        f"(SELECT n, 'person ' || n % 90000, ['red', 'green', 'blue'][n % 3 + 1], n * 0.37, "
        f"CASE WHEN n % 5 > 0 THEN 'note on ' || n END FROM (SELECT CASE WHEN range < {updated} "
        f"THEN range + 100000000000 ELSE range END AS n FROM range({deleted}, {rows + appended})))"
    )
    gatherer = TermCollector(0)
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("SET enable_progress_bar = false")
        feed(gatherer, connection, relation, WIDTH)
        return gatherer.collected().sketch


if __name__ == "__main__":
    main()
