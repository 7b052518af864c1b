"""Files that several of DuckDB's threads read through one handle."""

import io
from collections.abc import Callable
from threading import get_ident
from typing import BinaryIO


class SharedHandle(io.RawIOBase):
    """A handle that opens its file once for every thread that reads it.

    DuckDB 2.0 opens a Parquet file of a Python file system once and lets its threads `seek` and
    `read` it in turn. One place for all of them is moved by one thread between the other's two
    calls, which then reads other bytes than it asked for; and what one reads ahead is of no use
    to the other.
    """

    def __init__(self, open_file: Callable[[], BinaryIO]) -> None:
        self._open_file = open_file
        self._files = {get_ident(): open_file()}

    def seekable(self) -> bool:
        """Return that it can be read anywhere."""
        return True

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def tell(self) -> int:
        """Return where this thread reads next, in bytes."""
        return self._file().tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Say where this thread reads next and return it, in bytes from the beginning."""
        return self._file().seek(offset, whence)

    def read(self, size: int | None = -1) -> bytes:
        """Return up to `size` bytes from this thread's place on, all of the rest if negative."""
        return self._file().read(-1 if size is None else size)

    def close(self) -> None:
        """Close the file for every thread."""
        super().close()
        for file in [*self._files.values()]:
            file.close()

    def _file(self) -> BinaryIO:
        file = self._files.get(get_ident())
        if file is None:
            if self.closed:
                raise ValueError("it is closed")
            file = self._files[get_ident()] = self._open_file()
        return file
