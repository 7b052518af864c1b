"""A damaged index gives the true answers or names the damage, and a rebuild mends it.

PNEUMA_DAMAGED_PLACES=200 damages as many places instead of the few that every run damages.
"""

import random
import shutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pneuma_assets.core.config.index import IndexConfig
from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.base import IndexFilter, IndexQuery, TableContents
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.index.registry import begin_rebuild, inspect_index, open_index
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, TableTerms
from tests.support.damage import DAMAGES, places
from tests.support.index_blocks import file_of

pytestmark = pytest.mark.integration

PLACES = places(28)
DIMENSION = 48
WORDS = [f"word{n}" for n in range(400)]
KINDS = [DocumentKind.SCHEMA, DocumentKind.ROWS, DocumentKind.CONTEXT]


def made_tables(seed: int, count: int = 24) -> dict[str, list[EmbeddedBlock]]:
    chance = random.Random(seed)
    tables = {}
    for number in range(count):
        table_id = f"s{number % 3}/table{number}"
        tables[table_id] = [
            made_block(table_id, chance) for _ in range(chance.randrange(40 if number else 1))
        ]
    return tables


def made_block(table_id: str, chance: random.Random) -> EmbeddedBlock:
    words = chance.choice([20, 60, 80, 2000 if chance.random() < 0.1 else 90])
    text = " ".join(chance.choices(WORDS, k=words))
    return EmbeddedBlock(Block(table_id, chance.choice(KINDS), text), made_vector(chance))


def made_vector(chance: random.Random) -> np.ndarray:
    vector = np.array([chance.gauss(0, 1) for _ in range(DIMENSION)], np.float32)
    return vector / np.linalg.norm(vector)


def made_query(chance: random.Random) -> IndexQuery:
    words = chance.choices(WORDS, k=4)
    return IndexQuery(" ".join(words), made_vector(chance), " ".join(words[:2]))


def fill(index: EmbeddedIndex, tables: dict[str, list[EmbeddedBlock]]) -> None:
    """Make these all that the tables have, and evidence of the same words."""
    rows = {
        table_id: [tuple(one.block.text.split(" ", 3)[:3]) for one in blocks]
        for table_id, blocks in tables.items()
    }
    index.replace_tables(
        {
            i: TableContents(
                blocks,
                TableTerms((i,), ("a", "b", "c"), "word", "words", tuple(rows[i]), ("cell",)),
            )
            if blocks
            else TableContents(blocks)
            for i, blocks in tables.items()
        }
    )


CHANCE = random.Random(4)
QUERIES = [made_query(CHANCE) for _ in range(6)]
BEFORE, AFTER = made_tables(1), {"s1/table4": made_tables(2)["s1/table4"], "s0/table3": []}


def asking(index: EmbeddedIndex) -> dict[str, Callable[[], Any]]:
    """Return everything that can be asked of an index."""
    ids = [one.block.block_id for table in BEFORE.values() for one in table][::9]
    filters = {
        "all": IndexFilter(),
        "source": IndexFilter(sources=("s1", "s2")),
        "table": IndexFilter(tables=("s1/table4", "s2/table5", "s9/none")),
        "kind": IndexFilter(kinds=(KINDS[0],)),
    }
    asked: dict[str, Callable[[], Any]] = {
        name: lambda where=where: index.search(QUERIES, 7, where) for name, where in filters.items()
    }
    return asked | {
        "everything": lambda: index.search(QUERIES[:1], 10_000),
        "scores": lambda: index.scores(QUERIES[:2], [ids, [*ids, "0" * 32]]),
        "tables": index.list_tables,
        "table scores": lambda: index.table_scores(QUERIES[:2], [list(BEFORE), ["s1/table4"]]),
        "evidence": lambda: index.evidence([*BEFORE, "s9/none"]),
        "blocks": lambda: [(e.block, e.vector.tobytes()) for e in index.blocks()],
        "some blocks": lambda: [e.block for e in index.blocks(["s1/table4", "s0/none"])],
    }


def answers(index: EmbeddedIndex) -> dict[str, Any]:
    return {name: ask() for name, ask in asking(index).items()}


