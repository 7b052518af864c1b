"""The objects under one prefix of an S3 bucket, at Amazon or any compatible server.

Text files are downloaded to a temporary file, one table at a time: DuckDB passes over them
several times (to find the dialect, to count, to fetch rows), and a download in parallel parts
followed by local passes is faster than several single-stream reads. Parquet files are read by
ranges instead: the footer and the few row groups that are wanted. Either way memory is bounded.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import duckdb

from pneuma_assets.core.errors import PneumaError, SourceError, TableReadError
from pneuma_assets.core.sources import bounds
from pneuma_assets.core.sources.files.aws import client_of
from pneuma_assets.core.sources.files.storage import FileEntry, Walk
from pneuma_assets.core.sources.names import escape, is_left_out, one_line, unescape

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

    from pneuma_assets.core.sources.files.s3_ranges import RangeFileSystem

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
        from pneuma_assets.core.sources.files.s3_ranges import RangeFileSystem

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
