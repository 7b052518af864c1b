"""An index of an older format is taken over without an encoder.

Format 1 had no checksums, format 2 no evidence, format 3 no facts of tables.
"""

import shutil
import sqlite3
from dataclasses import asdict

import numpy as np
import pytest

from pneuma_assets.core.config.index import IndexConfig
from pneuma_assets.core.errors import IndexDamagedError, IndexMismatchError
from pneuma_assets.core.index.base import IndexQuery, TableContents
from pneuma_assets.core.index.embedded.bm25 import count_terms
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.index.embedded.meta import FORMAT_2 as META_2
from pneuma_assets.core.index.embedded.meta import FORMAT_3 as META_3
from pneuma_assets.core.index.embedded.meta import read_meta
from pneuma_assets.core.index.embedded.schema import APPLICATION_ID
from pneuma_assets.core.index.embedded.sums import meta_sum, table_sum_2, wrapped
from pneuma_assets.core.index.facts_text import UNTOLD
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.index.registry import inspect_index, open_index, reindex
from pneuma_assets.core.tables import (
    Block,
    DocumentKind,
    EmbeddedBlock,
    Evidence,
    TableFacts,
    source_of,
)
from pneuma_assets.core.text.analysis import ENGLISH, Analyzer
from tests.support.index_blocks import replace_blocks

FORMAT_1 = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value NOT NULL);
CREATE TABLE tables (key INTEGER PRIMARY KEY AUTOINCREMENT, table_id BLOB NOT NULL UNIQUE,
    source BLOB NOT NULL);
CREATE TABLE blocks (seq INTEGER PRIMARY KEY AUTOINCREMENT, block_id BLOB NOT NULL UNIQUE,
    table_key INTEGER NOT NULL REFERENCES tables (key), kind TEXT NOT NULL, text BLOB NOT NULL);
CREATE INDEX blocks_by_table ON blocks (table_key);
CREATE TABLE features (seq INTEGER PRIMARY KEY, vector BLOB NOT NULL, terms BLOB NOT NULL,
    counts BLOB NOT NULL);
CREATE TABLE removed (generation INTEGER, seq INTEGER, PRIMARY KEY (generation, seq)) WITHOUT ROWID;
"""


def made_tables() -> dict[str, list[EmbeddedBlock]]:
    drawn = np.random.default_rng(3).standard_normal((30, 4))
    vectors = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    tables = {"s/a": vectors[:20], "t/b\udcff": vectors[20:], "t/empty": vectors[:0]}
    return {
        table_id: [
            EmbeddedBlock(Block(table_id, DocumentKind.ROWS, f"lake {n} of {table_id}"), vector)
            for n, vector in enumerate(some)
        ]
        for table_id, some in tables.items()
    }


def write_format_1(folder, encoder="m", analyzer=ENGLISH.name) -> None:
    folder.mkdir()
    connection = sqlite3.connect(folder / "index.db")
    connection.executescript(FORMAT_1)
    meta = {"generation": 3, "log_since": 0, **asdict(Identity(encoder, 4, analyzer))}
    connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
    seq = 0
    for key, (table_id, embedded) in enumerate(made_tables().items(), 1):
        row = (key, *(t.encode("utf-8", "surrogatepass") for t in (table_id, source_of(table_id))))
        connection.execute("INSERT INTO tables VALUES (?, ?, ?)", row)
        for item in embedded:
            seq += 1
            block, text = item.block, item.block.text.encode("utf-8", "surrogatepass")
            terms, counts = count_terms(ENGLISH.terms(block.text))
            connection.execute(
                "INSERT INTO blocks VALUES (?, ?, ?, ?, ?)",
                (seq, block.block_id.encode(), key, block.kind, text),
            )
            connection.execute(
                "INSERT INTO features VALUES (?, ?, ?, ?)",
                (seq, item.vector.tobytes(), terms.tobytes(), counts.tobytes()),
            )
    connection.execute("PRAGMA user_version = 1")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.commit()
    connection.close()


FORMAT_2 = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value NOT NULL);
CREATE TABLE tables (key INTEGER PRIMARY KEY, table_id BLOB NOT NULL, blocks INTEGER NOT NULL,
    total INTEGER NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE blocks (seq INTEGER PRIMARY KEY, block_id BLOB NOT NULL UNIQUE,
    table_key INTEGER NOT NULL REFERENCES tables (key), kind BLOB NOT NULL, text BLOB NOT NULL);
CREATE INDEX blocks_by_table ON blocks (table_key);
CREATE TABLE features (seq INTEGER PRIMARY KEY, vector BLOB NOT NULL, terms BLOB NOT NULL,
    counts BLOB NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE removed (generation INTEGER, seq INTEGER, PRIMARY KEY (generation, seq)) WITHOUT ROWID;
"""


