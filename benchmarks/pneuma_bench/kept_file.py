"""Files in which measurements keep what took long to make."""

import sqlite3
from pathlib import Path

from pneuma_assets.core.closing import Closing
from pneuma_assets.core.errors import BenchmarkError


class KeptFile(Closing):
    """A file of SQLite with one table; what was added is there after a kill.

    Args:
        path: The file; it is made, with its folder, where there is none.
        table: The statement that makes its table where there is none.

    Raises:
        BenchmarkError: The file cannot be used.
    """

    def __init__(self, path: Path, table: str) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(path)
            self._file.execute(table)
        except (OSError, sqlite3.Error) as error:
            raise self._failed(error) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _failed(self, error: Exception) -> BenchmarkError:
        return BenchmarkError(f"{self._path} cannot be used ({error}); remove it, or free the disk")
