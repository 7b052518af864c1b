"""What gathering values from every row costs: time of the stages that read, and size.

Run `python -m pneuma_bench.experiments.sources.values LAKE`, where LAKE is a folder of tables. The
stages up to sampling run twice, without values and with them, each with a state of its own.
"""

import argparse
import os
import tempfile
import time
from contextlib import closing
from pathlib import Path

import numpy as np

from pneuma_assets.core.config.indexing import IndexingConfig, LimitsConfig, SamplingConfig
from pneuma_assets.core.pipeline.plan import Indexed, RunRequest, claim_tables
from pneuma_assets.core.pipeline.profile import profile_tables
from pneuma_assets.core.pipeline.sample import sample_tables
from pneuma_assets.core.sources.isolation.source import IsolatedSource
from pneuma_assets.core.sources.kinds.folder import FolderSourceConfig
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import Stage
from pneuma_assets.core.tables import TableTerms


def measure(lake: Path, *, values: bool) -> None:
    """Read all tables of a folder and print what it took."""
    config = IndexingConfig(tables_per_run=1_000_000)
    sampling = SamplingConfig(values=values)
    limits = LimitsConfig()
    guarded = IsolatedSource(FolderSourceConfig(name="lake", path=lake), os.environ, limits)
    with (
        tempfile.TemporaryDirectory() as folder,
        Store(Path(folder, "state.db")) as store,
        closing(guarded) as source,
        store.runs.alive("run"),
    ):
        request = RunRequest([source])
        claim_tables(store, "run", request, config, recipe="", indexed=Indexed({}, 0.0))
        began = time.perf_counter()
        profile_tables(store, "run", [source])
        profiled = time.perf_counter()
        figures = sample_tables(store, "run", [source], sampling, config)
        sampled = time.perf_counter()
        ids = [item.ref.table_id for item in store.queue.claimed("run", Stage.SAMPLED)]
        found = list(store.profiles.terms(ids).values())
    print(f"values: {values}; {len(ids)} tables")
    print(f"profiles {profiled - began:.1f} s, rows {sampled - profiled:.1f} s; {figures.named()}")
    sizes = [_size(evidence) / 1e3 for evidence in found]
    quartiles = np.percentile(sizes, [50, 90, 100]).round(1).tolist()
    print(f"text: {np.mean(sizes):.1f} kB a table; half, nine tenths, all under {quartiles}")


def _size(evidence: TableTerms) -> int:
    cells = [cell for row in evidence.rows for cell in row if cell]
    return sum(len(cell.encode()) for cell in (*cells, *evidence.cells))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lake", type=Path)
    asked = parser.parse_args().lake
    for with_values in (False, True):
        measure(asked, values=with_values)
