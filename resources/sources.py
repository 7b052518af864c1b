"""The configured sources, and what people's own assets read the same data by.

Sources open themselves, as for the command line. The resources over dagster-aws and dagster-duckdb
share their clients and connections, with the same timeouts and the same doors shut.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import dagster as dg
import duckdb
from dagster_aws.s3 import S3Resource
from dagster_duckdb import DuckDBResource
from pydantic import Field, PrivateAttr

from pneuma_assets.core.config.indexing import LimitsConfig
from pneuma_assets.core.config.source_kinds import read_source
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.sources.duckdb.database import open_read_only
from pneuma_assets.core.sources.files.s3 import connect
from pneuma_assets.core.sources.isolation.guarded import GuardedSource
from resources.checked import SOURCES, CheckedResource, section

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


class SourcesResource(CheckedResource):
    """Where tables come from. Credentials stay in environment variables, named by each entry."""

    entries: Annotated[list[dict[str, Any]], SOURCES] = Field(
        description="The `sources` of the deployment file."
    )
    base: str = Field(description="The folder that relative paths start from.")
    limits: Annotated[dict[str, Any], section(LimitsConfig)] = Field(
        {}, description="The `limits` of the deployment file."
    )
    _opened: list[Source] | None = PrivateAttr(default=None)

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[Self]:  # noqa: ARG002
        """Let go of the sources when the run ends."""
        try:
            yield self
        finally:
            for source in self._opened or ():
                source.close()
            self._opened = None

    @property
    def opened(self) -> list[Source]:
        """Every source, made once, so that what one stage learns of a file serves the next."""
        if self._opened is None:
            limits = LimitsConfig.model_validate(self.limits)
            configs = [read_source(entry).resolved(Path(self.base)) for entry in self.entries]
            self._opened = [GuardedSource(config, os.environ, limits) for config in configs]
        return self._opened
