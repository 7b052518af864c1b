"""What a file source needs of the place that keeps its files: a folder, a bucket.

Paths are relative to the source's root, separated by `/`, exactly as stored (bytes that are not
UTF-8 are surrogates). Locations are what people see and what `TableRef` keeps: absolute, escaped.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

if TYPE_CHECKING:
    from pneuma_assets.core.sources.files.staging import OpenTable

GONE = "it is gone; if it was not deleted on purpose, restore it and run again"
"""What is said of a file that a listing showed and nobody finds."""

REPLACED = "it was replaced meanwhile; run again"
"""What is said of an object that is not the one that was opened."""

SERVER_SAYS = "the server says "
"""How an error begins that a store's server gave; it ends with what to do."""


class StoreError(OSError):
    """A store did not do what it was asked to; the message is one line and says what to do."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file as a listing shows it; `version` changes whenever the content may have.

    `written_at` is when it was written last, in seconds since 1970. `identity` goes with the file
    when it is moved (its content's ETag and size, or size and time); None where nothing does.
    `leads_to` is the real path of a link, below the root where it lies there.
    """

    path: str
    version: str
    written_at: float | None = None
    identity: str | None = None
    leads_to: str | None = None


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A path that looks like a table, or a folder, and cannot be listed; `cause` says why.

    What was in a folder (`is_folder`) is unknown, unless it is `left_out`: then it is deleted.
    """

    path: str
    cause: str
    is_folder: bool = False
    left_out: bool = False


@dataclass(frozen=True, slots=True)
class Walk:
    """Every file of a place, sorted by path, and what stood in the way.

    `bare` is set where the place is a folder in which there is nothing at all.
    """

    entries: Sequence[FileEntry]
    obstacles: Sequence[Obstacle] = field(default_factory=tuple)
    bare: bool = False


class Storage(Protocol):
    """Lists files and lets DuckDB read them. Raises `OSError` or `TableReadError` a file."""

    def walk(self, folder: str = "") -> Walk:
        """List all files below a folder. Raises `SourceError` if that cannot be done."""

    def names(self, folder: str) -> list[str]:
        """Return the names of the files directly in a folder."""

    def location(self, path: str) -> str:
        """Return the location of a path."""

    def path(self, location: str) -> str:
        """Return the path of a location."""

    def place(self, path: str, target: Path, table: "OpenTable", *, columnar: bool) -> str:
        """Make a file of a table readable by DuckDB and return the name to read it by.

        `target` is a free path of harmless characters in a temporary folder. What stays open to be
        read by that name is closed by `table.undo`. A columnar file is read in parts, so a remote
        one need not be copied.
        """

    def read(self, path: str, limit: int) -> bytes:
        """Return the first `limit` bytes of a file."""

    def open(self, path: str) -> BinaryIO:
        """Open a file to be read at any place of it; a remote one is read a range at a time."""
