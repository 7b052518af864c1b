"""A folder keeps the contract, whatever the format of its files."""

import shutil
from pathlib import Path

import pytest

from pneuma_assets.core.sources.kinds.folder import FolderSourceConfig
from tests.conformance.sources.files import FileLake
from tests.conformance.sources.suite import SourceConformance


class FolderLake(FileLake):
    """Files in one folder."""

    def __init__(self, folder: Path, extension: str) -> None:
        folder.mkdir()
        self.folder = folder
        self.extension = extension
        self.config = FolderSourceConfig(name="s", path=folder)

    def put(self, name: str, content: bytes) -> None:
        (self.folder / name).write_bytes(content)

    def remove(self, name: str) -> None:
        (self.folder / name).unlink()

    def vanish(self) -> None:
        shutil.rmtree(self.folder)


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
