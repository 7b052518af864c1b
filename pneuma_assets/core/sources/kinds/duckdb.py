"""`type: duckdb`: the tables and views of one DuckDB database file."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal
from urllib.parse import quote

from pydantic import Field

from pneuma_assets.core.config.sources import SourceConfig, TableAddress
from pneuma_assets.core.config.values import LocalPath
from pneuma_assets.core.sources.names import escape, unescape

if TYPE_CHECKING:
    from pneuma_assets.core.sources.duckdb.database import DuckDBFileSource


_RESERVED = frozenset({"main", "system", "temp"})


def database_name(path: Path) -> str:
    """Return the name that DuckDB gives the database in a file, without opening the file.

    That is the file's name up to its first dot or question mark, with `_db` after the names of
    DuckDB's own.
    """
    name = re.split(r"[/\\]", str(path))[-1]
    for mark in (".", "?"):
        name = next(filter(None, name.split(mark)), name)
    return f"{name}_db" if name.lower() in _RESERVED else name


class DuckDBSourceConfig(SourceConfig):
    """The tables and views of one DuckDB database file, opened read-only."""

    technologies: ClassVar[frozenset[str]] = frozenset({"duckdb"})

    type: Literal["duckdb"] = "duckdb"
    path: LocalPath = Field(description="The database file; relative to the deployment file.")
    external_views: bool = Field(
        False, description="Whether its views may read whatever this user can read."
    )

    @property
    def location(self) -> str:
        """The file's path."""
        return str(self.path)

    @property
    def sql_dialect(self) -> str:
        """DuckDB's."""
        return "duckdb"

    def address_of(self, table_id: str, location: str, format: str) -> TableAddress:  # noqa: A002, ARG002
        """Return database, schema and table as DuckDB names them, and where in the file it is."""
        _, *names = table_id.split("/")
        inside = [unescape(name) for name in names]
        at = ".".join(quote(name, safe="", errors="surrogateescape") for name in inside)
        return TableAddress(
            ".".join(escape(name) for name in (database_name(self.path), *inside)),
            f"{self.path.absolute().as_uri()}#{at}",
            ("duckdb", *({format} - {"table"})),
        )

    def open(self, environ: Mapping[str, str]) -> "DuckDBFileSource":  # noqa: ARG002 (it has no secrets)
        """Return what reads the file."""
        from pneuma_assets.core.sources.duckdb.database import DuckDBFileSource

        return DuckDBFileSource(self.name, self.path, external_views=self.external_views)
