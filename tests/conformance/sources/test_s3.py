"""A bucket keeps the contract, over HTTP to a real server (moto's)."""

from typing import Any, ClassVar

import pytest

from pneuma_assets.core.sources.files.s3 import connect
from pneuma_assets.core.sources.kinds.object_stores import S3SourceConfig
from tests.conformance.sources.files import DAMAGED, WRITERS
from tests.conformance.sources.suite import SourceConformance
from tests.conformance.sources.support import Columns, people

pytestmark = pytest.mark.integration


class S3Lake:
    """Objects of one format under a prefix; what people write lies beside them."""

    environ: ClassVar = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}

    def __init__(self, endpoint: str, extension: str) -> None:
        self._client: Any = connect(endpoint, None, "key", "secret", None)
        self._extension = extension
        self._client.create_bucket(Bucket="lake")
        self.config = S3SourceConfig(name="s", bucket="lake", prefix="data", endpoint_url=endpoint)

    def _put(self, name: str, body: bytes) -> None:
        self._client.put_object(Bucket="lake", Key=f"data/{name}", Body=body)

    def write(self, name: str, columns: Columns) -> None:
        self._put(f"{name}.{self._extension}", WRITERS[self._extension](columns))

    def write_beside(self, name: str) -> None:
        """Write the format that comes first wherever two files have a stem."""
        first = "pq" if self._extension == "parquet" else "parquet"
        self._put(f"{name}.{first}", WRITERS["parquet"](people(3)))

    def describe(self, name: str, text: str) -> None:
        self._put(f"{name}.md", text.encode())

    def damage(self, name: str) -> None:
        self._put(f"{name}.{self._extension}", DAMAGED)

    def delete(self, name: str) -> None:
        self._client.delete_object(Bucket="lake", Key=f"data/{name}.{self._extension}")

    def vanish(self) -> None:
        try:
            for page in self._client.get_paginator("list_objects_v2").paginate(Bucket="lake"):
                for item in page.get("Contents", ()):
                    self._client.delete_object(Bucket="lake", Key=item["Key"])
            self._client.delete_bucket(Bucket="lake")
        except self._client.exceptions.NoSuchBucket:
            return  # It has vanished before.


class S3Conformance(SourceConformance):
    extension = "csv"
    memory_is_its_own = False

    @pytest.fixture
    def lake(self, s3_endpoint):
        return S3Lake(s3_endpoint, self.extension)

    def admits(self, name):
        return "\n" not in name  # moto's server takes no such key


@pytest.mark.slow
class TestBucketOfCsv(S3Conformance):
    """Text is downloaded."""


class TestBucketOfParquet(S3Conformance):
    """Columns are read by ranges."""

    extension = "parquet"
