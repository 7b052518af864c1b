"""What fsspec speaks to keeps the contract, tried on its own file systems through the same code."""

from pathlib import Path
from typing import Any, ClassVar, Literal

import fsspec
import pytest

from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.sources.files.object_store import ObjectStorage
from pneuma_assets.core.sources.files.source import FileSource
from tests.conformance.sources.suite import SourceConformance
from tests.conformance.sources.test_folder import FolderLake


class LocalStoreConfig(SourceConfig):
    """A folder as if it were a store far away."""

    lists_without_reading: ClassVar[bool] = True
    type: Literal["local_store"] = "local_store"
    path: Path

    @property
    def location(self) -> str:
        return str(self.path)

    def open(self, environ: Any) -> FileSource:
        def make() -> Any:
            return fsspec.filesystem("dir", path=str(self.path), fs=fsspec.filesystem("file"))

        return FileSource(self.name, ObjectStorage("local", "bucket/data", make))


class RemoteLake(FolderLake):
    """Objects under a prefix."""

    def __init__(self, folder: Path, extension: str) -> None:
        (folder / "bucket").mkdir(parents=True)
        super().__init__(folder / "bucket" / "data", extension)
        self.config = LocalStoreConfig(name="s", path=folder)

    def vanish(self) -> None:
        self.folder.parent.rename(self.folder.parent.with_name("gone"))


class RemoteConformance(SourceConformance):
    extension = "csv"

    @pytest.fixture
    def lake(self, tmp_path):
        return RemoteLake(tmp_path / "lake", self.extension)


class TestStoreOfCsv(RemoteConformance):
    """Text is copied here."""


class TestStoreOfParquet(RemoteConformance):
    """Columns are read by ranges."""

    extension = "parquet"
