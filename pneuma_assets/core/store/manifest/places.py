"""Where a manifest is: a file beside the state file, or a table of the state's server."""

import os
import uuid
from pathlib import Path
from typing import Protocol

from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store.manifest.packed import MAX_LINE, MAX_PACKED

STATE_FILE = "state.db"


class PlaceError(Exception):
    """What is kept cannot be reached; the message says why and what to do."""


class Place(Protocol):
    """Where a manifest's parts are read without the store that they were made of."""

    def read(self, name: str) -> bytes | None:
        """Return what is kept, None if nothing was; writes nothing. Raises `PlaceError`."""
        ...

    def has_state(self) -> bool:
        """Tell whether anything was ever remembered here. Raises `PlaceError`."""
        ...


class Keeper(Protocol):
    """Where an open store keeps a manifest's parts."""

    def begin(self, name: str) -> bytes:
        """Return the beginning of what is kept, with its first line; empty if nothing is."""
        ...

    def write(self, name: str, packed: bytes) -> None:
        """Replace what is kept, as one act. Raises `StateError`."""
        ...


class Folder:
    """A folder of this machine, a file a name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, name: str) -> bytes | None:
        """Return the file's bytes, None if there is no file."""
        path = self._path(name)
        try:
            with path.open("rb") as file:
                packed = file.read(MAX_PACKED + 1)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise PlaceError(
                f"The manifest of tables {str(path)!r} cannot be read ({error.strerror}); let this "
                "user read it."
            ) from error
        if len(packed) > MAX_PACKED:
            raise PlaceError(f"The manifest of tables {str(path)!r} is too large; remove it.")
        return packed

    def begin(self, name: str) -> bytes:
        """Return the beginning of the file; empty if it cannot be read."""
        try:
            with self._path(name).open("rb") as file:
                return file.read(MAX_LINE)
        except OSError:
            return b""

    def write(self, name: str, packed: bytes) -> None:
        """Write beside it, then put that in its place: a reader sees the old one or the new one."""
        path = self._path(name)
        beside = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
        try:
            try:
                with beside.open("xb") as file:
                    file.write(packed)
                    file.flush()
                    os.fsync(file.fileno())
                beside.replace(path)
            finally:
                beside.unlink(missing_ok=True)
        except OSError as error:
            raise StateError(
                f"The manifest of tables {str(path)!r} cannot be written ({error.strerror}); free "
                "disk space, or let this user write there, and run again."
            ) from error

    def has_state(self) -> bool:
        """Tell whether there is a state file."""
        return (self._folder / STATE_FILE).exists()

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.manifest"
