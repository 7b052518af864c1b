"""List a folder of many tables, and print the time: listing is paid at every look for changes."""

import argparse
import tempfile
import time
from pathlib import Path

from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.tables):
            (Path(folder) / f"table{number}.csv").write_text("a\n1\n")
            (Path(folder) / f"table{number}.md").write_text("About it.")
        source = FileSource("lake", FolderStorage(Path(folder)))
        for attempt in ("first", "second"):
            start = time.perf_counter()
            found = len(source.list_tables().tables)
            print(f"{attempt}: {found:,} tables in {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    main()
