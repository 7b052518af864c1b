"""A folder tree on this machine.

Links to files and folders are followed, so a lake may span disks; a folder reached twice (by a
link, or a loop of links) is listed once, under its real name where that lies inside the tree.
"""

import os
import stat
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import duckdb

from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.sources.files.storage import FileEntry, Obstacle, Walk
from pneuma_assets.core.sources.names import (
    escape,
    is_hidden,
    one_line,
    parse_file_name,
    unescape,
)


class FolderStorage:
    """The files below one folder."""

    def __init__(self, root: Path) -> None:
        self._root = Path(os.path.abspath(root))  # noqa: PTH100 (links in it stay as written)

    def walk(self, folder: str = "") -> Walk:
        """List all files below a folder; one `stat` a file, none is opened.

        Raises:
            SourceError: The root is missing or unreadable, or the disk fails; a single
                subfolder without permission becomes an obstacle instead.
        """
        search = _Search(self._root)
        try:
            search.run(folder)
        except OSError as error:
            raise SourceError(
                f"folder {escape(str(self._root))} cannot be listed: {_reason(error)}; check the "
                "source's path, its permissions and that its disk is mounted"
            ) from error
        entries = sorted(search.entries, key=lambda entry: entry.path)
        return Walk(entries, search.obstacles, bare=search.bare)

    def names(self, folder: str) -> list[str]:
        """Return the names of the files directly in a folder."""
        with os.scandir(self._root / folder) as found:
            return sorted(entry.name for entry in found if not entry.is_dir())

    def location(self, path: str) -> str:
        """Return the absolute path, escaped."""
        return escape(f"{self._root}/{path}") if path != "/" else escape(f"{self._root}/")

    def path(self, location: str) -> str:
        """Return the path below the root of an absolute, escaped path."""
        return unescape(location).removeprefix(f"{self._root}/")

    def place(
        self,
        path: str,
        target: Path,
        connection: duckdb.DuckDBPyConnection,  # noqa: ARG002 (remote storage needs it)
        *,
        columnar: bool,  # noqa: ARG002
    ) -> str:
        """Link `target` to the file: DuckDB never sees a name that it could take for a pattern."""
        original = self._root / path
        if not stat.S_ISREG(original.stat().st_mode):
            raise OSError("is not a regular file")
        target.symlink_to(original)
        return str(target)

    def read(self, path: str, limit: int) -> bytes:
        """Return the first `limit` bytes of a file."""
        original = self._root / path
        if not stat.S_ISREG(original.stat().st_mode):
            raise OSError("is not a regular file")
        with original.open("rb") as file:
            return file.read(limit)

    def open(self, path: str) -> BinaryIO:
        """Open a file."""
        return (self._root / path).open("rb")


@dataclass(slots=True)
class _Search:
    """One walk: real folders first, then linked ones, each real folder once."""

    root: Path
    entries: list[FileEntry] = field(default_factory=list)
    obstacles: list[Obstacle] = field(default_factory=list)
    bare: bool = False
    _seen: set[tuple[int, int]] = field(default_factory=set)
    _linked: deque[str] = field(default_factory=deque)

    def run(self, folder: str) -> None:
        self._enter(folder.rstrip("/"), required=True)
        while self._linked:
            self._enter(self._linked.popleft(), required=False)

    def _enter(self, start: str, *, required: bool) -> None:
        pending = [start]
        while pending:
            folder = pending.pop()
            try:
                information = os.stat(self.root / folder)  # noqa: PTH116 (one call, no object)
                identity = (information.st_dev, information.st_ino)
                if identity in self._seen:
                    continue
                self._seen.add(identity)
                with os.scandir(self.root / folder) as found:
                    children = list(found)
            except PermissionError as error:
                if required and folder == start:
                    raise
                self.obstacles.append(Obstacle(folder, _reason(error), is_folder=True))
                continue
            self.bare = self.bare or (not folder and not children)
            before = len(self.entries) + len(self.obstacles)
            subfolders = self._sort_children(folder, children)
            pending += subfolders
            empty = before == len(self.entries) + len(self.obstacles) and not subfolders
            if empty and parse_file_name(Path(folder).name):
                cause = f"is a folder named like a {Path(folder).suffix} file, and it is empty"
                self.obstacles.append(Obstacle(folder, cause))

    def _sort_children(self, folder: str, children: list[os.DirEntry[str]]) -> list[str]:
        """Record the files of a folder and return its real subfolders."""
        subfolders: list[str] = []
        for child in children:
            if is_hidden(child.name):
                continue
            path = f"{folder}/{child.name}" if folder else child.name
            try:
                information = child.stat()
            except OSError as error:
                self._note_unreachable(child, path, error)
                continue
            if stat.S_ISDIR(information.st_mode):
                (self._linked if child.is_symlink() else subfolders).append(path)
            elif stat.S_ISREG(information.st_mode):
                version = f"{information.st_size}-{information.st_mtime_ns}"
                self.entries.append(FileEntry(path, version, information.st_mtime, version))
            elif parse_file_name(child.name):
                cause = "is a pipe, socket or device, not a file; put a file in its place"
                self.obstacles.append(Obstacle(path, cause))
        return subfolders

    def _note_unreachable(self, child: os.DirEntry[str], path: str, error: OSError) -> None:
        linked = child.is_symlink()
        if isinstance(error, FileNotFoundError) and not linked:
            return  # Deleted between the listing and the look at it.
        if not linked and not isinstance(error, PermissionError):
            raise error
        remedy = "repair or remove the link" if linked else "allow this user to read it"
        is_folder = parse_file_name(child.name) is None
        self.obstacles.append(Obstacle(path, f"{_reason(error)}; {remedy}", is_folder))


def _reason(error: OSError) -> str:
    return one_line(error.strerror or str(error)).lower()
