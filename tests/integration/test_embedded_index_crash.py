"""A writer killed at any moment leaves every table as it was before or after."""

import multiprocessing
import random
import time
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pytest

from pneuma_assets.core.index.base import IndexQuery
from pneuma_assets.core.index.embedded import EmbeddedIndex
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock

pytestmark = [pytest.mark.integration, pytest.mark.slow]

KILLS = 20
TABLES = [f"s/{n}" for n in range(12)]
BLOCKS = 25
DIMENSION = 64


def version_of_table(table_id: str, version: int) -> list[EmbeddedBlock]:
    """Return blocks that all say to which version of the table they belong."""
    vectors = np.random.default_rng(version).standard_normal((BLOCKS, DIMENSION))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return [
        EmbeddedBlock(
            Block(table_id, DocumentKind.ROWS, f"lake version{version} block {n} " + "word " * 40),
            vector.astype(np.float32),
        )
        for n, vector in enumerate(vectors)
    ]


def open_index(folder: Path) -> EmbeddedIndex:
    return EmbeddedIndex(folder, "m", DIMENSION)


def write_for_ever(folder: Path, version: int, told: Connection) -> None:
    """Replace all tables again and again, saying which version has been promised durable."""
    index = open_index(folder)
    while True:
        version += 1
        index.replace_tables({t: version_of_table(t, version) for t in TABLES})
        told.send(version)
        if version % 4 == 0:
            index.delete_tables(TABLES[:3])
            index.optimise()


def versions_found(index: EmbeddedIndex) -> set[int]:
    """Check that no table is mixed and that both sides and the texts agree; return versions."""
    counts = index.list_tables()
    versions = set()
    for table_id, count in counts.items():
        assert count == BLOCKS
        stored = list(index.blocks([table_id]))
        found = {int(item.block.text.split()[1].removeprefix("version")) for item in stored}
        assert len(found) == 1, f"{table_id} is mixed: {found}"
        versions |= found
        (version,) = found
        expected = {i.block: i.vector for i in version_of_table(table_id, version)}
        assert {item.block for item in stored} == expected.keys()
        assert all(np.array_equal(item.vector, expected[item.block]) for item in stored)
    everything = IndexQuery("lake", version_of_table("s/0", 1)[0].vector)
    hits = index.search([everything], limit=10_000)[0]
    assert len(hits.lexical) == len(hits.semantic) == sum(counts.values())
    assert index.info().health == "green"
    return versions


@pytest.mark.timeout(180)
def test_a_killed_writer_leaves_old_or_new(tmp_path):
    spawn = multiprocessing.get_context("spawn")
    chance = random.Random(7)
    open_index(tmp_path).close()
    reader = open_index(tmp_path)
    promised, seen = 0, set()
    for _ in range(KILLS):
        told, tell = spawn.Pipe(duplex=False)
        writer = spawn.Process(target=write_for_ever, args=(tmp_path, promised, tell))
        writer.start()
        tell.close()
        promised = told.recv()  # it has begun
        time.sleep(chance.uniform(0, 0.12))
        writer.kill()
        writer.join()
        promised = max([promised, *drain(told)])
        versions = versions_found(reader)  # open all the time
        again = open_index(tmp_path)
        assert versions_found(again) == versions
        again.close()
        # What was promised is there; what came after it is there as a whole or not at all.
        assert versions <= {promised, promised + 1}
        seen |= {max(versions) - promised}
    assert 0 in seen
    reader.replace_tables({t: version_of_table(t, 9999) for t in TABLES})
    assert versions_found(reader) == {9999}
    reader.close()


def drain(told: Connection) -> list[int]:
    """Return everything the killed process had said."""
    said = []
    try:
        while told.poll(0):
            said.append(told.recv())
    except EOFError:
        pass
    return said
