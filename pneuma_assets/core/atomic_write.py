"""Putting a new file in the place of another as one act."""

import os
from pathlib import Path


def replace_file(path: Path, contents: bytes, fresh: Path | None = None) -> None:
    """Replace a file; a reader, a kill and a power cut find the old contents or the new.

    Args:
        path: The file, which may be missing.
        contents: All that it is to hold.
        fresh: Where the new file is written first, in the same folder; by default `path`'s name
            with `.new` behind it. What a killed process has left there is overwritten.

    Raises:
        OSError: It cannot be written; the file is as it was.
    """
    fresh = fresh or path.with_name(f"{path.name}.new")
    try:
        with fresh.open("wb") as file:
            file.write(contents)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
