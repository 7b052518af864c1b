"""S3 as fsspec has file systems, by boto3: at Amazon or any compatible server.

(s3fs pins a version of botocore of its own, which keeps boto3 and dagster-aws from being updated.)
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

from fsspec.callbacks import DEFAULT_CALLBACK, Callback  # type: ignore[import-untyped]
from fsspec.spec import AbstractBufferedFile, AbstractFileSystem  # type: ignore[import-untyped]

from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.extras import extra_for
from pneuma_assets.core.sources.files.s3_events import aws_client
from pneuma_assets.core.sources.files.storage import REPLACED, SERVER_SAYS, StoreError
from pneuma_assets.core.text.safe import one_line

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_DENIED = "check the keys' environment variables and what these keys may do"
_REMEDIES = {
    "NoSuchBucket": "check the source's bucket and endpoint_url",
    **dict.fromkeys(("AccessDenied", "403"), _DENIED),
    **dict.fromkeys(("InvalidAccessKeyId", "SignatureDoesNotMatch"), _DENIED),
}


class S3FileSystem(AbstractFileSystem):  # type: ignore[misc] # fsspec is untyped
    """Lists and reads objects; paths are `bucket/key`. Raises `OSError` that says what to do."""

    protocol = "s3"
    cachable = False
    finds_missing_buckets = True

    def __init__(self, client: "S3Client") -> None:
        super().__init__()
        self.client = client

    def find(self, path: str, **_: Any) -> dict[str, dict[str, Any]]:
        """Return all objects below a path, with what a listing says of each."""
        return {entry["name"]: entry for entry in self._listed(path)}

    def ls(self, path: str, **_: Any) -> list[dict[str, Any]]:
        """Return the objects directly below a path."""
        return list(self._listed(path, "/"))

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Return what the server says of an object."""
        bucket, key = _split(path)
        with _explained():
            head = self.client.head_object(Bucket=bucket, Key=key)
        return _entry(path, head["ContentLength"], head)

    def head(self, path: str, size: int = 1024) -> bytes:
        """Return the first bytes of an object."""
        bucket, key = _split(path)
        with _explained(), self.client.get_object(Bucket=bucket, Key=key)["Body"] as body:
            return body.read(size)

    def get_file(self, rpath: str, lpath: str, callback: Callback = DEFAULT_CALLBACK) -> None:
        """Download an object in parallel parts."""
        bucket, key = _split(rpath)
        with _explained():
            self.client.download_file(bucket, key, lpath, Callback=callback.relative_update)

    def open_version(self, info: dict[str, Any], block_size: int) -> BinaryIO:
        """Open an object as it was when `info` was asked for; later versions are an error."""
        file: BinaryIO = _S3File(self, info, block_size)
        return file

    def _open(self, path: str, *_: Any, block_size: int, **__: Any) -> BinaryIO:
        return self.open_version(self.info(path), block_size)

    def _listed(self, path: str, delimiter: str = "") -> Iterator[dict[str, Any]]:
        bucket, key = _split(path)
        with _explained():
            pages = self.client.get_paginator("list_objects_v2")
            prefix = f"{key}/" if key else ""
            for page in pages.paginate(Bucket=bucket, Prefix=prefix, Delimiter=delimiter):
                for item in page.get("Contents", ()):
                    if not item["Key"].endswith("/"):
                        yield _entry(f"{bucket}/{item['Key']}", item["Size"], item)


class _S3File(AbstractBufferedFile):  # type: ignore[misc] # fsspec is untyped
    """One version of an object, read a range at a time."""

    fs: S3FileSystem

    def __init__(self, fs: S3FileSystem, info: dict[str, Any], block_size: int) -> None:
        super().__init__(fs, info["name"], block_size=block_size, size=info["size"])
        self._etag: str = info["ETag"]

    def _fetch_range(self, start: int, end: int) -> bytes:
        bucket, key = _split(self.path)
        wanted = f"bytes={start}-{end - 1}"
        with _explained():
            reply = self.fs.client.get_object(
                Bucket=bucket, Key=key, Range=wanted, IfMatch=self._etag
            )
            with reply["Body"] as body:
                return body.read()


def _split(path: str) -> tuple[str, str]:
    bucket, _, key = path.partition("/")
    return bucket, key


def _entry(path: str, size: int, reply: Any) -> dict[str, Any]:
    times = {"ETag": reply.get("ETag", ""), "LastModified": reply.get("LastModified")}
    return {"name": path, "size": size, "type": "file", **times}


@contextmanager
def _explained() -> Iterator[None]:
    """Turn what boto3 raises into an error of one line that says what to check."""
    with extra_for("a source of type s3", SourceError):
        from boto3.exceptions import Boto3Error
        from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "unknown error")
        if code in {"NoSuchKey", "404"}:
            raise FileNotFoundError(code) from error
        if code in {"PreconditionFailed", "412"}:
            raise StoreError(REPLACED) from error
        remedy = _REMEDIES.get(code, "check bucket, prefix and permissions")
        raise StoreError(f"{SERVER_SAYS}{one_line(code)}; {remedy}") from error
    except (BotoCoreError, Boto3Error) as error:
        raise StoreError(
            f"{one_line(str(error))}; check endpoint_url, region, "
            "the network and the environment variables that hold the keys"
        ) from error


def connect(endpoint_url: str | None, region: str | None, *keys: str | None) -> "S3Client":
    """Make a client; the keys are access key, secret key and session token (`aws_client`)."""
    client: S3Client = aws_client("s3", endpoint_url, region, *keys)
    return client