def open_embedded(home) -> EmbeddedIndex:
    return open_index(IndexConfig(), home, "m", DIMENSION, building=True)


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """Two copies of one index: closed in order, and as a killed writer leaves it."""
    home = tmp_path_factory.mktemp("sound")
    index = open_embedded(home / "closed")
    fill(index, made_tables(3))
    fill(index, BEFORE)
    index.optimise()
    fill(index, made_tables(6, 9))
    fill(index, dict(list(BEFORE.items())[:9]))
    shutil.copytree(home / "closed", home / "killed", ignore=shutil.ignore_patterns("*-shm"))
    index.close()
    return home


@pytest.fixture(scope="module")
def truth(sound):
    index = open_embedded(sound / "truth")
    fill(index, BEFORE)
    before = answers(index)
    fill(index, AFTER)
    after = answers(index)
    index.close()
    return before, after


def true_or_named(true: dict[str, Any], ask: Callable[[], EmbeddedIndex]) -> int:
    """Ask everything of an index, and return how often damage was named.

    Every question opens the index anew, so that one's error does not spare the others.
    """
    named = 0
    for name, expected in true.items():
        try:
            found = asking(ask())[name]()
        except SearchIndexError as error:
            named += names_remedy(error)
        else:
            assert same(found, expected), name
    return named


def names_remedy(error: SearchIndexError) -> bool:
    message = str(error)
    assert "--rebuild" in message
    assert "\n" not in message
    return True


def same(found: Any, true: Any) -> bool:
    """Compare answers; the order in which blocks were written is no part of one."""
    if isinstance(true, list) and true and isinstance(true[0], (tuple, Block)):
        return sorted(map(repr, found)) == sorted(map(repr, true))
    return bool(found == true)


@pytest.mark.parametrize("state", ["closed", "killed"])
def test_the_index_is_sound(sound, truth, state, tmp_path):
    shutil.copytree(sound / state, tmp_path / "copy")
    assert true_or_named(truth[0], lambda: open_embedded(tmp_path / "copy")) == 0


@pytest.mark.parametrize("place", range(PLACES))
def test_no_wrong_answer_and_a_rebuild_mends_it(sound, truth, tmp_path, place):
    chance = random.Random(f"place {place}")
    home = tmp_path / "home"
    shutil.copytree(sound / ("killed" if place % 3 == 2 else "closed"), home)
    readers = [open_embedded(home)] if place % 4 == 3 else []
    for reader in readers:
        assert reader.search(QUERIES[:1], 3)
    file = file_of(home / "index")
    log = file.with_name(f"{file.name}-wal")
    damaged = log if place % 6 == 5 and log.stat().st_size else file
    DAMAGES[place % len(DAMAGES)](damaged, chance)
    print("damaged" if is_named(home, truth, readers) else "unharmed", damaged.name)
    begin_rebuild(IndexConfig(), home, "m", DIMENSION)
    anew = open_embedded(home)
    fill(anew, BEFORE)
    for index in (anew, *readers):
        assert same(answers(index)["all"], truth[0]["all"])
    assert true_or_named(truth[0], lambda: open_embedded(home)) == 0
    assert anew.info().health == "green"


def is_named(home, truth, readers) -> bool:
    """Ask, look at the health and write; everything tells the truth or names the damage."""
    opened: list[EmbeddedIndex] = []

    def ask() -> EmbeddedIndex:
        opened.append(open_embedded(home))
        return opened[-1]

    try:
        named = true_or_named(truth[0], ask)
        healthy = is_healthy(home)
        assert not (named and healthy), "the status does not see what questions do"
        named += sum(true_or_named(truth[0], lambda r=r: r) for r in readers)
        try:
            fill(ask(), AFTER)
        except SearchIndexError as error:
            assert not healthy
            named += names_remedy(error)
            true_or_named(truth[0], ask)
        else:
            for index in (ask, *(lambda r=r: r for r in readers)):
                named += true_or_named(truth[1], index)
        return bool(named) or not healthy
    finally:
        for index in opened:
            index.close()


def is_healthy(home) -> bool:
    try:
        info = inspect_index(IndexConfig(), home)
    except SearchIndexError as error:
        return not names_remedy(error)
    assert info is not None
    assert info.usable == (info.health == "green")
    assert info.usable or "--rebuild" in info.health
    return info.usable
