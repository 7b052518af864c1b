"""How pyiceberg reads the files of tables: those of one folder or store, or those of a catalogue.

Whoever commits to a table chooses what its metadata names: `file:///etc/passwd`, too. Nothing is
written. Imported where it is needed: pyiceberg may not be installed.
"""

import io
import os
import re
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

from pyiceberg.io import FileIO, InputFile, InputStream, OutputFile, load_file_io

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources import bounds
from pneuma_assets.core.sources.confined_folder import Root
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.storage import Storage

FOLDER = "pneuma.local-files"
"""The property with the folder, which is absolute; none is set where no local file may be read."""

_OUTSIDE = (
    "its files lie on this machine and outside of the folder that they may lie in; set local_files "
    "of the source to allow theirs"
)

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):(//)?", re.IGNORECASE)
_ALIKE = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfss": "abfs", "wasbs": "wasb"}


class _ReadingIO(FileIO):
    """Writes nothing."""

    def new_output(self, location: str) -> OutputFile:
        """Refuse; raises `io.UnsupportedOperation`."""
        raise io.UnsupportedOperation(f"nothing is written to {location}")

    def delete(self, location: str | InputFile | OutputFile) -> None:
        """Refuse; raises `io.UnsupportedOperation`."""
        raise io.UnsupportedOperation(f"{location} is not deleted")


class StorageIO(_ReadingIO):
    """Reads what lies below a table's location, and writes nothing."""

    def __init__(self, storage: Storage, folder: str, location: str) -> None:
        """Take where a table is: its folder there, and where its metadata says it is.

        The folder has a final `/` unless it is the root.
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


class CatalogIO(_ReadingIO):
    """Reads files of other machines as pyiceberg does, local ones of one folder; writes none."""

    def __init__(self, properties: dict[str, str]) -> None:
        """Take the properties of catalogue and table, `FOLDER` among them."""
        super().__init__(properties)
        folder = properties.get(FOLDER)
        self._storage = FolderStorage(Path(folder)) if folder else None
        self._folder = folder or "/"
        self._remote: dict[str, FileIO] = {}

    def new_input(self, location: str) -> InputFile:
        """Return a file; raises `TableReadError` for a local one outside."""
        scheme = urlsplit(location).scheme
        if scheme not in {"", "file"}:
            return self._other(scheme, location).new_input(location)
        path = plain_address(location)
        if self._storage is None or not path.startswith("/"):
            raise TableReadError(_OUTSIDE)
        inside = os.path.relpath(path, self._folder)
        try:
            Root(Path(self._folder)).resolve(inside)
        except TableReadError as error:
            raise TableReadError(_OUTSIDE) from error
        return StoredFile(location, self._storage, inside)

    def _other(self, scheme: str, location: str) -> FileIO:
        if scheme not in self._remote:
            own = {name: value for name, value in self.properties.items() if name != "py-io-impl"}
            self._remote[scheme] = load_file_io(own, location)
        return self._remote[scheme]


IMPLEMENTATION = f"{CatalogIO.__module__}.{CatalogIO.__qualname__}"
"""What pyiceberg is told as `py-io-impl`."""


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
