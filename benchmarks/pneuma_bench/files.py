"""Files that are written whole, and files that keep what took long to make."""

import json
import sqlite3
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from pneuma_assets.core.closing import Closing
from pneuma_assets.core.errors import BenchmarkError


@contextmanager
def whole(path: Path) -> Iterator[BinaryIO]:
    """Yield a stream that takes the place of a file when all went well.

    Raises:
        BenchmarkError: The file cannot be written, or the name is a folder's.
    """
    _refuse_folder(path)
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


def _refuse_folder(path: Path) -> None:
    """Raise `BenchmarkError` for a folder where a file is to be written."""
    if path.is_dir():
        raise BenchmarkError(f"cannot write {path} (it is a folder); name a file")


def check_writable(path: Path) -> None:
    """Refuse a file that `whole` could not write, before what takes hours; makes its folder.

    Raises:
        BenchmarkError: The file cannot be written, or the name is a folder's.
    """
    _refuse_folder(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise BenchmarkError(f"cannot write {path} ({error.strerror or error})") from error


def write_text(path: Path, text: str) -> None:
    """Write a file in UTF-8, whole or not at all; raises as `whole`."""
    with whole(path) as stream:
        stream.write(text.encode("utf-8", "replace"))


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
