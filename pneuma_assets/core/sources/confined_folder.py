"""The wall around a folder: what lies below its root, wherever links and `..` lead.

Whoever may write into a folder chooses where its links lead; what is read there is read as the
user who indexes. So every file of this machine that a table or document names is opened here.
"""

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pneuma_assets.core.errors import TableReadError

OUTSIDE = "a link to outside of the source's root; set follow_links: true to allow it"

_FILE = os.O_RDONLY | os.O_NONBLOCK  # Opening a pipe that nobody writes to would wait for ever.
_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_PASSING = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY
"""How a folder is opened that need not be listed: its user may only be allowed to pass it."""


@dataclass(frozen=True, slots=True)
class Root:
    """A folder, and whether links may lead out of it.

    Attributes:
        folder: Its absolute path; links in it are the operator's, and followed.
        follow_links: Whether files and folders outside count as inside where a link leads there.
    """

    folder: Path
    follow_links: bool = False

    def resolve(self, path: str) -> str:
        """Return the real absolute path of a file or folder.

        Args:
            path: Below the root, whatever is written in it.

        Raises:
            TableReadError: It lies outside.
            OSError: There is no such file, or links lead in a circle.
        """
        written = f"{self.folder}/{path}"
        try:
            real = os.path.realpath(written, strict=True)
        except OSError:
            self._check(os.path.realpath(written))
            raise
        self._check(real)
        return real

    def inside(self, real: str) -> str:
        """Return a real path below the root; as it is where links lead out."""
        root = os.path.realpath(self.folder)
        return os.path.relpath(real, root) if _lies_in(real, root) else real

    def open(self, path: str) -> BinaryIO:
        """Open a file, though a link may take its place, or that of a folder above it, meanwhile.

        Raises:
            TableReadError: It lies outside.
            OSError: It cannot be opened, or is no regular file.
        """
        descriptor = self._descriptor(path, _FILE)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError("is not a regular file")
        return os.fdopen(descriptor, "rb")

    def names(self, path: str) -> list[str]:
        """Return the names of what lies directly in a folder and is no folder itself.

        Raises:
            TableReadError: It lies outside.
            OSError: It cannot be listed.
        """
        descriptor = self._descriptor(path, _FOLDER)
        try:
            with os.scandir(descriptor) as found:
                return sorted(e.name for e in found if not e.is_dir(follow_symlinks=False))
        finally:
            os.close(descriptor)

    def _descriptor(self, path: str, flags: int) -> int:
        """Open what was found inside, folder by folder; no step follows a link."""
        real = self.resolve(path)
        if self.follow_links:
            return os.open(real, flags)
        root = os.path.realpath(self.folder)
        *folders, name = os.path.relpath(real, root).split("/")
        at = os.open(root, _PASSING)
        try:
            for folder in folders:
                above, at = at, os.open(folder, _PASSING | os.O_NOFOLLOW, dir_fd=at)
                os.close(above)
            return os.open(name, flags | os.O_NOFOLLOW, dir_fd=at)
        except OSError as error:
            if error.errno in {errno.ELOOP, errno.ENOTDIR}:
                raise OSError("a link took its place meanwhile; run again") from error
            raise
        finally:
            os.close(at)

    def _check(self, real: str) -> None:
        if not (self.follow_links or _lies_in(real, os.path.realpath(self.folder))):
            raise TableReadError(OUTSIDE)


def _lies_in(real: str, root: str) -> bool:
    return real == root or real.startswith(f"{root.rstrip('/')}/")
