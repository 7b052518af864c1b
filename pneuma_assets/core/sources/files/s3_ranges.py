"""Lets DuckDB read single S3 objects by byte ranges, without its downloadable httpfs extension."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache, partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import duckdb
from fsspec.spec import (  # type: ignore[import-untyped]
    AbstractBufferedFile,
    AbstractFileSystem,
)

from pneuma_assets.core.sources.files.shared_handle import SharedHandle

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import HeadObjectOutputTypeDef

_PROTOCOL = "pneumas3"
_BLOCK_BYTES = 1 << 20
"""Read ahead: fewer requests than DuckDB makes reads, and little wasted by a seek."""
_HEADS_KEPT = 20_000


class RangeFileSystem(AbstractFileSystem):  # type: ignore[misc] # fsspec is untyped
    """What DuckDB asks of a file system, for the objects of one bucket."""

    protocol = _PROTOCOL
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
        if not connection.filesystem_is_registered(_PROTOCOL):
            connection.register_filesystem(self)
        return f"{_PROTOCOL}://{key.encode().hex()}{target.as_posix()}"

    def open_object(self, key: str) -> BinaryIO:
        """Open one object as it is now."""
        file: BinaryIO = self._object(f"{_PROTOCOL}://{key.encode().hex()}/{next(self._numbers)}")
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
    spelled = path.removeprefix(f"{_PROTOCOL}://").partition("/")[0]
    return bytes.fromhex(spelled).decode()
