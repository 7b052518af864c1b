"""Profile and sample one large CSV file, and print the time and the peak memory of each.

Run `python -m pneuma_bench.experiments.large_csv --gigabytes 5`: memory does not grow with
the file. `--worst` makes the reading hardest: a value near the end does not fit its column, so the
file is read several times and its types are chosen from all rows.
"""

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_bench.experiments.support.timing import T, peak_mb, timed

_BLOCK_ROWS = 100_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=0.1)
    parser.add_argument("--folder", type=Path, help="where to write the file (default: TMPDIR)")
    parser.add_argument("--worst", action="store_true", help="put a misfit near the end")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "large.csv"
        rows = write_csv(path, int(options.gigabytes * 1e9), misfit=options.worst)
        print(f"{path.stat().st_size / 1e9:.2f} GB, {rows:,} rows; peak {peak_mb():.0f} MiB before")
        source = FileSource("lake", FolderStorage(Path(folder)))
        (ref,) = told("list", source.list_tables).tables
        table = told("profile", lambda: source.profile(ref))
        drawn = told("sample", lambda: source.sample(ref, 5, seed=0))
        scanned = told("scan", lambda: sum(batch.num_rows for batch in source.scan(ref)))
    types = ", ".join(f"{column.name} {column.type}" for column in table.columns)
    print(f"{table.row_count:,} rows counted, {scanned:,} scanned, {len(drawn)} drawn: {types}")
    if not table.row_count == scanned == rows:
        raise SystemExit(f"expected {rows:,} rows")


def write_csv(path: Path, size: int, *, misfit: bool) -> int:
    """Write about `size` bytes of numbers, names, dates and texts; return the number of rows."""
    rows = 0
    with path.open("w", encoding="utf-8") as file:
        file.write("id,name,amount,day,note\n")
        while file.tell() < size:
            file.writelines(_line(i) for i in range(rows, rows + _BLOCK_ROWS))
            rows += _BLOCK_ROWS
        if misfit:
            file.write("unknown,customer,1,2024-01-01,misfit\n")
    return rows + misfit


def _line(i: int) -> str:
    day = f"2024-{i % 12 + 1:02}-{i % 28 + 1:02}"
    return f'{i},customer {i % 9973},{i * 7 % 100_000 / 100},{day},"order {i}, shipped by road"\n'


def told(name: str, work: Callable[[], T]) -> T:
    """Do some work, and print what it took."""
    found, took = timed(work)
    print(f"{name:8} {took.wall:7.1f} s, peak {peak_mb():.0f} MiB")
    return found


if __name__ == "__main__":
    main()
