"""The objects below one prefix of any store that fsspec speaks to: S3, GCS, Azure.

Text and small formats are copied here, a table at a time: DuckDB passes over them several times.
Parquet is read by ranges, without DuckDB's downloadable httpfs extension: the footer and the few
row groups that are wanted. Either way memory is bounded. Reads fail if an object is replaced
between two of them, rather than mix two versions.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property, lru_cache, partial
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING, Any, BinaryIO

import duckdb
from fsspec.callbacks import Callback  # type: ignore[import-untyped]
from fsspec.spec import AbstractFileSystem  # type: ignore[import-untyped]

from pneuma_assets.core.errors import PneumaError, SourceError, TableReadError
from pneuma_assets.core.sources import bounds
from pneuma_assets.core.sources.files.names import is_left_out
from pneuma_assets.core.sources.files.storage import GONE, REPLACED, FileEntry, StoreError, Walk
from pneuma_assets.core.sources.names import escape, unescape
from pneuma_assets.core.text.safe import one_line

if TYPE_CHECKING:
    from pneuma_assets.core.sources.files.staging import OpenTable

_PROTOCOL = "pneumastore"
_BLOCK_BYTES = 1 << 20
"""Read ahead: fewer requests than DuckDB makes reads, and little wasted by a seek."""
_INFOS_KEPT = 20_000
_STAMPS = ("etag", "ETag", "content_md5", "md5Hash", "generation", "crc32c")
"""What stores call that by which they tell two contents of an object apart; the first counts."""
_TIMES = ("updated", "last_modified", "LastModified", "mtime", "created")


class ObjectStorage:
    """The objects below a root (`bucket/prefix`) of a file system, at addresses `scheme://root`.

    `make` makes the file system when it is first needed.
    """

    def __init__(self, scheme: str, root: str, make: Callable[[], AbstractFileSystem]) -> None:
        self._scheme = scheme
        self._root = root.strip("/")
        self._make = make

    @cached_property
    def _files(self) -> AbstractFileSystem:
        return self._make()

    @cached_property
    def _ranges(self) -> "_RangeFileSystem":
        return _RangeFileSystem(self._files)

    def walk(self, folder: str = "") -> Walk:
        """List all objects below a folder; none is read."""
        start = self._key(folder.strip("/"))
        place = escape(f"{self._scheme}://{start}")
        with self._explained(SourceError, f"{place} cannot be listed: "):
            self._files.invalidate_cache()
            found: Mapping[str, Mapping[str, Any]] = self._files.find(start, detail=True)
            if not (found or folder or getattr(self._files, "finds_missing_buckets", False)):
                self._files.ls(self._root.partition("/")[0])  # Or a missing one would be empty.
        entries = []
        for key, info in found.items():
            before, _, path = key.lstrip("/").partition(f"{self._root}/")
            if not before and path and not is_left_out(path):
                entries.append(_entry(path, info))
        return Walk(sorted(entries, key=lambda entry: entry.path))

    def names(self, folder: str) -> list[str]:
        """Return the names of the objects directly in a folder."""
        with self._explained(TableReadError, "its folder cannot be listed: "):
            found = self._files.ls(self._key(folder), detail=True)
        return [one["name"].rpartition("/")[2] for one in found if one["type"] == "file"]

    def location(self, path: str) -> str:
        """Return the object's address, escaped."""
        return escape(f"{self._scheme}://{self._root}/{path.removeprefix('/')}")

    def path(self, location: str) -> str:
        """Return the path below the root of an escaped address."""
        return unescape(location).removeprefix(f"{self._scheme}://{self._root}/")

    def place(self, path: str, target: Path, table: "OpenTable", *, columnar: bool) -> str:
        """Copy a file to `target`; let DuckDB read a columnar one by ranges."""
        with self._explained(TableReadError):
            if columnar:
                return self._ranges.name_for(self._key(path), target, table.connection)
            self._files.get_file(self._key(path), str(target), callback=_Progress())
        return str(target)

    def read(self, path: str, limit: int) -> bytes:
        """Return the first `limit` bytes of an object."""
        with self._explained(TableReadError):
            data: bytes = self._files.head(self._key(path), limit)
            return data

    def open(self, path: str) -> BinaryIO:
        """Open an object, to be read a range at a time."""
        with self._explained(TableReadError):
            file: BinaryIO = self._files.open(self._key(path), "rb", block_size=_BLOCK_BYTES)
            return file

    def _key(self, path: str) -> str:
        return f"{self._root}/{path}" if path else self._root

    @contextmanager
    def _explained(self, kind: type[PneumaError], what: str = "") -> Iterator[None]:
        """Turn what the store's library raises, which may be anything, into one line.

        Whoever reads a table or a document names it himself. What moves bytes quotes no cell.
        """
        try:
            yield
        except FileNotFoundError as error:
            if kind is TableReadError:
                raise
            raise kind(f"{what}it is not there; check the source's bucket and prefix") from error
        except (PneumaError, MemoryError):
            raise
        except Exception as error:
            words = one_line(str(error) if isinstance(error, StoreError) else repr(error), 300)
            if not isinstance(error, StoreError):
                words = f"{words}; check the network, the permissions and the environment "
                words += "variables that hold the keys"
            raise kind(f"{what}{words}").saying(words) from error


