"""`type: folder`: a folder tree of table files."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal
from urllib.parse import quote, unquote

from pydantic import Field

from pneuma_assets.core.config.sources import SourceConfig, TableAddress
from pneuma_assets.core.config.values import LocalPath
from pneuma_assets.core.sources.files.names import split_inside
from pneuma_assets.core.sources.names import unescape

if TYPE_CHECKING:
    from pneuma_assets.core.sources.files.source import FileSource


class FolderSourceConfig(SourceConfig):
    """A folder tree of table files."""

    lists_without_reading: ClassVar[bool] = True
    technologies: ClassVar[frozenset[str]] = frozenset({"duckdb"})

    type: Literal["folder"] = "folder"
    path: LocalPath = Field(description="The folder; relative to the deployment file.")
    follow_links: bool = Field(
        False, description="Whether links may lead out of it, to whatever this user can read."
    )

    @property
    def location(self) -> str:
        """The folder's path."""
        return str(self.path)

    @property
    def folder(self) -> Path:
        """The folder itself."""
        return self.path

    def address_of(self, table_id: str, location: str, format: str) -> TableAddress:  # noqa: A002, ARG002
        """Return the file's path and its `file:` address; of a table inside it, with its name."""
        file, name = split_inside(location, format)
        uri = Path(unescape(file)).as_uri()
        if name:
            uri = f"{uri}#{quote(name, safe='', errors='surrogateescape')}"
        return TableAddress(location, uri, (format,))

    def holds(self, address: str) -> bool:
        """Tell whether a path or `file:` address lies in the folder, or is that of the folder."""
        path = unquote(address.removeprefix("file://")) if "://" in address else address
        return path == str(self.path) or path.startswith(f"{self.path}/")

    def open(self, environ: Mapping[str, str]) -> "FileSource":  # noqa: ARG002 (no secret is needed)
        """Return what reads the folder."""
        from pneuma_assets.core.sources.files.folder import FolderStorage
        from pneuma_assets.core.sources.files.source import FileSource

        return FileSource(self.name, FolderStorage(self.path, follow_links=self.follow_links))
