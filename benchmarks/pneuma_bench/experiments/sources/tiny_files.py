"""Profile and sample many tiny CSV files, and print the CPU time of one.

Run `python -m pneuma_bench.experiments.sources.tiny_files --tables 10000`: what a table costs
beside models, index and Dagster's own record of it.
"""

import argparse
import tempfile
import time
from pathlib import Path

from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource

_ROWS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write_tables(Path(folder), options.tables)
        source = FileSource("lake", FolderStorage(Path(folder)))
        refs = source.list_tables().tables
        start = time.process_time()
        for ref in refs:
            source.profile(ref)
        between = time.process_time()
        rows = sum(len(source.sample(ref, 5, seed=0) or ()) for ref in refs)
        end = time.process_time()
        source.close()
    if rows != 5 * options.tables:
        raise SystemExit(f"{rows} rows were drawn of {options.tables} tables")
    profile, sample = (
        (b - a) / options.tables * 1000 for a, b in ((start, between), (between, end))
    )
    print(
        f"{options.tables:,} tables: profile {profile:.2f} ms, sample {sample:.2f} ms of CPU each"
    )


def write_tables(folder: Path, tables: int) -> None:
    """Write tables of a number, a name, an amount and a day."""
    for number in range(tables):
        rows = "".join(
            f"{row},name {row},{row * number}.5,2024-01-{row + 1:02}\n" for row in range(_ROWS)
        )
        (folder / f"t{number}.csv").write_text(f"id,label,amount,day\n{rows}", encoding="utf-8")


if __name__ == "__main__":
    main()
