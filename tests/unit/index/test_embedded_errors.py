"""Whatever is wrong with the file, its user reads one line that says what to do."""

import os
import sqlite3

import numpy as np
import pytest

from pneuma_assets.core.config.index import IndexConfig
from pneuma_assets.core.errors import IndexDamagedError, SearchIndexError
from pneuma_assets.core.index.base import IndexQuery, TableContents
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.index.registry import (
    inspect_index,
    open_index,
)
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, TableTerms
from tests.support.damage import spoil_name
from tests.support.index_blocks import file_of, replace_blocks

EVIDENCE = TableTerms(("lakes",), ("lake",), "water", "waters", (("Ladoga",), (None,)), ("Onega",))


def open_in(folder, **options):
    return EmbeddedIndex(folder, "m", 4, **options)


def blocks(table_id, count, size=10):
    vector = np.array([1, 0, 0, 0], np.float32)
    return [
        EmbeddedBlock(Block(table_id, DocumentKind.ROWS, f"lake {n} " + "x" * size), vector)
        for n in range(count)
    ]


def fill(folder, count=200):
    index = open_in(folder)
    index.replace_tables({"s/t": TableContents(blocks("s/t", count, 500), EVIDENCE)})
    index.close()
    return file_of(folder)


def ask(folder):
    index = open_in(folder)
    return index.search([IndexQuery("lake", np.array([1, 0, 0, 0], np.float32))], 5)


def change(path, *statements):
    connection = sqlite3.connect(path)
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def test_a_name_in_the_schema_that_is_no_text_is_damage(tmp_path):
    spoil_name(fill(tmp_path))
    with pytest.raises(IndexDamagedError, match="is damaged"):
        ask(tmp_path)


def not_a_database(path):
    path.write_bytes(b"this is a text file, not a database" * 100)


