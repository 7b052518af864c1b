"""`type: folder`: a folder tree of table files."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from pneuma_assets.core.config.sources import SourceConfig, TableAddress
from pneuma_assets.core.config.values import LocalPath
from pneuma_assets.core.sources.names import unescape

if TYPE_CHECKING:
    from pneuma_assets.core.sources.files.source import FileSource


class FolderSourceConfig(SourceConfig):
    """A folder tree of table files."""

    lists_without_reading: ClassVar[bool] = True
    technologies: ClassVar[frozenset[str]] = frozenset({"duckdb"})

    type: Literal["folder"] = "folder"
    path: LocalPath = Field(description="The folder; relative to the deployment file.")

    @property
    def location(self) -> str:
        """The folder's path."""
        return str(self.path)

    @property
    def folder(self) -> Path:
        """The folder itself."""
        return self.path

    def address_of(self, table_id: str, location: str, format: str) -> TableAddress:  # noqa: A002, ARG002
        """Return the file's path and its `file:` address."""
        return TableAddress(location, Path(unescape(location)).as_uri(), (format,))

    def open(self, environ: Mapping[str, str]) -> "FileSource":  # noqa: ARG002 (no secret is needed)
        """Return what reads the folder."""
        from pneuma_assets.core.sources.files.folder import FolderStorage
        from pneuma_assets.core.sources.files.source import FileSource

        return FileSource(self.name, FolderStorage(self.path))
