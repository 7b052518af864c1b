"""The objects of any store that fsspec speaks to, below one prefix.

Text and small formats are copied here, a table at a time; Parquet is read by ranges. Reads fail if
an object is replaced between two of them, rather than mix two versions.
"""

import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import cached_property, lru_cache, partial
from itertools import count
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING, Any, BinaryIO

import duckdb
from fsspec.spec import (  # type: ignore[import-untyped]
    AbstractBufferedFile,
    AbstractFileSystem,
)

from pneuma_assets.core.errors import PneumaError, SourceError, TableReadError
from pneuma_assets.core.sources import bounds
from pneuma_assets.core.sources.files.s3_events import client_of
from pneuma_assets.core.sources.files.storage import GONE, FileEntry, Walk
from pneuma_assets.core.sources.names import escape, is_left_out, one_line, unescape

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import HeadObjectOutputTypeDef


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


_S3_PROTOCOL = "pneumas3"
_BLOCK_BYTES = 1 << 20
"""Read ahead: fewer requests than DuckDB makes reads, and little wasted by a seek."""
_HEADS_KEPT = 20_000


class RangeFileSystem(AbstractFileSystem):  # type: ignore[misc] # fsspec is untyped
    """What DuckDB asks of a file system, for the objects of one bucket."""

    protocol = _S3_PROTOCOL
    cachable = False

    def __init__(self, client: "S3Client", bucket: str) -> None:
        super().__init__()
        self.client = client
        self.bucket = bucket
        self._numbers = count()
        self.head = lru_cache(maxsize=_HEADS_KEPT)(self._head)

    def name_for(self, key: str, target: Path, connection: duckdb.DuckDBPyConnection) -> str:
        """Make one object readable on this connection and return the name to read it by.

        The name spells the key in hexadecimal, so nothing in it can be taken for a pattern, and
        ends with `target`, whose folders may be Hive partitions and which is new for every read
        of a table. Reads fail if the object is replaced between two of them, rather than mix two
        versions.
        """
        if not connection.filesystem_is_registered(_S3_PROTOCOL):
            connection.register_filesystem(self)
        return f"{_S3_PROTOCOL}://{key.encode().hex()}{target.as_posix()}"

    def open_object(self, key: str) -> BinaryIO:
        """Open one object as it is now."""
        file: BinaryIO = self._object(
            f"{_S3_PROTOCOL}://{key.encode().hex()}/{next(self._numbers)}"
        )
        return file

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Return name, size and type of the object."""
        return {"name": path, "size": self.head(path)["ContentLength"], "type": "file"}

    def glob(self, path: str, **_: Any) -> list[str]:
        """Return the name itself: nothing in it is a pattern."""
        return [path]

    def modified(self, path: str) -> datetime:
        """Return when the object was last written."""
        return self.head(path)["LastModified"].astimezone(UTC)

    def _head(self, path: str) -> "HeadObjectOutputTypeDef":
        """Return an object's size and ETag as they were when the table was opened."""
        with _as_os_error():
            return self.client.head_object(Bucket=self.bucket, Key=_key(path))

    def _open(self, path: str, *_: Any, **__: Any) -> SharedHandle:
        return SharedHandle(partial(self._object, path))

    def _object(self, path: str) -> BinaryIO:
        file: BinaryIO = _RangeFile(
            self,
            path,
            "rb",
            block_size=_BLOCK_BYTES,
            cache_type="readahead",
            size=self.head(path)["ContentLength"],
        )
        return file


class _RangeFile(AbstractBufferedFile):  # type: ignore[misc] # fsspec is untyped
    """One object, read a range at a time."""

    fs: RangeFileSystem

    def _fetch_range(self, start: int, end: int) -> bytes:
        with _as_os_error():
            reply = self.fs.client.get_object(
                Bucket=self.fs.bucket,
                Key=_key(self.path),
                Range=f"bytes={start}-{end - 1}",
                IfMatch=self.fs.head(self.path)["ETag"],
            )
            with reply["Body"] as body:
                return body.read()


@contextmanager
def _as_os_error() -> Iterator[None]:
    """Raise what DuckDB passes on: it knows nothing of boto3's errors."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise OSError(f"the server says: {error}") from error


def _key(path: str) -> str:
    spelled = path.removeprefix(f"{_S3_PROTOCOL}://").partition("/")[0]
    return bytes.fromhex(spelled).decode()


ClientFactory = Callable[[], "S3Client"]
"""Makes an S3 client when it is first needed; dagster-aws's `S3Resource.get_client` is one."""


