"""The objects of any store that fsspec speaks to, below one prefix.

Text and small formats are copied here, a table at a time; Parquet is read by ranges. Reads fail if
an object is replaced between two of them, rather than mix two versions.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO

import duckdb
from fsspec.spec import AbstractFileSystem  # type: ignore[import-untyped]

from pneuma_assets.core.errors import PneumaError, SourceError, TableReadError
from pneuma_assets.core.sources import bounds
from pneuma_assets.core.sources.files.shared_handle import SharedHandle
from pneuma_assets.core.sources.files.storage import GONE, FileEntry, Walk
from pneuma_assets.core.sources.names import escape, is_left_out, one_line, unescape

_PROTOCOL = "pneumastore"
_BLOCK_BYTES = 1 << 20
_COPY_BYTES = 1 << 20
_INFOS_KEPT = 20_000
_STAMPS = ("etag", "ETag", "content_md5", "md5Hash", "generation", "crc32c")
"""What stores call that by which they tell two contents of an object apart; the first counts."""
_TIMES = ("updated", "last_modified", "LastModified", "mtime", "created")

MakeFileSystem = Callable[[], AbstractFileSystem]
"""Makes the file system when it is first needed."""


class RemoteStorage:
    """The objects below a root (`bucket/prefix`) of a file system, at addresses `scheme://root`."""

    def __init__(self, scheme: str, root: str, make: MakeFileSystem) -> None:
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
            if not found and not folder:
                self._files.ls(self._root.partition("/")[0])  # Or a missing bucket would be empty.
        entries = []
        for key, info in found.items():
            path = key.strip("/").removeprefix(self._root).strip("/")
            if path and not is_left_out(path):
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

    def place(
        self,
        path: str,
        target: Path,
        connection: duckdb.DuckDBPyConnection,
        undo: ExitStack,  # noqa: ARG002 (what is copied is not held open)
        *,
        columnar: bool,
    ) -> str:
        """Copy a file to `target`; let DuckDB read a columnar one by ranges."""
        with self._explained(TableReadError):
            if columnar:
                return self._ranges.name_for(self._key(path), target, connection)
            with self._opened(path) as source, target.open("wb") as copy:
                while data := source.read(_COPY_BYTES):
                    bounds.reading(len(data))
                    copy.write(data)
        return str(target)

    def read(self, path: str, limit: int) -> bytes:
        """Return the first `limit` bytes of an object."""
        with self._explained(TableReadError), self._opened(path) as file:
            data: bytes = file.read(limit)
            return data

    def open(self, path: str) -> BinaryIO:
        """Open an object, to be read a range at a time."""
        with self._explained(TableReadError):
            return self._opened(path)

    def _opened(self, path: str) -> BinaryIO:
        file: BinaryIO = self._files.open(self._key(path), "rb", block_size=_BLOCK_BYTES)
        return file

    def _key(self, path: str) -> str:
        return f"{self._root}/{path}" if path else self._root

    @contextmanager
    def _explained(self, kind: type[PneumaError], what: str = "") -> Iterator[None]:
        """Turn what the store's library raises, which may be anything, into one line."""
        try:
            yield
        except FileNotFoundError as error:
            if kind is TableReadError:
                raise
            raise kind(f"{what}it is not there; check the source's bucket and prefix") from error
        except (PneumaError, MemoryError):
            raise
        except Exception as error:
            words = one_line(f"{type(error).__name__}: {error}", 300)
            told = (
                f"{words}; check the network, the permissions and the environment variables "
                "that hold the keys"
            )
            raise kind(f"{what}{told}").saying(told) from error  # it moves bytes, quotes no cell


def _entry(path: str, info: Mapping[str, Any]) -> FileEntry:
    size = info.get("size") or 0
    stamp = next((str(info[name]).strip('"') for name in _STAMPS if info.get(name)), "")
    at = next((at for name in _TIMES if (at := _seconds(info.get(name))) is not None), None)
    version = f"{size}-{stamp or at}"
    return FileEntry(path, version, at, f"{size}-{stamp}" if stamp else None)


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
        self._first = lru_cache(maxsize=_INFOS_KEPT)(self._stated)

    def name_for(self, key: str, target: Path, connection: duckdb.DuckDBPyConnection) -> str:
        """Make one object readable on a connection and return the name to read it by."""
        if not connection.filesystem_is_registered(_PROTOCOL):
            connection.register_filesystem(self)
        return f"{_PROTOCOL}://{key.encode('utf-8', 'surrogateescape').hex()}{target.as_posix()}"

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Return name, size and type of the object."""
        return {"name": path, "size": self._first(path)[0], "type": "file"}

    def glob(self, path: str, **_: Any) -> list[str]:
        """Return the name itself: nothing in it is a pattern."""
        return [path]

    def modified(self, path: str) -> datetime:
        """Return one time for all: what is read is told apart by its name."""
        self._first(path)
        return datetime.fromtimestamp(0).astimezone()

    def _stated(self, path: str) -> tuple[int, str]:
        try:
            info = self._files.info(_key_of(path))
        except FileNotFoundError:
            raise OSError(GONE) from None  # DuckDB passes on what it says, and no more
        entry = _entry(path, info)
        return int(info.get("size") or 0), entry.version

    def _open(self, path: str, *_: Any, **__: Any) -> SharedHandle:
        return SharedHandle(partial(self._object, path))

    def _object(self, path: str) -> BinaryIO:
        first = self._first(path)
        self._files.invalidate_cache(_key_of(path).rpartition("/")[0])
        if self._stated(path) != first:
            raise OSError("it was replaced meanwhile; run again")
        file: BinaryIO = self._files.open(_key_of(path), "rb", block_size=_BLOCK_BYTES)
        return file


def _key_of(path: str) -> str:
    spelled = path.removeprefix(f"{_PROTOCOL}://").partition("/")[0]
    return bytes.fromhex(spelled).decode("utf-8", "surrogateescape")
