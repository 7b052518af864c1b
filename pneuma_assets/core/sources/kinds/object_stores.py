"""`type: s3`, `gcs`, `azure`: the table files under one prefix of a bucket or container."""

import re
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import Field

from pneuma_assets.core.config.secrets import EndpointUrl, VariableName
from pneuma_assets.core.config.sources import SourceConfig, TableAddress
from pneuma_assets.core.errors import ConfigError, SourceError
from pneuma_assets.core.extras import extra_for
from pneuma_assets.core.sources.files.names import lies_below, split_inside

if TYPE_CHECKING:
    from pneuma_assets.core.sources.files.s3_events import SqsMailbox
    from pneuma_assets.core.sources.files.source import FileSource


class ObjectStoreConfig(SourceConfig):
    """The table files under one prefix of a bucket."""

    lists_without_reading: ClassVar[bool] = True

    prefix: str = ""

    @property
    @abstractmethod
    def root(self) -> str:
        """The address of the bucket for those who read it, without a slash at its end."""

    @property
    def server(self) -> str:
        """The address of the bucket for others."""
        return self.root

    @abstractmethod
    def file_system(self, environ: Mapping[str, str]) -> Callable[[], Any]:
        """Return what makes the file system, which is reached with its first call.

        Raises:
            ConfigError: A secret is missing.
        """

    @property
    def location(self) -> str:
        """The address of the prefix."""
        return f"{self.server}/{self.prefix}"

    def holds(self, address: str) -> bool:
        """Tell whether an object lies below the prefix."""
        return lies_below(address, self.server, self.prefix)

    def open(self, environ: Mapping[str, str]) -> "FileSource":
        """Return what reads the bucket."""
        from pneuma_assets.core.sources.files.object_store import ObjectStorage
        from pneuma_assets.core.sources.files.source import FileSource

        scheme, _, bucket = self.root.partition("://")
        root = f"{bucket}/{self.prefix.strip('/')}"
        return FileSource(self.name, ObjectStorage(scheme, root, self.file_system(environ)))


FULL_SCAN_HOURS = 6.0
"""How often a bucket is listed although its events are heard: events get lost."""

_QUEUE_REGION = re.compile(r"//sqs[.]([a-z0-9-]+)[.]amazonaws[.]")


class S3SourceConfig(ObjectStoreConfig):
    """The table files under one prefix of an S3 bucket, at Amazon or any compatible server."""

    technologies: ClassVar[frozenset[str]] = frozenset({"duckdb", "s3"})

    type: Literal["s3"] = "s3"
    bucket: str = Field(min_length=3, max_length=63)
    endpoint_url: EndpointUrl | None = Field(None, description="Of a server that is not Amazon's.")
    region: str | None = None
    prefix_env: VariableName = Field(
        "AWS", description="Begins the variables with keys: AWS_ACCESS_KEY_ID and so on."
    )
    events_queue_url: EndpointUrl | None = Field(
        None, description="The SQS queue that the bucket sends its event notifications to."
    )

    @property
    def root(self) -> str:
        """The bucket's address."""
        return f"s3://{self.bucket}"

    @property
    def location(self) -> str:
        """The address of the prefix, and the server's where it is not Amazon's."""
        return super().location + (f" at {self.endpoint_url}" if self.endpoint_url else "")

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return all variables: with no keys given, boto3 looks for credentials in many."""
        return dict(environ)

    def credentials(self, environ: Mapping[str, str]) -> tuple[str | None, str | None, str | None]:
        """Return access key, secret key and session token; with none set, boto3 looks for its own.

        Raises:
            ConfigError: Half of the pair of keys is set.
        """
        names = [f"{self.prefix_env}_{one}" for one in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY")]
        key, secret = map(environ.get, names)
        if bool(key) != bool(secret):
            missing = names[1] if key else names[0]
            raise ConfigError(
                f"source {self.name!r}: the environment variable {missing} is not set, but the "
                "other half of the pair of keys is; set both or neither"
            )
        token = environ.get(f"{self.prefix_env}_SESSION_TOKEN") if key else None
        return key or None, secret or None, token or None

    def address_of(self, table_id: str, location: str, format: str) -> TableAddress:  # noqa: A002, ARG002
        """Return the object's path in its bucket, and its `s3://` address."""
        return TableAddress(location.removeprefix("s3://"), location, ("s3", format))

    def mailbox(self, environ: Mapping[str, str]) -> "SqsMailbox | None":
        """Return the queue of the bucket's event notifications, where one is named."""
        queue = self.events_queue_url
        if queue is None:
            return None
        from pneuma_assets.core.sources.files.s3_events import SqsMailbox, aws_client

        parts, named = urlsplit(queue), _QUEUE_REGION.search(queue)
        endpoint, region = f"{parts.scheme}://{parts.netloc}", named[1] if named else self.region
        make_client = partial(aws_client, "sqs", endpoint, region, *self.credentials(environ))
        return SqsMailbox(queue, 3600 * FULL_SCAN_HOURS, make_client)

    def file_system(self, environ: Mapping[str, str]) -> Callable[[], Any]:
        """Return what makes a client, with the keys that the variables hold."""
        from pneuma_assets.core.sources.files.s3 import S3FileSystem, connect

        keys = self.credentials(environ)
        return lambda: S3FileSystem(connect(self.endpoint_url, self.region, *keys))