def write_format_2(folder, encoder="m", analyzer=ENGLISH.name) -> None:
    """Write what today's format says of blocks, but of tables and the whole as then."""
    rules = ENGLISH if analyzer == ENGLISH.name else Analyzer(analyzer, None)
    made = EmbeddedIndex(folder.with_name("made"), encoder, 4, analyzer=rules)
    replace_blocks(made, made_tables())
    made.close()
    folder.mkdir()
    connection = sqlite3.connect(folder / "index.db")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(FORMAT_2)
    connection.execute("ATTACH ? AS made", (str(folder.with_name("made") / "index.db"),))
    for table in ("blocks", "features"):
        connection.execute(f"INSERT INTO main.{table} SELECT * FROM made.{table}")
    sums = 0
    for *parts, _, _ in connection.execute("SELECT * FROM made.tables").fetchall():
        checksum = table_sum_2(*parts)
        connection.execute("INSERT INTO main.tables VALUES (?, ?, ?, ?, ?)", (*parts, checksum))
        sums += checksum
    with connection:
        meta = asdict(read_meta(sqlite3.connect(folder.with_name("made") / "index.db")))
        meta = {name: meta[name] for name in META_2} | {"table_sums": wrapped(sums)}
        meta["checksum"] = meta_sum(list(meta.items()))
        connection.executemany("INSERT INTO main.meta VALUES (?, ?)", meta.items())
    connection.execute("PRAGMA user_version = 2")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.commit()
    connection.close()
    shutil.rmtree(folder.with_name("made"))


def write_format_3(folder, encoder="m", analyzer=ENGLISH.name) -> None:
    """Take from today's format what it keeps beside."""
    rules = ENGLISH if analyzer == ENGLISH.name else Analyzer(analyzer, None)
    made = EmbeddedIndex(folder, encoder, 4, analyzer=rules)
    replace_blocks(made, made_tables())
    made.close()
    connection = sqlite3.connect(folder / "index.db")
    with connection:
        meta = asdict(read_meta(connection))
        meta = {name: meta[name] for name in META_3}
        meta["checksum"] = meta_sum(list(meta.items()))
        connection.execute("DELETE FROM meta")
        connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
        connection.execute("DROP TABLE facts")
        connection.execute("PRAGMA user_version = 3")
    connection.close()


EVERY = pytest.mark.parametrize("write", [write_format_1, write_format_2, write_format_3])


def contents(index) -> list[tuple[Block, bytes]]:
    return sorted(
        ((item.block, item.vector.tobytes()) for item in index.blocks()),
        key=lambda item: item[0].block_id,
    )


def open_in(home) -> EmbeddedIndex:
    return open_index(IndexConfig(), home, "m", 4, building=True)


