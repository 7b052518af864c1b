"""Print what a tick over many unchanged tables costs, beside a run that finds nothing to do.

Run `python -m pneuma_bench.experiments.pipeline.ticks --tables 10000`. State and index are written
as a run would have left them; the files are real, and are listed.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import dagster as dg

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_assets.core.pipeline.plan import expected_fingerprint
from pneuma_assets.core.service.state import open_store
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.sensors.tick import Ticks
from pneuma_bench.experiments.pipeline.status import make_of
from pneuma_bench.experiments.sources.tiny_files import write_tables
from tests.support.ticks import Ticking

TICKS = 3


def timed(name: str, work: Callable[[], object]) -> None:
    """Print the time that one thing takes, and what it says."""
    began, cpu = time.monotonic(), time.process_time()
    said = work()
    took, used = time.monotonic() - began, time.process_time() - cpu
    print(f"{name:32}{took:7.2f} s{used:7.2f} s CPU  {said}", flush=True)


def index_without_reading(loaded: LoadedDeployment, lake: Path) -> None:
    """Leave state and index as if every file had been indexed."""
    with open_store(loaded, {}) as store:  # before there are tables: a new one lets all wait
        encoder = open_encoder(loaded.deployment.encoder).name
        store.queue.use_recipe(expected_fingerprint(loaded.deployment, encoder) or "")
    source = FileSource("lake", FolderStorage(lake))
    make_of(loaded, source.list_tables().tables)
    source.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "lake").mkdir()
        (folder / "dagster").mkdir()
        write_tables(folder / "lake", options.tables)
        with dg.DagsterInstance.local_temp(str(folder / "dagster")) as instance:
            ticking = Ticking(folder, instance)
            index_without_reading(ticking.loaded, folder / "lake")
            ticks = Ticks(ticking.loaded, ticking.names("index_tables"))
            for number in range(TICKS):
                what = "the index is looked at" if number == 0 else "it is not"
                timed(f"a tick; {what}", lambda: ticks.decide(instance))
            timed("a run that finds nothing to do", lambda: ticking.execute().success)


if __name__ == "__main__":
    main()
