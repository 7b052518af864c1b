"""Lets pyiceberg read the files of one table through this project's own storage."""

import io
import re
from typing import BinaryIO, NoReturn

from pyiceberg.io import FileIO, InputFile, InputStream, OutputFile

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources import bounds
from pneuma_assets.core.sources.files.storage import Storage

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):(//)?", re.IGNORECASE)
_ALIKE = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfss": "abfs", "wasbs": "wasb"}


class StorageIO(FileIO):
    """Reads what lies below a table's location, and writes nothing."""

    def __init__(self, storage: Storage, folder: str, location: str) -> None:
        """Take where a table is.

        Args:
            storage: Keeps its files.
            folder: Its path there, with a final `/` unless it is the root.
            location: Where its metadata says it is.
        """
        super().__init__()
        self._storage = storage
        self._folder = folder
        self._location = f"{plain_address(location).rstrip('/')}/"

    def new_input(self, location: str) -> InputFile:
        """Return one of the table's files; raises `TableReadError` for any other."""
        path = plain_address(location)
        inside = path.removeprefix(self._location)
        if inside == path or ".." in inside.split("/"):
            raise TableReadError(
                "its metadata names files outside its own folder; read it through its catalogue "
                "(type: iceberg)"
            )
        return StoredFile(location, self._storage, f"{self._folder}{inside}")

    def new_output(self, location: str) -> OutputFile:
        """Refuse; raises `io.UnsupportedOperation`."""
        refuse(location)

    def delete(self, location: str | InputFile | OutputFile) -> None:
        """Refuse; raises `io.UnsupportedOperation`."""
        refuse(location)


class StoredFile(InputFile):
    """One file of a table."""

    def __init__(self, location: str, storage: Storage, path: str) -> None:
        super().__init__(location)
        self._storage = storage
        self._path = path

    def __len__(self) -> int:
        with self._storage.open(self._path) as file:
            return _size(file)

    def exists(self) -> bool:
        """Tell whether it can be opened."""
        try:
            self._storage.open(self._path).close()
        except FileNotFoundError:
            return False
        return True

    def open(self, seekable: bool = True) -> InputStream:  # noqa: ARG002
        """Open it; its bytes count as about to be read."""
        file = self._storage.open(self._path)
        bounds.reading(max(_size(file), bounds.SMALLEST_FILE))
        stream: InputStream = file
        return stream


def _size(file: BinaryIO) -> int:
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    return size


def plain_address(location: str) -> str:
    """Return an address in the one form of several that mean the same (`file:/a`, `file:///a`)."""
    scheme = _SCHEME.match(location)
    if scheme is None:
        return location
    kind = scheme[1].lower()
    rest = location[scheme.end() :]
    return rest if kind == "file" else f"{_ALIKE.get(kind, kind)}://{rest}"


def refuse(location: object) -> NoReturn:
    """Raise what says that nothing is written."""
    raise io.UnsupportedOperation(f"nothing is written to {location}")
