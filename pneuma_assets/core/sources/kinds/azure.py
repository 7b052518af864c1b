"""`type: azure`: the table files under one prefix of an Azure Blob Storage container."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from pneuma_assets.core.config.secrets import EndpointUrl, VariableName
from pneuma_assets.core.config.sources import SourceConfig, TableAddress
from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.extras import extra_for
from pneuma_assets.core.sources.files.names import lies_below, split_inside

if TYPE_CHECKING:
    from pneuma_assets.core.sources.files.source import FileSource


class AzureSourceConfig(SourceConfig):
    """The table files under one prefix of a container (Blob Storage, Data Lake Gen2)."""

    lists_without_reading: ClassVar[bool] = True
    technologies: ClassVar[frozenset[str]] = frozenset({"duckdb", "azure"})

    type: Literal["azure"] = "azure"
    account: str = Field(min_length=3, max_length=24, pattern=r"^[a-z0-9]+$")
    container: str = Field(min_length=3, max_length=63, pattern=r"^[a-z0-9$][a-z0-9-]*$")
    prefix: str = ""
    endpoint_url: EndpointUrl | None = Field(None, description="Of an emulator, with the account.")
    account_key_env: VariableName = Field(
        "AZURE_STORAGE_ACCOUNT_KEY", description="Variable with the account's key."
    )
    sas_token_env: VariableName = Field(
        "AZURE_STORAGE_SAS_TOKEN",
        description="Variable with a SAS token; with neither set, Azure's default credentials.",
    )

    @property
    def location(self) -> str:
        """The address of the prefix."""
        return f"{self._server}/{self.prefix}"

    @property
    def _server(self) -> str:
        return f"abfss://{self.container}@{self.account}.dfs.core.windows.net"

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return the named variables, and what Azure's default credentials look for."""
        named = {self.account_key_env, self.sas_token_env, "IDENTITY_ENDPOINT", "IDENTITY_HEADER"}
        return {
            name: value
            for name, value in environ.items()
            if name in named or name.startswith(("AZURE_", "MSI_"))
        }

    def address_of(self, table_id: str, location: str, format: str) -> TableAddress:  # noqa: A002, ARG002
        """Return the object's path in its account, and its `abfss://` address."""
        file, _ = split_inside(location, format)
        start = f"az://{self.container}/"
        name = f"{self.account}/{location.removeprefix('az://')}"
        return TableAddress(name, f"{self._server}/{file.removeprefix(start)}", ("azure", format))

    def holds(self, address: str) -> bool:
        """Tell whether a blob lies below the prefix."""
        return lies_below(address, self._server, self.prefix)

    def open(self, environ: Mapping[str, str]) -> "FileSource":
        """Return what reads the container; it is reached with the first call."""
        from pneuma_assets.core.sources.files.object_store import ObjectStorage
        from pneuma_assets.core.sources.files.source import FileSource

        key, token = environ.get(self.account_key_env), environ.get(self.sas_token_env)
        make = partial(_file_system, self.account, self.endpoint_url, key or None, token or None)
        root = f"{self.container}/{self.prefix.strip('/')}"
        return FileSource(self.name, ObjectStorage("az", root, make))


def _file_system(account: str, endpoint_url: str | None, key: str | None, token: str | None) -> Any:
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
