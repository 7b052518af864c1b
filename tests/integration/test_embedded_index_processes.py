"""Several processes write and read one embedded index at once."""

import multiprocessing
from contextlib import closing
from functools import partial
from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path

import numpy as np
import pytest

from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.base import IndexQuery
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock
from tests.support import versioned_tables
from tests.support.index_blocks import replace_blocks
from tests.support.killing import TABLES, UNTOUCHED, kill_writers
from tests.support.versioned_tables import all_at, versions_found

pytestmark = pytest.mark.integration

ROUNDS = 25
BLOCKS = 10
DIMENSION = 64
VECTOR = np.full(DIMENSION, DIMENSION**-0.5, np.float32)


def open_index(folder: Path) -> EmbeddedIndex:
    return EmbeddedIndex(folder, "m", DIMENSION)


def blocks(table_id: str, writer: str, turn: int) -> list[EmbeddedBlock]:
    texts = (f"lake {writer} {turn} {n}" for n in range(BLOCKS))
    return [EmbeddedBlock(Block(table_id, DocumentKind.ROWS, text), VECTOR) for text in texts]


def write(folder: Path, writer: str, enough: Event, told: Connection) -> None:
    """Replace a table of its own, a shared one, and delete one now and then.

    Goes on until a reader has seen enough, and tells its last turn.
    """
    index = open_index(folder)
    for turn in count():
        replace_blocks(index, {t: blocks(t, writer, turn) for t in (f"s/{writer}", "s/shared")})
        replace_blocks(index, {f"s/brief-{writer}": blocks(f"s/brief-{writer}", writer, turn)})
        index.delete_tables([f"s/brief-{writer}"])
        if turn % 10 == 9:
            index.optimise()
        if turn >= ROUNDS and enough.is_set():
            break
    index.close()
    told.send(turn)


def look(index: EmbeddedIndex) -> None:
    """Fail if any table is seen half, or as a mixture of two writers."""
    hits = index.search([IndexQuery("lake", VECTOR)], limit=1000)[0]
    for side in (hits.lexical, hits.semantic):
        origins: dict[str, list[str]] = {}
        for hit in side:
            origins.setdefault(hit.block.table_id, []).append(hit.block.text.rsplit(" ", 1)[0])
        for table_id, found in origins.items():
            assert len(found) == BLOCKS, table_id
            assert len(set(found)) == 1, table_id
    assert len(hits.lexical) == len(hits.semantic)


@pytest.mark.slow
def test_two_writers_and_a_reader(tmp_path):
    spawn = multiprocessing.get_context("spawn")
    # The first to come create the file, at the same time.
    enough, last = spawn.Event(), {name: spawn.Pipe(duplex=False) for name in ("one", "two")}
    writers = [
        spawn.Process(target=write, args=(tmp_path, name, enough, tell))
        for name, (_, tell) in last.items()
    ]
    for process in writers:
        process.start()
    reader = open_index(tmp_path)
    looks = 0
    while any(process.is_alive() for process in writers):
        look(reader)
        looks += bool(reader.list_tables())
        if looks > 10:
            enough.set()
    for process in writers:
        process.join()
        assert process.exitcode == 0
    look(reader)
    assert reader.list_tables() == dict.fromkeys(["s/one", "s/shared", "s/two"], BLOCKS)
    for name, (told, _) in last.items():
        turn = told.recv()
        texts = [item.block.text for item in reader.blocks([f"s/{name}"])]
        assert all(text.startswith(f"lake {name} {turn} ") for text in texts)
    assert reader.info().health == "green"
    reader.close()


def hold_lock(folder: Path, held, release) -> None:
    index = open_index(folder)
    with index._opened[0].writing():
        held.set()
        release.wait()


def test_readers_go_on_while_another_process_holds_the_lock(tmp_path):
    spawn = multiprocessing.get_context("spawn")
    index = EmbeddedIndex(tmp_path, "m", DIMENSION, lock_timeout=0.3)
    replace_blocks(index, {"s/t": blocks("s/t", "one", 1)})
    held, release = spawn.Event(), spawn.Event()
    holder = spawn.Process(target=hold_lock, args=(tmp_path, held, release))
    holder.start()
    held.wait()
    look(index)
    look(open_index(tmp_path))
    with pytest.raises(SearchIndexError, match="locked by another process"):
        replace_blocks(index, {"s/t": []})
    release.set()
    holder.join()
    replace_blocks(index, {"s/t": []})
    assert index.list_tables() == {"s/t": 0}


def open_versioned(folder: Path) -> EmbeddedIndex:
    return EmbeddedIndex(folder, versioned_tables.ENCODER, versioned_tables.DIMENSION)


@pytest.mark.slow
def test_a_killed_writer_leaves_old_or_new(tmp_path):
    with closing(open_versioned(tmp_path)) as reader:
        assert reader.info().health == "green"
        kill_writers(reader, partial(open_versioned, tmp_path))
        replace_blocks(reader, all_at(TABLES, 9999))
        wanted = dict.fromkeys(TABLES, 9999) | dict.fromkeys(UNTOUCHED, 1)
        assert versions_found(reader) == wanted
