"""`type: s3`: the table files under one prefix of an S3 bucket."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from pneuma_assets.core.config.secrets import EndpointUrl, VariableName
from pneuma_assets.core.config.section import Section
from pneuma_assets.core.config.sources import SourceConfig, TableAddress
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.sources.files.names import lies_below

if TYPE_CHECKING:
    from pneuma_assets.core.sources.files.s3_events import SqsMailbox
    from pneuma_assets.core.sources.files.source import FileSource


class S3EventsConfig(Section):
    """The SQS queue that a bucket sends its event notifications to."""

    queue_url: EndpointUrl
    region: str | None = Field(None, description="The queue's; None: the bucket's.")
    endpoint_url: EndpointUrl | None = Field(None, description="Of a server that is not Amazon's.")
    full_scan_hours: float = Field(
        6.0, gt=0, le=720, description="The bucket is listed so often all the same."
    )


class S3SourceConfig(SourceConfig):
    """The table files under one prefix of an S3 bucket, at Amazon or any compatible server."""

    lists_without_reading: ClassVar[bool] = True
    technologies: ClassVar[frozenset[str]] = frozenset({"duckdb", "s3"})

    type: Literal["s3"] = "s3"
    bucket: str = Field(min_length=3, max_length=63)
    prefix: str = ""
    endpoint_url: EndpointUrl | None = Field(None, description="Of a server that is not Amazon's.")
    region: str | None = None
    access_key_id_env: VariableName = "AWS_ACCESS_KEY_ID"
    secret_access_key_env: VariableName = "AWS_SECRET_ACCESS_KEY"  # noqa: S105 (a name, not a secret)
    session_token_env: VariableName = "AWS_SESSION_TOKEN"  # noqa: S105
    events: S3EventsConfig | None = Field(None, description="Where it tells of changes.")

    @property
    def location(self) -> str:
        """The address of the prefix, and the server's where it is not Amazon's."""
        server = f" at {self.endpoint_url}" if self.endpoint_url else ""
        return f"s3://{self.bucket}/{self.prefix}{server}"

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return all variables: with no keys given, boto3 looks for credentials in many."""
        return dict(environ)

    def credentials(self, environ: Mapping[str, str]) -> tuple[str | None, str | None, str | None]:
        """Return access key, secret key and session token; with none set, boto3 looks for its own.

        Raises:
            ConfigError: Half of the pair of keys is set.
        """
        key = environ.get(self.access_key_id_env)
        secret = environ.get(self.secret_access_key_env)
        if bool(key) != bool(secret):
            missing = self.secret_access_key_env if key else self.access_key_id_env
            raise ConfigError(
                f"source {self.name!r}: the environment variable {missing} is not set, but the "
                "other half of the pair of keys is; set both or neither"
            )
        token = environ.get(self.session_token_env) if key else None
        return key or None, secret or None, token or None

    def address_of(self, table_id: str, location: str, format: str) -> TableAddress:  # noqa: A002, ARG002
        """Return the object's path in its bucket, and its `s3://` address."""
        return TableAddress(location.removeprefix("s3://"), location, ("s3", format))

    def holds(self, address: str) -> bool:
        """Tell whether an object lies below the prefix."""
        return lies_below(address, f"s3://{self.bucket}", self.prefix)

    def mailbox(self, environ: Mapping[str, str]) -> "SqsMailbox | None":
        """Return the queue of the bucket's event notifications, where one is named.

        Raises:
            ConfigError: Half of the pair of keys is set.
        """
        if self.events is None:
            return None
        from pneuma_assets.core.sources.files.s3_events import SqsMailbox, aws_client

        endpoint = self.events.endpoint_url or self.endpoint_url
        region = self.events.region or self.region
        make_client = partial(aws_client, "sqs", endpoint, region, *self.credentials(environ))
        return SqsMailbox(self.events.queue_url, 3600 * self.events.full_scan_hours, make_client)

    def open(self, environ: Mapping[str, str]) -> "FileSource":
        """Return what reads the bucket; its client is made when first needed.

        Raises:
            ConfigError: Half of the pair of keys is set.
        """
        from pneuma_assets.core.sources.files.object_store import ObjectStorage
        from pneuma_assets.core.sources.files.s3 import S3FileSystem, connect
        from pneuma_assets.core.sources.files.source import FileSource

        keys = self.credentials(environ)
        root = f"{self.bucket}/{self.prefix.strip('/')}"
        return FileSource(
            self.name,
            ObjectStorage(
                "s3",
                root,
                lambda: S3FileSystem(connect(self.endpoint_url, self.region, *keys)),
            ),
        )
