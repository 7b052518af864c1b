"""Makes sources from their configuration: one factory a type.

Clients and connections are made when first used, so opening sources reaches nothing. Callers that
have their own (dagster-aws) pass a factory instead.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from pneuma_assets.core.config.deployment import (
    DuckDBSourceConfig,
    FolderSourceConfig,
    S3SourceConfig,
    SourceConfig,
)
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.sources.duckdb.database import DuckDBFileSource
from pneuma_assets.core.sources.files import s3
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource


def open_source(
    config: SourceConfig,
    base: Path,
    environ: Mapping[str, str],
    *,
    make_s3_client: s3.ClientFactory | None = None,
) -> Source:
    """Return one source; `make_s3_client` replaces the default connection."""
    match config:
        case FolderSourceConfig():
            return FileSource(config.name, FolderStorage(base / config.path))
        case S3SourceConfig():
            make_client = make_s3_client or _s3_client_factory(config, environ)
            return FileSource(config.name, s3.S3Storage(config.bucket, config.prefix, make_client))
        case DuckDBSourceConfig():
            return DuckDBFileSource(
                config.name,
                base / config.path,
                external_views=config.external_views,
            )


def s3_credentials(
    config: S3SourceConfig, environ: Mapping[str, str]
) -> tuple[str | None, str | None, str | None]:
    """Return access key, secret key and session token; with none set, boto3 looks for its own.

    Raises:
        ConfigError: Half of the pair of keys is set.
    """
    key = environ.get(config.access_key_id_env)
    secret = environ.get(config.secret_access_key_env)
    if bool(key) != bool(secret):
        missing = config.secret_access_key_env if key else config.access_key_id_env
        raise ConfigError(
            f"source {config.name!r}: the environment variable {missing} is not set, but the "
            "other half of the pair of keys is; set both or neither"
        )
    token = environ.get(config.session_token_env) if key else None
    return key or None, secret or None, token or None


def _s3_client_factory(config: S3SourceConfig, environ: Mapping[str, str]) -> s3.ClientFactory:
    credentials = s3_credentials(config, environ)
    return partial(s3.connect, config.endpoint_url, config.region, *credentials)
