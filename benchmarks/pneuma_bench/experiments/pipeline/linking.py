"""Print what lineage costs a run over many tables: the first time, unchanged, and one changed.

python -m pneuma_bench.experiments.pipeline.linking --tables 10000 --views 3000
"""

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.pipeline.lineage import update_lineage
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import Column, Definition, Table, TableRef

COLUMNS = tuple(Column(f"column_{n}", "INTEGER", "What it counts.") for n in range(12))


def table(number: int, views: int) -> Table:
    """Return one table; the first ones are views over the two that come after them."""
    definition = None
    if number < views:
        above = number + views, number * 7 % views + views
        definition = Definition(
            f"SELECT a.column_1, sum(b.column_2) AS column_2 FROM main.t{above[0]} a "
            f"JOIN main.t{above[1]} b ON a.column_3 = b.column_3 WHERE b.column_4 > 5 GROUP BY 1",
            "duckdb",
            "lake",
            "main",
        )
    return Table(f"lake/main/t{number}", COLUMNS, 100, "x", definition=definition)


def main() -> None:
    """Make the tables, link them three times, and say what each took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--views", type=int, default=3_000)
    options = parser.parse_args()
    made = [table(number, options.views) for number in range(options.tables)]
    deployment = Deployment.model_validate(
        {"sources": [{"type": "duckdb", "name": "lake", "path": "/lake/lake.duckdb"}]}
    )
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "state.db") as store:
        refs = [TableRef(one.table_id, "lake", "x", "table", "v") for one in made]
        store.listings.sync("lake", refs)
        store.queue.claim("run", len(made), 3, ["lake"])
        for what, profiles in (
            ("first", made),
            ("unchanged", []),
            ("one column new", [replace(made[-1], columns=(*COLUMNS, Column("new", "DATE")))]),
        ):
            store.queue.save_profiles("run", profiles)
            began = time.process_time()
            linked = update_lineage(store, "run", deployment)
            seconds = time.process_time() - began
            print(f"{what}: {seconds:.2f} s of CPU, {linked:,} tables with another text")
        print(f"{len(store.edges.all()):,} edges")


if __name__ == "__main__":
    main()