class _Progress(Callback):  # type: ignore[misc] # fsspec is untyped
    """Grants time for each part of a download."""

    value: int

    def relative_update(self, inc: int = 1) -> None:
        """Count the bytes of a part."""
        bounds.reading(inc)

    def absolute_update(self, value: int) -> None:
        """Count the bytes since the last call; `value` are those of all parts."""
        bounds.reading(max(0, value - self.value))
        self.value = value


def _entry(path: str, info: Mapping[str, Any]) -> FileEntry:
    size = info.get("size") or 0
    stamp = next((str(info[name]).strip('"') for name in _STAMPS if info.get(name)), "")
    at = next((at for name in _TIMES if (at := _seconds(info.get(name))) is not None), None)
    return FileEntry(path, f"{size}-{stamp or at}", at, f"{size}-{stamp}" if stamp else None)


def _seconds(value: object) -> float | None:
    """Return a time in seconds since 1970, however a store spells it."""
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, int | float):
        return float(value)
    try:
        return datetime.fromisoformat(value).timestamp() if isinstance(value, str) else None
    except ValueError:
        return None


class _RangeFileSystem(AbstractFileSystem):  # type: ignore[misc] # fsspec is untyped
    """What DuckDB asks of a file system: names that are no patterns, of objects as they were."""

    protocol = _PROTOCOL
    cachable = False

    def __init__(self, files: AbstractFileSystem) -> None:
        super().__init__()
        self._files = files
        self._first = lru_cache(maxsize=_INFOS_KEPT)(self._info)

    def name_for(self, key: str, target: Path, connection: duckdb.DuckDBPyConnection) -> str:
        """Make one object readable on a connection and return the name to read it by.

        The name spells the key in hexadecimal, so nothing in it can be taken for a pattern, and
        ends with `target`, whose folders may be Hive partitions and which is new for every read
        of a table: what is known of the object is what was when the table was opened.
        """
        if not connection.filesystem_is_registered(_PROTOCOL):
            connection.register_filesystem(self)
        return f"{_PROTOCOL}://{key.encode('utf-8', 'surrogateescape').hex()}{target.as_posix()}"

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Return name, size and type of the object."""
        return {"name": path, "size": int(self._first(path).get("size") or 0), "type": "file"}

    def glob(self, path: str, **_: Any) -> list[str]:
        """Return the name itself: nothing in it is a pattern."""
        return [path]

    def modified(self, path: str) -> datetime:
        """Return one time for all: what is read is told apart by its name."""
        self._first(path)
        return datetime.fromtimestamp(0).astimezone()

    def _info(self, path: str) -> Mapping[str, Any]:
        try:
            info: Mapping[str, Any] = self._files.info(_key_of(path))
        except FileNotFoundError:
            raise StoreError(GONE) from None  # DuckDB passes on what it says, and no more
        return info

    def _open(self, path: str, *_: Any, **__: Any) -> "SharedHandle":
        return SharedHandle(partial(self._open_object, path))

    def _open_object(self, path: str) -> BinaryIO:
        first, key = self._first(path), _key_of(path)
        if hasattr(self._files, "open_version"):
            pinned: BinaryIO = self._files.open_version(first, _BLOCK_BYTES)
            return pinned
        self._files.invalidate_cache(key.rpartition("/")[0])
        if _entry(key, self._info(path)).version != _entry(key, first).version:
            raise StoreError(REPLACED)
        file: BinaryIO = self._files.open(key, "rb", block_size=_BLOCK_BYTES)
        return file


def _key_of(path: str) -> str:
    """Return the key that a name of `name_for` spells."""
    spelled = path.removeprefix(f"{_PROTOCOL}://").partition("/")[0]
    return bytes.fromhex(spelled).decode("utf-8", "surrogateescape")


class SharedHandle:
    """A handle that opens its file once for every thread that reads it.

    DuckDB 2.0 opens a Parquet file of a Python file system once and lets its threads `seek` and
    `read` it in turn. One place for all of them is moved by one thread between the other's two
    calls, which then reads other bytes than it asked for; and what one reads ahead is of no use
    to the other.
    """

    def __init__(self, open_file: Callable[[], BinaryIO]) -> None:
        self.closed = False
        self._open_file = open_file
        self._files = {get_ident(): open_file()}

    def tell(self) -> int:
        """Return where this thread reads next, in bytes."""
        return self._file().tell()

    def seek(self, *place: int) -> int:
        """Say where this thread reads next and return it, in bytes from the beginning."""
        return self._file().seek(*place)

    def read(self, *size: int) -> bytes:
        """Return some bytes from this thread's place on, as `BinaryIO.read` does."""
        return self._file().read(*size)

    def _file(self) -> BinaryIO:
        if self.closed:
            raise ValueError("it is closed")
        if get_ident() not in self._files:
            self._files[get_ident()] = self._open_file()
        return self._files[get_ident()]

    def close(self) -> None:
        """Close the file for every thread."""
        self.closed = True
        for file in [*self._files.values()]:
            file.close()
