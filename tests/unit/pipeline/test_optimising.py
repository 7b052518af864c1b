"""Compacting an index: what it gives back, and what it refuses."""

from contextlib import closing

import numpy as np
import pytest

from pneuma_assets.core.errors import IndexDamagedError
from pneuma_assets.core.index.base import TableContents
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.pipeline.optimise import optimise_index
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock
from tests.support.index_blocks import file_of


@pytest.fixture
def index(tmp_path):
    made = EmbeddedIndex(tmp_path / "index", "encoder", 4)
    vector = np.full(4, 0.5, np.float32)
    contents = {}
    for number in range(400):
        text = f"{number} " * 300
        block = EmbeddedBlock(Block(f"lake/t{number}", DocumentKind.ROWS, text), vector)
        contents[f"lake/t{number}"] = TableContents([block])
    made.replace_tables(contents)
    yield made
    made.close()


def test_the_room_of_removed_tables_is_given_back(index):
    index.delete_tables([f"lake/t{number}" for number in range(1, 400)])
    done = optimise_index(index)
    assert (done["blocks before"], done["blocks after"], done["tables"]) == (1, 1, 1)
    assert done["MB after"] < done["MB before"] / 2
    assert done["seconds"] >= 0


def test_a_damaged_index_is_left_as_it_is(index, tmp_path):
    index.optimise()
    index.close()
    file = file_of(tmp_path / "index")
    data = bytearray(file.read_bytes())
    at = data.find(b"7 7 7 7 7 7")
    data[at : at + 1] = b"8"
    file.write_bytes(data)
    again = EmbeddedIndex(tmp_path / "index", "encoder", 4)
    with pytest.raises(IndexDamagedError), closing(again):
        optimise_index(again)
    assert file.read_bytes() == bytes(data)
