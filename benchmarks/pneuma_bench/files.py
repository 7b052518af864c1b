"""Files that are written whole, and files that keep what took long to make."""

import json
import sqlite3
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from pneuma_assets.core.close_once import Closing
from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.grouping import chunks

_AT_ONCE = 512


@contextmanager
def whole(path: Path) -> Iterator[BinaryIO]:
    """Yield a stream that takes the place of a file when all went well; its folder is made.

    Raises:
        BenchmarkError: The file cannot be written, or the name is a folder's.
    """
    scratch = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    try:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with scratch.open("xb") as stream:
                yield stream
            scratch.replace(path)
        finally:
            scratch.unlink(missing_ok=True)
    except OSError as error:
        raise BenchmarkError(f"cannot write {path} ({error.strerror or error})") from error


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write records as JSON, an object a line; raises as `whole`."""
    with whole(path) as stream:
        for one in records:
            line = json.dumps(one, ensure_ascii=False, default=str)
            stream.write(line.encode("utf-8", "replace") + b"\n")


def kept_json(path: Path) -> Any:
    """Return the value in a file of JSON; None where there is none, or it is damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


class KeptFile(Closing):
    """Bytes by key, in a file of SQLite; what was added is there after a kill.

    Args:
        path: The file; it is made, with its folder, where there is none.

    Raises:
        BenchmarkError: The file cannot be used; so does every method.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._explained():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(path)
            self._file.execute("CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, v BLOB)")

    def known(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return what is kept of these keys."""
        found: dict[str, bytes] = {}
        with self._explained():
            for some in chunks(keys, _AT_ONCE):
                marks = ",".join("?" * len(some))
                query = f"SELECT * FROM vectors WHERE key IN ({marks})"
                found.update(self._file.execute(query, some).fetchall())
        return found

    def add(self, values: Mapping[str, bytes]) -> None:
        """Keep values, in the place of others of their keys."""
        with self._explained(), self._file:
            self._file.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", values.items())

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise BenchmarkError(
                f"{self._path} cannot be used ({error}); remove it, or free the disk"
            ) from error
