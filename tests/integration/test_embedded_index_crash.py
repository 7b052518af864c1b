"""A writer killed at any moment leaves every table as it was before or after."""

from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from tests.support.index_blocks import replace_blocks
from tests.support.killing import TABLES, UNTOUCHED, kill_writers
from tests.support.versioned_tables import DIMENSION, ENCODER, all_at, versions_found

pytestmark = [pytest.mark.integration, pytest.mark.slow]


def open_index(folder: Path) -> EmbeddedIndex:
    return EmbeddedIndex(folder, ENCODER, DIMENSION)


def test_a_killed_writer_leaves_old_or_new(tmp_path):
    with closing(open_index(tmp_path)) as reader:
        assert reader.info().health == "green"
        kill_writers(reader, partial(open_index, tmp_path))
        replace_blocks(reader, all_at(TABLES, 9999))
        wanted = dict.fromkeys(TABLES, 9999) | dict.fromkeys(UNTOUCHED, 1)
        assert versions_found(reader) == wanted
