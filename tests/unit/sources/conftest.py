"""A folder that is a source."""

import pytest

from tests.support.lake_tables import source_of_folder


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "lake").mkdir()
    return tmp_path / "lake"


@pytest.fixture
def lake(folder):
    source = source_of_folder(folder)
    yield source
    source.close()