def truncated(path):
    os.truncate(path, path.stat().st_size // 3)


def garbage_inside(path):
    with path.open("r+b") as file:
        file.seek(16384)
        file.write(os.urandom(path.stat().st_size - 16384))


def another_program(path):
    path.unlink()
    change(path, "CREATE TABLE notes (text)")


def another_format(path):
    change(path, "PRAGMA user_version = 99")


def a_table_gone(path):
    change(path, "DROP TABLE contents")


def contents_gone(path):
    change(path, "DELETE FROM contents")


SPOILT = [
    "UPDATE contents SET texts = zeroblob(length(texts))",
    "UPDATE contents SET vectors = x'00'",
    "UPDATE contents SET terms = x'0011'",
    "UPDATE contents SET places = x'00'",
    "UPDATE contents SET entry_terms = zeroblob(length(entry_terms))",
    "UPDATE contents SET evidence = x'00'",
    "UPDATE contents SET rows = 0",
    "UPDATE contents SET seq = seq + 1",
    "UPDATE tables SET checksum = checksum + 1",
    "UPDATE tables SET blocks = blocks + 1",
    "UPDATE tables SET table_id = x'732f75'",
    "UPDATE facts SET facts = x'7b7d'",
    "DELETE FROM facts",
    "DELETE FROM tables",
    "UPDATE meta SET value = replace(value, '200', '201')",
]


@pytest.mark.parametrize("statement", SPOILT)
def test_what_is_not_as_it_was_written_is_damage(tmp_path, statement):
    change(fill(tmp_path), statement)
    for use in (lambda: ask(tmp_path), lambda: list(open_in(tmp_path).contents())):
        with pytest.raises(IndexDamagedError, match="--rebuild") as caught:
            use()
        assert "\n" not in str(caught.value)
    assert "meta" in statement or "--rebuild" in open_in(tmp_path).info().health


def unknown_kind(path):
    index = open_in(path.parent.parent)
    (item,) = blocks("s/t", 1)
    later = Block("s/t", "Values/2", item.block.text)  # as a newer version may name one
    replace_blocks(index, {"s/t": [EmbeddedBlock(later, item.vector)]})
    index.close()


def a_folder(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("spoil", "remedy"),
    [
        (not_a_database, "--rebuild"),
        (truncated, "--rebuild"),
        (garbage_inside, "--rebuild"),
        (another_program, "--rebuild"),
        (another_format, r"another version.*\(format 99, this is 4\).*--rebuild"),
        (a_table_gone, "--rebuild"),
        (contents_gone, "--rebuild"),
        (unknown_kind, "upgrade pneuma-assets"),
        (a_folder, "cannot be opened"),
    ],
)
def test_a_spoiled_file_is_named_with_the_remedy(tmp_path, spoil, remedy):
    spoil(fill(tmp_path))
    with pytest.raises(SearchIndexError, match=remedy) as caught:
        ask(tmp_path)
    assert "\n" not in str(caught.value)


def test_no_evidence_of_another_table_is_given_back(tmp_path):
    index = open_in(tmp_path)
    index.replace_tables({i: TableContents((), EVIDENCE) for i in ("s/t", "s/u")})
    index.close()
    change(
        file_of(tmp_path),
        "UPDATE contents SET evidence = (SELECT evidence FROM contents ORDER BY seq LIMIT 1)",
    )
    with pytest.raises(IndexDamagedError, match="not that of its table"):
        open_in(tmp_path).evidence(["s/t", "s/u"])


@pytest.mark.parametrize("spoil", [truncated, garbage_inside, a_table_gone, contents_gone])
def test_health_says_what_is_wrong(tmp_path, spoil):
    path = fill(tmp_path)
    index = open_in(tmp_path)
    spoil(path)
    info = index.info()
    assert "--rebuild" in info.health
    assert info.engine == "embedded"


def test_inspecting_needs_no_encoder(tmp_path):
    config = IndexConfig()
    assert inspect_index(config, tmp_path) is None
    assert list(tmp_path.iterdir()) == []
    index = open_index(config, tmp_path, "m", 4, building=True)
    replace_blocks(index, {"s/t": blocks("s/t", 3), "s/u": []})
    info = inspect_index(config, tmp_path)
    assert info == index.info()
    assert (info.encoder, info.dimension, info.tables, info.blocks) == ("m", 4, 2, 3)
    index.close()
    not_a_database(file_of(tmp_path / "index"))
    with pytest.raises(SearchIndexError, match="--rebuild"):
        inspect_index(config, tmp_path)


def test_a_lock_held_too_long_is_named(tmp_path):
    holder, other = open_in(tmp_path), open_in(tmp_path, lock_timeout=0.2)
    with (
        holder._opened[0].writing(),
        pytest.raises(SearchIndexError, match=r"locked by another process for 0\.2 seconds"),
    ):
        replace_blocks(other, {"s/t": []})
    replace_blocks(other, {"s/t": []})
    assert holder.list_tables() == {"s/t": 0}


def test_a_full_disk_leaves_the_old_table(tmp_path):
    index = open_in(tmp_path)
    replace_blocks(index, {"s/t": blocks("s/t", 3)})
    with index._opened[0].connection() as connection:  # the only one, lent again below
        connection.execute("PRAGMA max_page_count = 20")
    with pytest.raises(SearchIndexError, match="disk is full"):
        replace_blocks(index, {"s/t": blocks("s/t", 100, 9000)})
    assert index.list_tables() == {"s/t": 3}
    with index._opened[0].connection() as connection:
        connection.execute("PRAGMA max_page_count = 1000000")
    replace_blocks(index, {"s/t": blocks("s/t", 100, 9000)})
    assert index.list_tables() == {"s/t": 100}


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SearchIndexError, match="--home"):
        open_in(tmp_path / "file" / "index")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(SearchIndexError, match=r"writable|permission"):
        open_in(tmp_path)
    tmp_path.chmod(0o700)


def test_a_closed_index_says_so(tmp_path):
    index = open_in(tmp_path)
    index.close()
    index.close()
    with pytest.raises(SearchIndexError, match="closed"):
        index.list_tables()


def test_names_that_are_not_unicode_work(tmp_path):
    index = open_in(tmp_path / "\udcff 100% #a?b")
    replace_blocks(index, {"s/\udcff": blocks("s/\udcff", 1)})
    assert index.list_tables() == {"s/\udcff": 1}
    assert index.info().health == "green"
