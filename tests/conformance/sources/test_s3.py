"""A bucket keeps the contract, over HTTP to a real server (moto's)."""

from typing import Any, ClassVar

import pytest

from pneuma_assets.core.sources.files.s3 import connect
from pneuma_assets.core.sources.kinds.object_stores import S3SourceConfig
from tests.conformance.sources.errors import ErrorsConformance
from tests.conformance.sources.files import FileLake
from tests.conformance.sources.listing import ListingConformance
from tests.conformance.sources.profiles import ProfileConformance
from tests.conformance.sources.suite import SourceConformance
from tests.conformance.sources.support import Conformance

pytestmark = pytest.mark.integration


class S3Lake(FileLake):
    """Objects under a prefix."""

    environ: ClassVar = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}

    def __init__(self, endpoint: str, extension: str) -> None:
        self._client: Any = connect(endpoint, None, "key", "secret", None)
        self._client.create_bucket(Bucket="lake")
        self.extension = extension
        self.config = S3SourceConfig(name="s", bucket="lake", prefix="data", endpoint_url=endpoint)

    def put(self, name: str, content: bytes) -> None:
        self._client.put_object(Bucket="lake", Key=f"data/{name}", Body=content)

    def remove(self, name: str) -> None:
        self._client.delete_object(Bucket="lake", Key=f"data/{name}")

    def vanish(self) -> None:
        try:
            for page in self._client.get_paginator("list_objects_v2").paginate(Bucket="lake"):
                for item in page.get("Contents", ()):
                    self._client.delete_object(Bucket="lake", Key=item["Key"])
            self._client.delete_bucket(Bucket="lake")
        except self._client.exceptions.NoSuchBucket:
            return  # It has vanished before.


class InBucket(Conformance):
    extension = "parquet"
    memory_is_its_own = False

    @pytest.fixture
    def lake(self, s3_endpoint):
        return S3Lake(s3_endpoint, self.extension)

    def admits(self, name):
        return "\n" not in name  # moto's server takes no such key


class TestBucket(InBucket, ListingConformance, ProfileConformance, ErrorsConformance):
    """What a bucket decides; how rows are read of what it gives, `test_remote` tells, too."""


@pytest.mark.slow
class TestBucketOfCsv(InBucket, SourceConformance):
    """Text is downloaded."""

    extension = "csv"


@pytest.mark.slow
class TestBucketOfParquet(InBucket, SourceConformance):
    """Columns are read by ranges."""
