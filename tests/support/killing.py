"""Killing processes that write an index, at random moments, for the crash tests of every engine.

Moments are counted in commits and in parts of a commit's own time, and kills go on until enough
of each kind were seen, so a slow machine sees the same as a fast one.
"""

import multiprocessing
import random
import time
from collections.abc import Callable
from contextlib import closing
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from typing import NamedTuple

from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.index.elastic.engine import ElasticsearchIndex
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from tests.support.index_blocks import replace_blocks
from tests.support.versioned_tables import all_at, versions_found

TABLES = [f"s/{n}" for n in range(12)]
"""What the writers replace, all at once, again and again."""
UNTOUCHED = [f"s/untouched{n}" for n in range(3)]
"""What they leave alone, at version 1."""

KILLS = 20
"""At least so many."""
ENOUGH = 6
"""At least so many of them after a commit, and so many within a write."""
MOST = 400

Opener = Callable[[], SearchIndex]
"""Opens the index; processes take it along, so it must be picklable."""


class Said(NamedTuple):
    """What a writer tells: it begins to write a version, or it was promised that this is kept."""

    version: int
    promised: bool


def write_for_ever(open_index: Opener, version: int, told: Connection) -> None:
    """Replace all tables again and again, saying what has been promised durable."""
    index = open_index()
    while True:
        version += 1
        tables = all_at(TABLES, version)
        told.send(Said(version, promised=False))
        replace_blocks(index, tables)
        told.send(Said(version, promised=True))
        if version % 4 == 0:
            index.delete_tables(TABLES[:3])
            index.optimise()


def kill_writers(
    reader: SearchIndex, open_index: Opener, unfinished: Callable[[], int] | None = None
) -> None:
    """Kill writers until enough died in each way; after each, every table must be old or new.

    Args:
        reader: Open all the time; must see the same as one that opens after the kill.
        open_index: Opens the same index, for writers and for such readers.
        unfinished: Counts the writes that were begun and not ended, as the index knows them; else
            those that the writers have told count.
    """
    replace_blocks(reader, all_at(UNTOUCHED, 1))
    started = time.monotonic()
    replace_blocks(reader, all_at(TABLES, 0))
    one_turn = time.monotonic() - started
    health = reader.info().health
    context, chance = _context(), random.Random(7)
    promised = kills = after_commit = within_write = 0
    while min(kills - KILLS, after_commit - ENOUGH, within_write - ENOUGH) < 0:
        assert kills < MOST, f"{after_commit} after a commit, {within_write} within a write"
        said = _killed(
            context, open_index, promised, chance.randint(0, 2), chance.random() * one_turn
        )
        kills += 1
        after_commit += any(one.promised for one in said)
        within_write += not said[-1].promised
        promised = max([promised, *(one.version for one in said if one.promised)])
        versions = _seen(reader, open_index)
        assert reader.info().health == health
        # What was promised is there; what came after it is there as a whole or not at all.
        assert len(set(versions.values())) <= 1
        assert set(versions.values()) <= {promised, promised + 1}
        promised = max([promised, *versions.values()])
        if unfinished is not None:
            within_write = unfinished()


def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([ElasticsearchIndex.__module__, EmbeddedIndex.__module__])
    return context


def _killed(
    context: ForkServerContext, open_index: Opener, version: int, commits: int, pause: float
) -> list[Said]:
    """Kill a writer when it has begun, committed so often, and gone on for so long."""
    told, tell = context.Pipe(duplex=False)
    writer = context.Process(target=write_for_ever, args=(open_index, version, tell))
    writer.start()
    tell.close()
    said = [told.recv() for _ in range(1 + 2 * commits)]
    time.sleep(pause)
    writer.kill()
    writer.join()
    return said + _drained(told)


def _drained(told: Connection) -> list[Said]:
    """Return everything else that a killed process had said."""
    said = []
    try:
        while told.poll(0):
            said.append(told.recv())
    except (EOFError, OSError):  # killed while it spoke
        pass
    return said


def _seen(reader: SearchIndex, open_index: Opener) -> dict[str, int]:
    """Return each table's version as the reader sees it, the same as one that opens now."""
    versions = versions_found(reader)
    with closing(open_index()) as again:
        assert versions_found(again) == versions
    for table_id in UNTOUCHED:
        assert versions.pop(table_id) == 1
    return versions