class GcsSourceConfig(ObjectStoreConfig):
    """The table files under one prefix of a Google Cloud Storage bucket."""

    technologies: ClassVar[frozenset[str]] = frozenset({"duckdb", "googlecloud"})

    type: Literal["gcs"] = "gcs"
    bucket: str = Field(min_length=3, max_length=222, pattern=r"^[a-z0-9][a-z0-9._-]*$")
    endpoint_url: EndpointUrl | None = Field(None, description="Of an emulator.")
    credentials_file_env: VariableName = Field(
        "GOOGLE_APPLICATION_CREDENTIALS",
        description="Variable with the path of a key file; unset: what this machine has.",
    )

    @property
    def root(self) -> str:
        """The bucket's address."""
        return f"gs://{self.bucket}"

    @property
    def variables(self) -> tuple[Collection[str | None], tuple[str, ...]]:
        """What Google's libraries look for."""
        return {self.credentials_file_env}, ("GOOGLE_", "GCE_", "CLOUDSDK_")

    def address_of(self, table_id: str, location: str, format: str) -> TableAddress:  # noqa: A002, ARG002
        """Return the object's path in its bucket, and its `gs://` address."""
        file, _ = split_inside(location, format)
        return TableAddress(location.removeprefix("gs://"), file, ("googlecloud", format))

    def file_system(self, environ: Mapping[str, str]) -> Callable[[], Any]:
        """Return what signs in, at an emulator as nobody; a token that is no file is refused."""
        path = environ.get(self.credentials_file_env)
        token = path or ("google_default" if self.endpoint_url is None else "anon")
        if path and not Path(path).is_file():
            raise ConfigError(
                f"source {self.name!r}: the environment variable {self.credentials_file_env} names "
                f"{path}, which is no file; it should hold the path of a key file"
            )
        return partial(_google_file_system, self.endpoint_url, token)


def _google_file_system(endpoint_url: str | None, token: str) -> Any:
    with extra_for("a source of type gcs", SourceError):
        # The package's own name stands for one that first asks by gRPC what kind of bucket it is,
        # for a minute where nobody answers; all kinds are listed and read in the same way.
        from gcsfs.core import GCSFileSystem
    return GCSFileSystem(
        endpoint_url=endpoint_url, token=token, skip_instance_cache=True,
        use_listings_cache=False,
    )  # fmt: skip


class AzureSourceConfig(ObjectStoreConfig):
    """The table files under one prefix of a container (Blob Storage, Data Lake Gen2)."""

    technologies: ClassVar[frozenset[str]] = frozenset({"duckdb", "azure"})

    type: Literal["azure"] = "azure"
    account: str = Field(min_length=3, max_length=24, pattern=r"^[a-z0-9]+$")
    container: str = Field(min_length=3, max_length=63, pattern=r"^[a-z0-9$][a-z0-9-]*$")
    endpoint_url: EndpointUrl | None = Field(None, description="Of an emulator, with the account.")
    prefix_env: VariableName = Field(
        "AZURE_STORAGE",
        description="Begins the variables with secrets: AZURE_STORAGE_ACCOUNT_KEY, or _SAS_TOKEN; "
        "with neither set, Azure's default credentials.",
    )

    @property
    def _secrets(self) -> tuple[str, str]:
        return f"{self.prefix_env}_ACCOUNT_KEY", f"{self.prefix_env}_SAS_TOKEN"

    @property
    def root(self) -> str:
        """The container's address."""
        return f"az://{self.container}"

    @property
    def server(self) -> str:
        """The container's address, which names the account."""
        return f"abfss://{self.container}@{self.account}.dfs.core.windows.net"

    @property
    def variables(self) -> tuple[Collection[str | None], tuple[str, ...]]:
        """The named variables, and what Azure's default credentials look for."""
        return {*self._secrets, "IDENTITY_ENDPOINT", "IDENTITY_HEADER"}, ("AZURE_", "MSI_")

    def address_of(self, table_id: str, location: str, format: str) -> TableAddress:  # noqa: A002, ARG002
        """Return the object's path in its account, and its `abfss://` address."""
        file, _ = split_inside(location, format)
        uri = f"{self.server}/{file.removeprefix(f'{self.root}/')}"
        name = f"{self.account}/{location.removeprefix('az://')}"
        return TableAddress(name, uri, ("azure", format))

    def file_system(self, environ: Mapping[str, str]) -> Callable[[], Any]:
        """Return what signs in by key, by token, or as this machine does."""
        secrets = (environ.get(name) or None for name in self._secrets)
        return partial(_azure_file_system, self.account, self.endpoint_url, *secrets)


def _azure_file_system(
    account: str, endpoint_url: str | None, key: str | None, token: str | None
) -> Any:
    with extra_for("a source of type azure", SourceError):
        from adlfs import AzureBlobFileSystem
    if endpoint_url is not None:
        server = f"DefaultEndpointsProtocol={endpoint_url.partition(':')[0]};"
        server += f"AccountName={account};BlobEndpoint={endpoint_url};"
        secret = f"AccountKey={key};" if key else f"SharedAccessSignature={token or ''};"
        return AzureBlobFileSystem(connection_string=server + secret, skip_instance_cache=True)
    return AzureBlobFileSystem(
        account_name=account, account_key=key, sas_token=token, anon=False,
        skip_instance_cache=True,
    )  # fmt: skip