@pytest.mark.parametrize(
    ("write", "analyzer"),
    [
        (write_format_1, ENGLISH.name),
        (write_format_1, "english-1"),
        (write_format_2, ENGLISH.name),
        (write_format_3, ENGLISH.name),
    ],
)
def test_an_older_index_is_taken_over(tmp_path, write, analyzer):
    write(tmp_path / "index", analyzer=analyzer)
    info = inspect_index(IndexConfig(), tmp_path)
    assert (info.tables, info.blocks, info.usable) == (3, 30, True)
    assert "older version" in info.health
    reference = EmbeddedIndex(tmp_path / "reference", "m", 4)
    replace_blocks(reference, made_tables())
    for _ in range(2):
        index = open_in(tmp_path)
        assert contents(index) == contents(reference)
        assert index.list_tables() == {"s/a": 20, "t/b\udcff": 10, "t/empty": 0}
        query = IndexQuery("lake 7", made_tables()["s/a"][3].vector)
        assert index.search([query], 9) == reference.search([query], 9)
        assert index.info().health == "green"
        assert index.evidence(["s/a"]) == {"s/a": Evidence()}
        assert index.facts(["s/a", "t/empty"]) == dict.fromkeys(("s/a", "t/empty"), UNTOLD)
        assert index.list_tables(("ana",)) == {}
        index.close()
    later = open_in(tmp_path)
    later.replace_tables({"s/a": TableContents((), Evidence(names=("lake",)))})
    later.set_facts({"s/a": TableFacts(("ana",)), "t/empty": TableFacts()})
    assert later.list_tables(("ana",)) == {"s/a": 0, "t/empty": 0}
    assert later.info().health == "green"
    later.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index", "reference"]


@EVERY
def test_another_encoder_is_refused_before_anything_changes(tmp_path, write):
    write(tmp_path / "index", encoder="other")
    with pytest.raises(IndexMismatchError, match="other"):
        open_in(tmp_path)
    assert inspect_index(IndexConfig(), tmp_path).encoder == "other"


@EVERY
@pytest.mark.parametrize("by_hand", [False, True])
def test_an_older_index_gets_another_analyzer(tmp_path, write, by_hand):
    write(tmp_path / "index", analyzer="german-1")
    with pytest.raises(IndexMismatchError, match="german-1"):
        open_index(IndexConfig(), tmp_path, "m", 4)
    if by_hand:
        reindex(IndexConfig(), tmp_path)
    assert open_in(tmp_path).list_tables() == {"s/a": 20, "t/b\udcff": 10, "t/empty": 0}


@pytest.mark.parametrize(
    "spoil",
    [
        "UPDATE blocks SET text = x'00ff' WHERE seq = 3",
        "UPDATE features SET vector = x'00ff' WHERE seq = 3",
        "UPDATE features SET vector = zeroblob(16) WHERE seq = 3",
        "DELETE FROM features WHERE seq = 3",
        "UPDATE tables SET table_id = x'ff' WHERE table_id = CAST('s/a' AS BLOB)",
        "DELETE FROM meta WHERE name = 'encoder'",
        "UPDATE meta SET value = 'x' WHERE name = 'dimension'",
    ],
)
@EVERY
def test_damage_is_not_taken_over(tmp_path, write, spoil):
    write(tmp_path / "index")
    connection = sqlite3.connect(tmp_path / "index" / "index.db")
    connection.execute(spoil)
    connection.commit()
    connection.close()
    with pytest.raises(IndexDamagedError, match="--rebuild"):
        open_in(tmp_path)


@EVERY
def test_an_upgrade_killed_between_its_last_steps_is_finished(tmp_path, write):
    write(tmp_path / "index")
    index = open_in(tmp_path)
    expected = contents(index)
    index.close()
    shutil.move(tmp_path / "index", tmp_path / "index.renewed")
    assert contents(open_in(tmp_path)) == expected


@pytest.mark.parametrize(
    "spoil",
    [
        "UPDATE tables SET blocks = 19 WHERE blocks = 20",
        "DELETE FROM tables WHERE blocks = 0",
        "UPDATE meta SET value = value + 1 WHERE name = 'generation'",
        "UPDATE features SET terms = zeroblob(length(terms)) WHERE seq = 3",
        "DELETE FROM blocks WHERE seq = 3",
    ],
)
def test_what_format_2_had_checksums_of_is_checked(tmp_path, spoil):
    write_format_2(tmp_path / "index")
    connection = sqlite3.connect(tmp_path / "index" / "index.db")
    with connection:
        connection.execute(spoil)
    connection.close()
    for _ in range(2):
        with pytest.raises(IndexDamagedError, match="--rebuild"):
            open_in(tmp_path)
    assert inspect_index(IndexConfig(), tmp_path).tables in {2, 3}
