"""All of an index is checked once for each state of its files, and again after any change."""

import os

import numpy as np
import pytest

from pneuma_assets.core.index.embedded import stats
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock
from tests.support.index_blocks import file_of, replace_blocks

VECTOR = np.array([1, 0, 0, 0], np.float32)


@pytest.fixture
def checks(monkeypatch):
    """Every check of all rows, which is carried out and counted."""
    made = []
    real = stats.check_everything

    def counted(connection, meta):
        made.append(meta.generation)
        real(connection, meta)

    monkeypatch.setattr(stats, "check_everything", counted)
    return made


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(stats, "_QUIET_NS", 0)


@pytest.fixture
def index(tmp_path):
    opened = EmbeddedIndex(tmp_path / "index", "m", 4)
    write(opened, "lake", "river")
    yield opened
    opened.close()


def write(index, *texts):
    blocks = [EmbeddedBlock(Block("s/t", DocumentKind.ROWS, text), VECTOR) for text in texts]
    replace_blocks(index, {"s/t": blocks})


def test_what_has_not_changed_is_not_read_again(index, checks, at_once):
    first = index.info()
    index.search([], limit=1)
    assert index.info() == first
    assert len(checks) == 1


def test_every_change_is_checked(index, tmp_path, checks, at_once):
    index.info()
    write(index, "lake", "pond")
    assert index.info().blocks == 2
    other = EmbeddedIndex(tmp_path / "index", "m", 4)
    write(other, "ocean")
    assert index.info().blocks == 1
    other.close()
    assert len(checks) == 3


def test_damage_after_a_check_is_found(index, tmp_path, at_once):
    write(index, *(f"pond {n} " + "x" * 2000 for n in range(3000)))  # more than SQLite remembers
    index.optimise()  # everything is in the one file
    assert index.info().usable
    path = file_of(tmp_path / "index")
    at = path.read_bytes().index(b"pond 1500 ")
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"Pond")
    os.utime(path, ns=(0, 1))  # even where the clock was set back
    assert not index.info().usable
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"pond")
    assert index.info().usable


def test_a_file_that_has_just_changed_is_checked_again(index, checks):
    write(index, "pond")
    index.info()
    index.info()
    assert len(checks) == 2
