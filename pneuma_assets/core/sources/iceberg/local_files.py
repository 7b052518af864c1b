"""Lets a catalogue's tables have files on this machine only where its operator said so.

Whoever commits to a table chooses what its metadata names: `file:///etc/passwd`, too.
"""

import os
from pathlib import Path
from urllib.parse import urlsplit

from pyiceberg.io import FileIO, InputFile, OutputFile, load_file_io

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.lake.iceberg_io import StoredFile, plain_address, refuse
from pneuma_assets.core.sources.root import Root

FOLDER = "pneuma.local-files"
"""The property with the folder, which is absolute; none is set where no local file may be read."""

_OUTSIDE = (
    "its files lie on this machine and outside of the folder that they may lie in; set local_files "
    "of the source to allow theirs"
)


class CatalogIO(FileIO):
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

    def new_output(self, location: str) -> OutputFile:
        """Refuse; raises `io.UnsupportedOperation`."""
        refuse(location)

    def delete(self, location: str | InputFile | OutputFile) -> None:
        """Refuse; raises `io.UnsupportedOperation`."""
        refuse(location)

    def _other(self, scheme: str, location: str) -> FileIO:
        if scheme not in self._remote:
            own = {name: value for name, value in self.properties.items() if name != "py-io-impl"}
            self._remote[scheme] = load_file_io(own, location)
        return self._remote[scheme]


IMPLEMENTATION = f"{CatalogIO.__module__}.{CatalogIO.__qualname__}"
"""What pyiceberg is told as `py-io-impl`."""
