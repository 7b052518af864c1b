"""Make a deployment of many tables without reading any, and print what its status costs."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import numpy as np

from pneuma_assets.core.config.load import LoadedDeployment, load_deployment
from pneuma_assets.core.index.base import TableContents
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_assets.core.service.state import open_store
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.core.store.queue import Finished
from pneuma_assets.core.tables import Block, Column, DocumentKind, EmbeddedBlock, Table, TableRef
from pneuma_assets.definitions import build_definitions

COLUMNS = 20
BLOCKS = 2
SAVED = 500


def make(loaded: LoadedDeployment, count: int) -> None:
    """Write state and index as a run over so many tables would have left them."""
    refs = [TableRef(f"lake/table{n}", "lake", f"/lake/{n}.csv", "csv", "1") for n in range(count)]
    make_of(loaded, refs)


def make_of(loaded: LoadedDeployment, refs: Sequence[TableRef]) -> None:
    """Write state and index as a run over these tables would have left them."""
    encoder, count = open_encoder(loaded.deployment.encoder), len(refs)
    columns = tuple(Column(f"column_{n}", "VARCHAR", "What it is.") for n in range(COLUMNS))
    vector = np.full(encoder.dimension, encoder.dimension**-0.5, np.float32)
    with open_store(loaded, os.environ) as store:
        store.listings.sync("lake", refs)
        store.queue.claim("run", count, 3, ["lake"])
        tables = [Table(ref.table_id, columns, 100, ref.location) for ref in refs]
        store.queue.save_profiles("run", tables)
        store.queue.finish("run", [Finished(ref.table_id, "hash", BLOCKS) for ref in refs])
        store.access.mark_published(store.access.of_tables())
        pages = getattr(store, "pages", None)
        for ref in refs if pages else []:
            pages.made(f"pneuma/{ref.table_id}", ref.table_id, pages.deployment())
    index = EmbeddedIndex(loaded.home / "index", encoder.name, encoder.dimension)
    for begin in range(0, count, SAVED):
        index.replace_tables(
            {
                ref.table_id: TableContents(
                    [
                        EmbeddedBlock(Block(ref.table_id, DocumentKind.ROWS, f"{ref} {n}"), vector)
                        for n in range(BLOCKS)
                    ]
                )
                for ref in refs[begin : begin + SAVED]
            }
        )
    index.close()


def timed(name: str, work: Callable[[], object]) -> None:
    """Print the CPU time of one thing."""
    started = time.process_time()
    work()
    print(f"{name:36}{time.process_time() - started:8.2f} s CPU")


def command(loaded: LoadedDeployment, *arguments: str) -> None:
    """Run the command line as people do, and print its CPU time."""
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "pneuma_assets.cli", *arguments, "--home", str(loaded.home)],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=loaded.home,
    )
    after = getrusage(RUSAGE_CHILDREN)
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    print(f"{' '.join(arguments):36}{spent:8.2f} s CPU")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        loaded = load_deployment(home=Path(folder), environ={}, cwd=Path(folder))
        make(loaded, options.tables)
        for arguments in (["--help"], ["status"], ["status", "--tables"], ["status", "--json"]):
            command(loaded, *arguments)
        with Workspace(loaded) as workspace:
            timed("reading the records", workspace.store.tables.records)
            timed("reading the known tables", workspace.known_tables)
            timed("inspecting the index", workspace.inspect_index)
        timed("definitions", lambda: build_definitions(loaded).resolve_asset_graph())


if __name__ == "__main__":
    main()
