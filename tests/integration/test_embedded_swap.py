"""Two embedded indexes change places again and again while threads of other processes ask."""

import multiprocessing
import threading
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from pneuma_assets.core.config.index import IndexConfig
from pneuma_assets.core.errors import IndexMismatchError
from pneuma_assets.core.index.base import IndexQuery
from pneuma_assets.core.index.registry import (
    begin_rebuild,
    inspect_index,
    open_index,
    publish_index,
)
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock
from tests.support.index_blocks import replace_blocks
from tests.support.waiting import LONGEST

pytestmark = [pytest.mark.integration, pytest.mark.slow]

SWAPS = 60
READERS, THREADS = 2, 3
TABLES, BLOCKS = 4, 5
ENCODERS = ("a", "b")
CONFIG = IndexConfig()


def blocks(table_id: str) -> list[EmbeddedBlock]:
    texts = [f"lake {number} of {table_id}" for number in range(BLOCKS)]
    vector = np.full(4, 0.5, np.float32)
    return [EmbeddedBlock(Block(table_id, DocumentKind.ROWS, text), vector) for text in texts]


def build(home: Path, encoder: str) -> None:
    """Make the index that this encoder built, as runs do: beside the other one, if there is one."""
    begin_rebuild(CONFIG, home, encoder, 4)
    with closing(open_index(CONFIG, home, encoder, 4, building=True)) as index:
        for number in range(TABLES):
            table_id = f"{encoder}/{number}"
            replace_blocks(index, {table_id: blocks(table_id)})


def ask(home: Path, told, counts) -> None:
    """Ask with an index that stays open, in threads, until told to end; count whose answered."""
    seen = dict.fromkeys(ENCODERS, 0)
    failures: list[BaseException] = []

    def go_on() -> None:
        try:
            while not told.is_set():
                ask_once()
        except BaseException as error:  # noqa: BLE001 (raised below)
            failures.append(error)
            told.set()

    def ask_once() -> None:
        for encoder in ENCODERS:
            try:
                if encoder not in shared:
                    shared[encoder] = open_index(CONFIG, home, encoder, 4)
                index = shared[encoder]
                assert index.list_tables() == {f"{encoder}/{n}": BLOCKS for n in range(TABLES)}
                (hits,) = index.search([IndexQuery("lake", None)], 100)
                assert {hit.block.table_id[0] for hit in hits.lexical} == {encoder}
                assert len(hits.lexical) == TABLES * BLOCKS
            except IndexMismatchError:  # the other's turn
                continue
            seen[encoder] += 1

    shared: dict[str, object] = {}
    threads = [threading.Thread(target=go_on) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts.send((seen, [f"{type(error).__name__}: {error}" for error in failures]))


def test_readers_see_the_one_or_the_other_and_never_an_error(tmp_path):
    build(tmp_path, "a")
    spawn = multiprocessing.get_context("spawn")
    told = spawn.Event()
    pipes = [spawn.Pipe(duplex=False) for _ in range(READERS)]
    readers = [spawn.Process(target=ask, args=(tmp_path, told, tell)) for _, tell in pipes]
    for reader in readers:
        reader.start()
    for swap in range(SWAPS):
        encoder = ENCODERS[(swap + 1) % 2]
        build(tmp_path, encoder)
        assert publish_index(CONFIG, tmp_path, encoder, 4, TABLES)
        info = inspect_index(CONFIG, tmp_path)
        assert (info.encoder, info.tables, info.health) == (encoder, TABLES, "green")
        assert [path.name for path in tmp_path.iterdir()] == ["index"]
    told.set()
    for (heard, _), reader in zip(pipes, readers, strict=True):
        assert heard.poll(LONGEST)
        seen, failures = heard.recv()
        reader.join()
        assert failures == []
        assert all(seen.values())
