"""Copying an index into another, embeddings included; here between two embedded ones."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index import copy
from pneuma_assets.core.index.base import IndexQuery, SideHits, TableContents, blocks_worth
from pneuma_assets.core.index.copy import copy_index
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.progress import listening
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, TableTerms
from pneuma_assets.core.text.analysis import ENGLISH
from tests.support.index_blocks import replace_blocks
from tests.support.word_encoder import WordEncoder

ENCODER = WordEncoder()


@pytest.fixture
def opened(tmp_path):
    """Return what opens an index in a folder of its own; all are closed at the end."""
    found = []

    def open_index(name: str, encoder: str = ENCODER.name, analyzer=ENGLISH) -> EmbeddedIndex:
        index = EmbeddedIndex(tmp_path / name, encoder, ENCODER.dimension, analyzer=analyzer)
        found.append(index)
        return index

    yield open_index
    for index in found:
        index.close()


def embedded(table_id: str, *texts: str) -> list[EmbeddedBlock]:
    vectors = ENCODER.encode_documents(texts) if texts else []
    blocks = [Block(table_id, DocumentKind.ROWS, text) for text in texts]
    return [EmbeddedBlock(one, vector) for one, vector in zip(blocks, vectors, strict=True)]


LAKE = {
    "lake/rain": embedded("lake/rain", "rain in Kiel", "snow in Oslo"),
    "lake/empty": [],
    "lake/gdp": embedded("lake/gdp", "gdp of France"),
    "lake/caf\udce9": embedded("lake/caf\udce9", "a name that is no text \ud800"),
}


def contents(index: EmbeddedIndex) -> dict[str, object]:
    """Return all that an index holds, vectors bit by bit."""
    return {
        "tables": index.list_tables(),
        "blocks": {(item.block, item.vector.tobytes()) for item in index.blocks()},
    }


def test_a_copy_holds_the_same(opened):
    source, target = opened("a"), opened("b")
    replace_blocks(source, LAKE)
    assert copy_index(source, target) == source.list_tables()
    assert contents(target) == contents(source)
    (vector,) = ENCODER.encode_queries(["snow in Oslo"])
    asked = [IndexQuery("snow", vector)]
    assert target.search(asked, 5) == source.search(asked, 5)


def test_what_the_target_held_goes(opened):
    source, target = opened("a"), opened("b")
    replace_blocks(source, LAKE)
    replace_blocks(
        target,
        {
            "old/table": embedded("old/table", "no longer there"),
            "lake/rain": embedded("lake/rain", "rain in Bergen"),
            "lake/empty": embedded("lake/empty", "not empty"),
        },
    )
    copy_index(source, target)
    assert contents(target) == contents(source)


def test_a_copy_that_was_interrupted_is_completed_by_another(opened, monkeypatch):
    monkeypatch.setattr(copy, "_TABLES_AT_ONCE", 1)
    source, target = opened("a"), opened("b")
    replace_blocks(source, LAKE)

    def heard(task: str, done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listening(heard):
        copy_index(source, target)
    assert 0 < len(target.list_tables()) < len(LAKE)
    copy_index(source, target)
    assert contents(target) == contents(source)


def test_a_failing_source_says_so_and_removes_nothing(opened):
    class Broken(EmbeddedIndex):
        def contents(self, table_ids=None):
            raise SearchIndexError("the disk is gone")

    source, target = opened("a"), opened("b")
    replace_blocks(source, LAKE)
    replace_blocks(target, {"old/table": embedded("old/table", "still there")})
    folder = Path(source.info().details["file"]).parent.parent
    with (
        closing(Broken(folder, ENCODER.name, ENCODER.dimension)) as broken,
        pytest.raises(SearchIndexError, match="the disk is gone"),
    ):
        copy_index(broken, target)
    assert target.list_tables() == {"old/table": 1}


class Memory:
    """An index to copy from and to, which remembers in what portions it was written."""

    def __init__(self, sizes: Mapping[str, int] = MappingProxyType({})) -> None:
        self.sizes = sizes
        self.tables = {
            name: TableContents(embedded(name, *map(str, range(n)))) for name, n in sizes.items()
        }
        self.written: list[Mapping[str, TableContents]] = []

    def list_tables(self):
        return self.sizes

    def contents(self, table_ids: Sequence[str]):
        return ((i, self.tables[i]) for i in table_ids if i in self.tables)

    def replace_tables(self, tables: Mapping[str, TableContents]) -> None:
        self.written.append(tables)

    def delete_tables(self, table_ids: Sequence[str]) -> None:
        assert not table_ids

    def optimise(self) -> None:
        pass


def copied(source: Memory) -> list[Mapping[str, TableContents]]:
    target = Memory()
    copy_index(source, target)
    return target.written


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 6), max_size=8))
def test_every_table_is_written_once_whole_and_in_order(tables):
    memory = Memory(tables)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(copy, "_BLOCKS_AT_ONCE", 5)
        patched.setattr(copy, "_TABLES_AT_ONCE", 3)
        heard: list[tuple[object, ...]] = []
        with listening(lambda *told: heard.append(told)):
            written = copied(memory)
    whole = [one for part in written for one in part.items()]
    assert [name for name, _ in whole] == list(tables)
    for name, contents in whole:
        assert contents is memory.tables[name], "nothing of a table is taken apart or copied"
    for part in written:
        assert len(part) <= 3
        *before, _ = [len(contents.blocks) for contents in part.values()]
        assert sum(before) < 5
    if tables:
        assert heard[-1] == ("copying tables", len(tables), len(tables))


def test_evidence_counts_for_how_much_is_in_memory(monkeypatch):
    monkeypatch.setattr(copy, "_BLOCKS_AT_ONCE", 5)
    memory = Memory({"small": 1, "large": 0, "later": 1})
    large = TableTerms(columns=("c",), rows=(("x" * 2_000,),) * 3)
    assert blocks_worth(TableContents((), large)) == 6
    wide = TableTerms(columns=("c" * 9,) * 3_000, rows=((None,) * 3_000,) * 50)
    assert blocks_worth(TableContents((), wide)) == (3_000 * 9 + 50 * 500 * 10) // 1_000
    memory.tables["large"] = TableContents((), large)
    assert [list(part) for part in copied(memory)] == [["small", "large"], ["later"]]


def test_evidence_is_copied(opened):
    source, target = opened("a"), opened("b")
    evidence = TableTerms(
        ("lake",), ("c",), "word", "words", (("Ladoga \ud800",), (None,)), ("Onega",)
    )
    source.replace_tables({"s/t": TableContents((), evidence)})
    copy_index(source, target)
    assert target.evidence(["s/t"]) == {"s/t": evidence}
    asked = [IndexQuery(None, None, "onega ladoga")]
    assert target.search(asked, 5) == source.search(asked, 5) != [SideHits()]


def test_a_table_that_left_meanwhile_is_not_written():
    memory = Memory({"a": 2, "gone": 3})
    del memory.tables["gone"]
    assert copied(memory) == [memory.tables]
