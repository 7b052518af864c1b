"""One file describes a deployment; Dagster and the command line read the same one.

Secrets never stand in the file: it names the environment variables that hold them.
"""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from pneuma_assets.core.config.index import IndexConfig
from pneuma_assets.core.config.indexing import IndexingConfig, LimitsConfig, SamplingConfig
from pneuma_assets.core.config.models import EncoderConfig, JudgeConfig, NarrationConfig
from pneuma_assets.core.config.orchestration import DagsterConfig
from pneuma_assets.core.config.query import QueryConfig
from pneuma_assets.core.config.section import Section
from pneuma_assets.core.config.state import StateConfig
from pneuma_assets.core.config.values import (
    EndpointUrl,
    LocalPath,
    SourceName,
    VariableName,
)


class FolderSourceConfig(Section):
    """A folder tree of table files."""

    type: Literal["folder"] = "folder"
    name: SourceName
    path: LocalPath = Field(description="The folder; relative to the deployment file.")


class S3SourceConfig(Section):
    """The table files under one prefix of an S3 bucket, at Amazon or any compatible server."""

    type: Literal["s3"] = "s3"
    name: SourceName
    bucket: str = Field(min_length=3, max_length=63)
    prefix: str = ""
    endpoint_url: EndpointUrl | None = Field(None, description="Of a server that is not Amazon's.")
    region: str | None = None
    access_key_id_env: VariableName = "AWS_ACCESS_KEY_ID"
    secret_access_key_env: VariableName = "AWS_SECRET_ACCESS_KEY"  # noqa: S105 (a name, not a secret)
    session_token_env: VariableName = "AWS_SESSION_TOKEN"  # noqa: S105


class DuckDBSourceConfig(Section):
    """The tables and views of one DuckDB database file, opened read-only."""

    type: Literal["duckdb"] = "duckdb"
    name: SourceName
    path: LocalPath = Field(description="The database file; relative to the deployment file.")
    external_views: bool = Field(
        False, description="Whether its views may read whatever this user can read."
    )


SourceConfig = Annotated[
    FolderSourceConfig | S3SourceConfig | DuckDBSourceConfig, Field(discriminator="type")
]


class Deployment(Section):
    """Everything that one deployment needs to know."""

    home: LocalPath = Field(Path(".pneuma"), description="State folder; relative to the file.")
    state: StateConfig = StateConfig()
    sources: tuple[SourceConfig, ...] = ()
    sampling: SamplingConfig = SamplingConfig()
    narration: NarrationConfig = NarrationConfig()
    judge: JudgeConfig = JudgeConfig()
    encoder: EncoderConfig = EncoderConfig()
    index: IndexConfig = IndexConfig()
    query: QueryConfig = QueryConfig()
    indexing: IndexingConfig = IndexingConfig()
    limits: LimitsConfig = LimitsConfig()
    dagster: DagsterConfig = DagsterConfig()

    @field_validator("sources", mode="after")
    @classmethod
    def _names_are_unique(cls, sources: tuple[SourceConfig, ...]) -> tuple[SourceConfig, ...]:
        """A source's name starts its tables' ids, so two sources never share one."""
        first: dict[str, int] = {}
        for position, source in enumerate(sources):
            if source.name in first:
                raise ValueError(
                    f"sources[{position}].name: '{source.name}' is already the name of "
                    f"sources[{first[source.name]}]; give each source its own name"
                )
            first[source.name] = position
        return sources

    @model_validator(mode="after")
    def _what_is_shared_is_shared_whole(self) -> Self:
        """Machines that share a state but no index would each miss the other's tables for ever."""
        if self.state.url is not None and self.index.engine == "embedded":
            raise ValueError(
                "state.url is a server, which several machines can share, but the embedded index "
                "is a folder of one; set index.engine: elasticsearch, or remove state"
            )
        return self