class S3Storage:
    """The objects under one prefix of a bucket."""

    def __init__(self, bucket: str, prefix: str, make_client: ClientFactory) -> None:
        self._bucket = bucket
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        self._make_client = make_client

    def walk(self, folder: str = "") -> Walk:
        """List all objects below a folder: one request a thousand objects, none is read."""
        start = self._prefix + (f"{folder.rstrip('/')}/" if folder.rstrip("/") else "")
        entries = []
        place = f"s3://{self._bucket}/{escape(start)}"
        with self._explained(SourceError, f"{place} cannot be listed: "):
            pages = self._client.get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self._bucket, Prefix=start):
                for item in page.get("Contents", ()):
                    path = item["Key"].removeprefix(self._prefix)
                    if path.endswith("/") or is_left_out(path):
                        continue
                    version = f"{item['Size']}-{item.get('ETag', '')}"
                    written = item.get("LastModified")
                    at = None if written is None else written.timestamp()
                    etag = item.get("ETag", "").strip('"')
                    identity = f"{item['Size']}-{etag}" if etag else None
                    entries.append(FileEntry(path, version, at, identity))
        return Walk(sorted(entries, key=lambda entry: entry.path))

    def names(self, folder: str) -> list[str]:
        """Return the names of the objects directly in a folder."""
        start = f"{self._prefix}{folder}/" if folder else self._prefix
        with self._explained(TableReadError, "its folder cannot be listed: "):
            pages = self._client.get_paginator("list_objects_v2")
            found = pages.paginate(Bucket=self._bucket, Prefix=start, Delimiter="/")
            keys = [item["Key"] for page in found for item in page.get("Contents", ())]
        return [key.removeprefix(start) for key in keys]

    def location(self, path: str) -> str:
        """Return the object's `s3://` address, escaped."""
        return escape(f"s3://{self._bucket}/{self._prefix}{path.removeprefix('/')}")

    def path(self, location: str) -> str:
        """Return the path below the prefix of an escaped `s3://` address."""
        return unescape(location).removeprefix(f"s3://{self._bucket}/{self._prefix}")

    def place(
        self,
        path: str,
        target: Path,
        connection: duckdb.DuckDBPyConnection,
        undo: ExitStack,  # noqa: ARG002 (what is copied is not held open)
        *,
        columnar: bool,
    ) -> str:
        """Download a text file to `target`; let DuckDB read a columnar one by ranges."""
        key = self._prefix + path
        with self._explained(TableReadError):
            if columnar:
                return self._ranges.name_for(key, target, connection)
            self._client.download_file(self._bucket, key, str(target), Callback=bounds.reading)
        return str(target)

    def read(self, path: str, limit: int) -> bytes:
        """Return the first `limit` bytes of an object."""
        with self._explained(TableReadError):
            reply = self._client.get_object(Bucket=self._bucket, Key=self._prefix + path)
            with reply["Body"] as body:
                return body.read(limit)

    def open(self, path: str) -> BinaryIO:
        """Open an object; reads fail if it is replaced between two of them."""
        return self._ranges.open_object(self._prefix + path)

    @cached_property
    def _client(self) -> "S3Client":
        return self._make_client()

    @cached_property
    def _ranges(self) -> "RangeFileSystem":
        from pneuma_assets.core.sources.files.object_store import RangeFileSystem

        return RangeFileSystem(self._client, self._bucket)

    @contextmanager
    def _explained(self, kind: type[PneumaError], what: str = "") -> Iterator[None]:
        """Turn what boto3 raises into one line that says what to check.

        Whoever reads a table or a document names it himself. What moves bytes quotes no cell.
        """
        from boto3.exceptions import Boto3Error
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "unknown error")
            told = (
                f"the server says {one_line(code)}; "
                f"{_REMEDIES.get(code, 'check bucket, prefix and permissions')}"
            )
            raise kind(f"{what}{told}").saying(told) from error
        except (BotoCoreError, Boto3Error) as error:
            told = (
                f"{one_line(str(error))}; check endpoint_url, region, "
                "the network and the environment variables that hold the keys"
            )
            raise kind(f"{what}{told}").saying(told) from error


def connect(
    endpoint_url: str | None,
    region: str | None,
    access_key_id: str | None,
    secret_access_key: str | None,
    session_token: str | None,
) -> "S3Client":
    """Make a client that gives up on an unreachable server within some ten seconds."""
    client: S3Client = client_of(
        "s3",
        endpoint_url,
        region,
        access_key_id,
        secret_access_key,
        session_token,
        read_timeout=30,
        attempts=3,
        s3={"addressing_style": "path"} if endpoint_url else None,
    )
    return client


_DENIED = "check the keys' environment variables and what these keys may do"
_REMEDIES = {
    "NoSuchBucket": "check the source's bucket and endpoint_url",
    "NoSuchKey": "it was deleted meanwhile; run again",
    "404": "it was deleted meanwhile; run again",
    "PreconditionFailed": "it was replaced meanwhile; run again",
    "412": "it was replaced meanwhile; run again",
    "AccessDenied": _DENIED,
    "403": _DENIED,
    "InvalidAccessKeyId": _DENIED,
    "SignatureDoesNotMatch": _DENIED,
}


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
