"""The formats of a lake keep the contract, in a folder; each written by its own library."""

import shutil

import pytest
from deltalake import write_deltalake

from tests.conformance.sources.evidence import EvidenceConformance
from tests.conformance.sources.profiles import ProfileConformance
from tests.conformance.sources.sampling import SamplingConformance
from tests.conformance.sources.suite import SourceConformance
from tests.conformance.sources.support import Columns, arrow_table
from tests.conformance.sources.test_folder import FolderLake


class DeltaLake(FolderLake):
    """A folder a table."""

    def write(self, name: str, columns: Columns) -> None:
        # deltalake writes to no folder of any name, and such folders are moved and copied.
        elsewhere = self.folder.parent / "written"
        write_deltalake(elsewhere, arrow_table(columns))
        self.delete(name)
        elsewhere.rename(self.folder / name)

    def damage(self, name: str) -> None:
        self.delete(name)
        log = self.folder / name / "_delta_log"
        log.mkdir(parents=True)
        (log / f"{0:020}.json").write_text("{")

    def delete(self, name: str) -> None:
        shutil.rmtree(self.folder / name, ignore_errors=True)


@pytest.mark.slow
class TestFolderOfDelta(SourceConformance):
    @pytest.fixture
    def lake(self, tmp_path):
        return DeltaLake(tmp_path / "lake", "delta")


class Formats(ProfileConformance, SamplingConformance, EvidenceConformance):
    extension = ""

    @pytest.fixture
    def lake(self, tmp_path):
        return FolderLake(tmp_path / "lake", self.extension)


@pytest.mark.slow
class TestFolderOfOrc(Formats):
    extension = "orc"


@pytest.mark.slow
class TestFolderOfArrow(Formats):
    extension = "arrow"


@pytest.mark.slow
class TestFolderOfAvro(Formats):
    extension = "avro"
