"""`type: iceberg`: the tables of an Iceberg catalogue."""

import re
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self
from urllib.parse import quote, urlsplit

from pydantic import AfterValidator, Field, model_validator

from pneuma_assets.core.config.secrets import Url, VariableName, read_secret, sounds_secret
from pneuma_assets.core.config.sources import SourceConfig, TableAddress
from pneuma_assets.core.config.values import LocalPath
from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.extras import extra_for
from pneuma_assets.core.sources.names import escape, unescape

if TYPE_CHECKING:
    from pneuma_assets.core.sources.files.iceberg_catalog import IcebergCatalogSource

_PROPERTY = re.compile(r"[a-z0-9][a-z0-9._-]{0,127}", re.IGNORECASE)
_OWN = frozenset({"type", "uri", "warehouse"})
_SEEN = (
    "AWS_",
    "GOOGLE_",
    "AZURE_",
    "SSL_CERT_",
    "REQUESTS_CA_BUNDLE",
    "HTTP_PROXY",
    "HTTPS_PROXY",
)
"""How variables begin by which the libraries that read object stores find keys and servers."""


def _address(value: str) -> str:
    """Check the form of a catalogue's address."""
    try:
        parts = urlsplit(value)
    except ValueError:
        parts = None
    if parts is None or not parts.scheme or not value.isprintable():
        raise ValueError("must be an address, such as https://catalog.internal")
    return value


def _names(value: Mapping[str, str]) -> Mapping[str, str]:
    for name in value:
        if not _PROPERTY.fullmatch(name) or name.startswith("py-") or name in _OWN:
            raise ValueError(f"{name[:50]!r} is no property of a catalogue that can be set here")
    return value


def _public(value: Mapping[str, str]) -> Mapping[str, str]:
    for name in value:
        if sounds_secret(name):
            raise ValueError(
                f"{name[:50]!r} holds a secret; name the environment variable that has it under "
                "properties_env"
            )
    return value


_Pattern = Annotated[str, Field(min_length=1, max_length=512)]


class IcebergSourceConfig(SourceConfig):
    """The tables of an Iceberg catalogue: REST, Glue, or a SQL database."""

    technologies: ClassVar[frozenset[str]] = frozenset({"iceberg"})

    type: Literal["iceberg"] = "iceberg"
    catalog: Literal["rest", "glue", "sql"]
    catalog_name: str | None = Field(
        None, description="By which a SQL database tells its catalogues apart; the source's name."
    )
    uri: Annotated[Url, AfterValidator(_address)] | None = Field(
        None, description="Of the REST server, or the SQL database as SQLAlchemy spells it."
    )
    uri_password_env: VariableName | None = Field(
        None, description="Names the variable with the SQL database's password."
    )
    warehouse: Url | None = Field(None, description="As the catalogue calls it.")
    local_files: LocalPath | None = Field(
        None,
        description="The folder of this machine that its tables' files may lie in; the warehouse, "
        "where that is one.",
    )
    properties: Annotated[Mapping[str, Url], AfterValidator(_names), AfterValidator(_public)] = (
        Field({}, description="pyiceberg's, of catalogue and files; no secrets.")
    )
    properties_env: Annotated[Mapping[str, VariableName], AfterValidator(_names)] = Field(
        {}, description="Secret properties: the variable that holds each."
    )
    include: tuple[_Pattern, ...] = Field(
        (), description="Patterns of namespace.table; none: all tables."
    )
    exclude: tuple[_Pattern, ...] = Field((), description="Patterns that are left out.")

    @model_validator(mode="after")
    def _has_an_address(self) -> Self:
        """Ask for what a kind of catalogue cannot do without."""
        if self.catalog != "glue" and self.uri is None:
            raise ValueError(f"uri: is needed for a catalogue of the kind {self.catalog}")
        return self

    @property
    def location(self) -> str:
        """The catalogue's address."""
        return f"{self.catalog}:{self.uri or 'AWS Glue'}"

    @property
    def variables(self) -> tuple[Collection[str | None], tuple[str, ...]]:
        """The named variables, and those by which object stores are reached."""
        return {*self.properties_env.values(), self.uri_password_env}, _SEEN

    def catalog_properties(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return what pyiceberg needs, secrets among it.

        Raises:
            ConfigError: A variable that should hold a secret is not set.
        """
        uri = self.uri
        if uri is not None and self.uri_password_env is not None:
            parts = urlsplit(uri)
            user, _, server = parts.netloc.rpartition("@")
            password = quote(self._secret(environ, self.uri_password_env), safe="")
            uri = parts._replace(netloc=f"{user}:{password}@{server}").geturl()
        secrets = {name: self._secret(environ, one) for name, one in self.properties_env.items()}
        places = {"warehouse": self.warehouse, "uri": uri}
        given = {name: place for name, place in places.items() if place is not None}
        return {**self.properties, "type": self.catalog, **secrets, **given}

    def _local_warehouse(self) -> Path | None:
        path = re.sub("^file:(//)?", "", self.warehouse or "", flags=re.IGNORECASE)
        return Path(path) if path.startswith("/") else None

    def _secret(self, environ: Mapping[str, str], variable: str) -> str:
        return read_secret(environ, variable, f"source {self.name!r}", "a secret of its catalogue")

    def address_of(self, table_id: str, location: str, format: str) -> TableAddress:  # noqa: A002
        """Return the name with its namespaces, and where the table's files are."""
        name = ".".join(escape(unescape(part)) for part in table_id.split("/")[1:])
        return TableAddress(name, location.rpartition("#")[0], (format,))

    def open(self, environ: Mapping[str, str]) -> "IcebergCatalogSource":
        """Return what reads the catalogue, which is reached with its first call.

        Raises:
            ConfigError: A variable that should hold a secret is not set.
        """
        with extra_for("a source of type iceberg", SourceError):
            from pneuma_assets.core.sources.files.iceberg_catalog import (
                IcebergCatalogSource,
                connect,
            )

        properties = self.catalog_properties(environ)
        name = self.catalog_name or self.name
        connecting = partial(connect, name, properties, self.local_files or self._local_warehouse())
        return IcebergCatalogSource(self.name, connecting, self.include, self.exclude)
