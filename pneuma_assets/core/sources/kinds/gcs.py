"""`type: gcs`: the table files under one prefix of a Google Cloud Storage bucket."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from pneuma_assets.core.config.secrets import EndpointUrl, VariableName
from pneuma_assets.core.config.sources import SourceConfig, TableAddress
from pneuma_assets.core.errors import ConfigError, SourceError
from pneuma_assets.core.extras import extra_for
from pneuma_assets.core.sources.files.names import lies_below, split_inside

if TYPE_CHECKING:
    from pneuma_assets.core.sources.files.source import FileSource


class GcsSourceConfig(SourceConfig):
    """The table files under one prefix of a Google Cloud Storage bucket."""

    lists_without_reading: ClassVar[bool] = True
    technologies: ClassVar[frozenset[str]] = frozenset({"duckdb", "googlecloud"})

    type: Literal["gcs"] = "gcs"
    bucket: str = Field(min_length=3, max_length=222, pattern=r"^[a-z0-9][a-z0-9._-]*$")
    prefix: str = ""
    project: str | None = Field(None, description="Who pays; the credentials' own by default.")
    endpoint_url: EndpointUrl | None = Field(None, description="Of an emulator.")
    credentials_file_env: VariableName = Field(
        "GOOGLE_APPLICATION_CREDENTIALS",
        description="Variable with the path of a key file; unset: what this machine has.",
    )
    anonymous: bool = Field(False, description="Whether to ask without credentials.")

    @property
    def location(self) -> str:
        """The address of the prefix."""
        return f"gs://{self.bucket}/{self.prefix}"

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return what Google's libraries look for."""
        return {
            name: value
            for name, value in environ.items()
            if name == self.credentials_file_env
            or name.startswith(("GOOGLE_", "GCE_", "CLOUDSDK_"))
        }

    def address_of(self, table_id: str, location: str, format: str) -> TableAddress:  # noqa: A002, ARG002
        """Return the object's path in its bucket, and its `gs://` address."""
        file, _ = split_inside(location, format)
        return TableAddress(location.removeprefix("gs://"), file, ("googlecloud", format))

    def holds(self, address: str) -> bool:
        """Tell whether an object lies below the prefix."""
        return lies_below(address, f"gs://{self.bucket}", self.prefix)

    def _token(self, environ: Mapping[str, str]) -> str:
        """Return what gcsfs calls a way to sign in; what is no file it would send as a token.

        Raises:
            ConfigError: There is no file at the path.
        """
        path = environ.get(self.credentials_file_env)
        if self.anonymous or not path:
            return "anon" if self.anonymous else "google_default"
        if not Path(path).is_file():
            raise ConfigError(
                f"source {self.name!r}: the environment variable {self.credentials_file_env} names "
                f"{path}, which is no file; it should hold the path of a key file"
            )
        return path

    def open(self, environ: Mapping[str, str]) -> "FileSource":
        """Return what reads the bucket; it is reached with the first call.

        Raises:
            ConfigError: The key file is not there.
        """
        from pneuma_assets.core.sources.files.object_store import ObjectStorage
        from pneuma_assets.core.sources.files.source import FileSource

        make = partial(_file_system, self.project, self.endpoint_url, self._token(environ))
        root = f"{self.bucket}/{self.prefix.strip('/')}"
        return FileSource(self.name, ObjectStorage("gs", root, make))


def _file_system(project: str | None, endpoint_url: str | None, token: str) -> Any:
    with extra_for("a source of type gcs", SourceError):
        # The package's own name stands for one that first asks by gRPC what kind of bucket it is,
        # for a minute where nobody answers; all kinds are listed and read in the same way.
        from gcsfs.core import GCSFileSystem
    return GCSFileSystem(
        project=project, endpoint_url=endpoint_url, token=token, skip_instance_cache=True,
        use_listings_cache=False,
    )  # fmt: skip
