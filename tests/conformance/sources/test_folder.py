"""A folder keeps the contract, whatever the format of its files."""

import shutil
from pathlib import Path
from typing import ClassVar

import pytest

from pneuma_assets.core.sources.kinds.folder import FolderSourceConfig
from tests.conformance.sources.files import DAMAGED, WRITERS
from tests.conformance.sources.suite import SourceConformance
from tests.conformance.sources.support import Columns, people


class FolderLake:
    """Files of one format in one folder; what people write lies beside them."""

    environ: ClassVar[dict[str, str]] = {}

    def __init__(self, folder: Path, extension: str) -> None:
        folder.mkdir()
        self._folder = folder
        self._extension = extension
        self.config = FolderSourceConfig(name="s", path=folder)

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.{self._extension}"

    def write(self, name: str, columns: Columns) -> None:
        self._file(name).write_bytes(WRITERS[self._extension](columns))

    def write_beside(self, name: str) -> None:
        """Write the format that comes first wherever two files have a stem."""
        first = "pq" if self._extension == "parquet" else "parquet"
        (self._folder / f"{name}.{first}").write_bytes(WRITERS["parquet"](people(3)))

    def describe(self, name: str, text: str) -> None:
        (self._folder / f"{name}.md").write_text(text, encoding="utf-8")

    def damage(self, name: str) -> None:
        self._file(name).write_bytes(DAMAGED)

    def delete(self, name: str) -> None:
        self._file(name).unlink()

    def vanish(self) -> None:
        shutil.rmtree(self._folder)


class FolderConformance(SourceConformance):
    extension = "csv"

    @pytest.fixture
    def lake(self, tmp_path):
        return FolderLake(tmp_path / "lake", self.extension)


class TestFolderOfCsv(FolderConformance):
    """Also what text has in common: encodings and dialects have tests of their own."""


class TestFolderOfParquet(FolderConformance):
    extension = "parquet"


@pytest.mark.slow
class TestFolderOfJsonLines(FolderConformance):
    extension = "jsonl"
    has_empty_tables = False
