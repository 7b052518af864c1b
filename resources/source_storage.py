"""Resources by which assets of other people read the same buckets and DuckDB files as a source.

They are those of dagster-aws and dagster-duckdb (extras `aws` and `duckdb`) with the timeouts of
sources and the same doors shut. Nothing here imports this module.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
from dagster_aws.s3 import S3Resource
from dagster_duckdb import DuckDBResource
from pydantic import Field

from pneuma_assets.core.sources.duckdb.database import open_read_only
from pneuma_assets.core.sources.files.s3 import connect

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


class LakeS3Resource(S3Resource):  # type: ignore[misc]
    """dagster-aws's S3 with timeouts that let an unreachable server be reported in seconds."""

    def get_client(self) -> "S3Client":
        """Return a client; nothing is sent before its first call."""
        return connect(
            self.endpoint_url,
            self.region_name,
            self.aws_access_key_id,
            self.aws_secret_access_key,
            self.aws_session_token,
        )


class LakeDuckDBResource(DuckDBResource):  # type: ignore[misc]
    """dagster-duckdb's database, for assets that read the same file: read-only, opened once.

    Its own `get_connection` opens for writing, tries a locked file for 102 seconds, leaves it
    locked after an exception, and lets views read this machine.
    """

    external_views: bool = Field(False, description="Let views read what this user can read.")

    @contextmanager
    def get_connection(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open the database for as long as the `with` block lasts."""
        path = Path(self.database)
        with open_read_only(path, external_views=self.external_views) as connection:
            yield connection
