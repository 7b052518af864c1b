"""A folder tree on this machine.

Links to files and folders are followed as far as the root allows (`sources.root`), so a lake may
span disks. A folder reached twice (by a link, or a loop of links) is listed once, under its real
name where that lies inside the tree.
"""

import errno
import os
import stat
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pneuma_assets.core.errors import SourceError, TableReadError
from pneuma_assets.core.sources.confined_folder import Root
from pneuma_assets.core.sources.files.names import (
    document_key,
    is_folder_document,
    is_hidden,
    is_left_out,
    parse_file_name,
    parse_json_name,
)
from pneuma_assets.core.sources.files.storage import FileEntry, Obstacle, Walk
from pneuma_assets.core.sources.names import escape, unescape
from pneuma_assets.core.text.safe import one_line

if TYPE_CHECKING:
    from pneuma_assets.core.sources.files.staging import OpenTable

_OPEN_FILES = Path("/proc/self/fd")
"""Where the system has names for the files that this process has open."""


class FolderStorage:
    """The files below one folder."""

    def __init__(self, root: Path, *, follow_links: bool = False) -> None:
        self._root = os.path.abspath(root)  # noqa: PTH100 (links in it stay as written)
        self._wall = Root(Path(self._root), follow_links)

    def walk(self, folder: str = "") -> Walk:
        """List all files below a folder; one `stat` a file, none is opened.

        Raises:
            SourceError: The root is missing or unreadable, or the disk fails; a subfolder that
                cannot be listed becomes an obstacle instead.
            TableReadError: The folder lies outside.
        """
        search = _Search(self._root, self._wall)
        try:
            self._wall.resolve(folder)
            search.run(folder)
        except OSError as error:
            raise SourceError(
                f"folder {escape(self._root)} cannot be listed: {_reason(error)}; check the "
                "source's path, its permissions and that its disk is mounted"
            ) from error
        entries = sorted(search.entries, key=lambda entry: entry.path)
        return Walk(entries, search.obstacles, bare=search.bare)

    def names(self, folder: str) -> list[str]:
        """Return the names of the files directly in a folder."""
        return self._wall.names(folder)

    def location(self, path: str) -> str:
        """Return the absolute path, escaped."""
        return escape(f"{self._root}/{path}") if path != "/" else escape(f"{self._root}/")

    def path(self, location: str) -> str:
        """Return the path below the root of an absolute, escaped path."""
        return unescape(location).removeprefix(f"{self._root}/")

    def place(self, path: str, target: Path, table: "OpenTable", *, columnar: bool) -> str:  # noqa: ARG002
        """Link `target` to the open file: whatever takes its place in the folder is not read.

        So DuckDB never sees a name, either, that it could take for a pattern.
        """
        file = table.undo.enter_context(self._wall.open(path))
        numbered = _OPEN_FILES / str(file.fileno())
        usable = os.access(numbered, os.R_OK)  # Not by a process that has changed its user.
        target.symlink_to(numbered if usable else self._wall.resolve(path))
        return str(target)

    def read(self, path: str, limit: int) -> bytes:
        """Return the first `limit` bytes of a file."""
        with self._wall.open(path) as file:
            return file.read(limit)

    def open(self, path: str) -> BinaryIO:
        """Open a file."""
        return self._wall.open(path)


@dataclass(slots=True)
class _Search:
    """One walk: real folders first, then linked ones, each real folder once."""

    root: str
    wall: Root
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
                place = f"{self.root}/{folder}"
                information = os.stat(place)  # noqa: PTH116 (one call, no object)
                identity = (information.st_dev, information.st_ino)
                if identity in self._seen:
                    continue
                self._seen.add(identity)
                with os.scandir(place) as found:
                    children = list(found)
            except OSError as error:
                if required and folder == start:
                    raise
                if not isinstance(error, FileNotFoundError):  # Or it was deleted just now.
                    self.obstacles.append(Obstacle(folder, _explained(error), is_folder=True))
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
            if is_left_out(child.name):
                continue
            path = f"{folder}/{child.name}" if folder else child.name
            try:
                real = self.wall.resolve(path) if child.is_symlink() else None
                information = child.stat()
            except TableReadError as error:
                self._note_outside(child, path, str(error))
                continue
            except OSError as error:
                self._note_unreachable(child, path, error)
                continue
            if stat.S_ISDIR(information.st_mode):
                if not is_hidden(child.name):
                    (self._linked if real else subfolders).append(path)
            elif stat.S_ISREG(information.st_mode):
                version, at = (
                    f"{information.st_size}-{information.st_mtime_ns}",
                    information.st_mtime,
                )
                leads_to = self.wall.inside(real) if real else None
                self.entries.append(FileEntry(path, version, at, version, leads_to))
            elif _is_wanted(child.name):
                cause = "is a pipe, socket or device, not a file; put a file in its place"
                self.obstacles.append(Obstacle(path, cause))
        return subfolders

    def _note_outside(self, child: os.DirEntry[str], path: str, cause: str) -> None:
        """Name a link that may lead to tables or documents; what it led to before is deleted."""
        is_other = False
        with suppress(OSError):
            is_other = not _is_wanted(child.name) and child.is_file()
        if not is_other:
            self.obstacles.append(Obstacle(path, cause, left_out=True))

    def _note_unreachable(self, child: os.DirEntry[str], path: str, error: OSError) -> None:
        linked = child.is_symlink()
        if linked or not isinstance(error, FileNotFoundError):  # else it was deleted just now
            cause = f"{_reason(error)}; repair or remove the link" if linked else _explained(error)
            self.obstacles.append(Obstacle(path, cause, parse_file_name(child.name) is None))


def _is_wanted(name: str) -> bool:
    """Tell whether a file of this name would be a table or a document."""
    named = parse_file_name(name) or document_key(name) or is_folder_document(name)
    return bool(named) or parse_json_name(name) is not None


_REMEDIES = {
    errno.EACCES: "allow this user to read it",
    errno.ENAMETOOLONG: "its whole path is too long; shorten the names of folders above it",
}


def _explained(error: OSError) -> str:
    remedy = _REMEDIES.get(error.errno or 0, "look whether its disk is whole")
    return f"{_reason(error)}; {remedy}"


def _reason(error: OSError) -> str:
    return one_line(error.strerror or str(error)).lower()
