"""What fsspec speaks to keeps the contract, tried on its own file systems through the same code."""

from pathlib import Path
from typing import Any, ClassVar, Literal

import fsspec
import pytest

from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.sources.files.object_store import ObjectStorage
from pneuma_assets.core.sources.files.source import FileSource
from tests.conformance.sources.files import DAMAGED, WRITERS
from tests.conformance.sources.suite import SourceConformance
from tests.conformance.sources.support import Columns, people


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


class RemoteLake:
    """Objects of one format under a prefix; what people write lies beside them."""

    environ: ClassVar[dict[str, str]] = {}

    def __init__(self, folder: Path, extension: str) -> None:
        self._folder = folder
        self._extension = extension
        self._data = folder / "bucket" / "data"
        self._data.mkdir(parents=True)
        self.config = LocalStoreConfig(name="s", path=folder)

    def _file(self, name: str) -> Path:
        return self._data / f"{name}.{self._extension}"

    def write(self, name: str, columns: Columns) -> None:
        self._file(name).write_bytes(WRITERS[self._extension](columns))

    def write_beside(self, name: str) -> None:
        first = "pq" if self._extension == "parquet" else "parquet"
        (self._data / f"{name}.{first}").write_bytes(WRITERS["parquet"](people(3)))

    def describe(self, name: str, text: str) -> None:
        (self._data / f"{name}.md").write_text(text, encoding="utf-8")

    def damage(self, name: str) -> None:
        self._file(name).write_bytes(DAMAGED)

    def delete(self, name: str) -> None:
        self._file(name).unlink()

    def vanish(self) -> None:
        (self._folder / "bucket").rename(self._folder / "gone")


class RemoteConformance(SourceConformance):
    extension = "csv"

    @pytest.fixture
    def lake(self, tmp_path):
        return RemoteLake(tmp_path / "lake", self.extension)


class TestStoreOfCsv(RemoteConformance):
    """Text is copied here."""


@pytest.mark.slow
class TestStoreOfParquet(RemoteConformance):
    """Columns are read by ranges."""

    extension = "parquet"
