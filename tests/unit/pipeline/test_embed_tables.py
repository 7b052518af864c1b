"""The embedding stage on the real store and index: each text costs one embedding, once."""

import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from pneuma_assets.core.errors import StateError
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.pipeline import embed
from pneuma_assets.core.pipeline.embed import CHUNK, EmbeddingBlocksFigures, embed_tables
from pneuma_assets.core.pipeline.write import index_tables, remove_gone
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.embeddings import FILE_NAME, EmbeddingCache
from pneuma_assets.core.store.queue import Stage
from pneuma_assets.core.tables import (
    Block,
    Column,
    Document,
    DocumentKind,
    EmbeddedBlock,
    Table,
    TableRef,
)
from tests.support.word_encoder import WordEncoder

README = "Tables of the harbour office, kept since 1935."
SPOIL = "INSERT INTO embedding_uses SELECT CAST(X'ff' AS TEXT), key FROM embeddings"
TABLES = CHUNK + 6  # so that the README is shared across chunks, too


class OtherEncoder(WordEncoder):
    """Another model: what the first one embedded is of no use to it."""

    name = "other words"


class Lake:
    """Tables whose folder has a README, and runs over those that wait."""

    def __init__(self, folder) -> None:
        self.folder = folder
        self.store = Store(folder / "state.db")
        self.open()

    def open(self, encoder=WordEncoder) -> None:
        self.encoder = encoder()
        self.index = EmbeddedIndex(self.folder / "index", self.encoder.name, self.encoder.dimension)

    def close(self) -> None:
        self.index.close()
        self.store.close()

    def show(self, *names: str, version: str = "1", source="lake", unlisted=()) -> None:
        refs = [
            TableRef(f"{source}/{name}", source, f"{name}.csv", "csv", version) for name in names
        ]
        self.store.listings.sync(source, refs, unlisted)

    def lose_state(self) -> None:
        """Begin a new state beside the old index and embeddings, as after its loss."""
        self.store.close()
        for path in self.folder.glob("state.db*"):
            path.unlink()
        self.store = Store(self.folder / "state.db")
        self.store.listings.drop_sources(["lake", "hill"])

    def claim(self, run_id: str, readme: str = README) -> None:
        self.store.queue.release_claims(run_id)
        self.store.queue.claim(run_id, 1000, 3, ["lake", "hill"])
        for item in self.store.queue.claimed(run_id):
            table_id = item.ref.table_id
            self.store.queue.save_profiles(run_id, [Table(table_id, (Column("a", "INT"),), 1, "")])
            for kind, text in ((DocumentKind.CONTEXT, readme), (DocumentKind.ROWS, table_id)):
                self.store.documents.replace(kind, [(table_id, [Document(table_id, kind, text)])])
            self.store.queue.advance(run_id, Stage.NARRATED, [table_id])

    def embed(self, run_id: str) -> EmbeddingBlocksFigures:
        return embed_tables(self.store, run_id, self.encoder, self.index)

    def finish(self, run_id: str) -> None:
        remove_gone(self.store, self.index, lambda gone: None)
        index_tables(self.store, run_id, self.encoder.name, self.index, lambda table: None)

    def run(self, run_id: str, readme: str = README) -> EmbeddingBlocksFigures:
        self.claim(run_id, readme)
        figures = self.embed(run_id)
        self.finish(run_id)
        return figures

    def embedded(self) -> list[str]:
        """Return the texts that the encoder was given since it was last asked, in order."""
        texts = [text for call in self.encoder.calls for text in call]
        self.encoder.calls.clear()
        return sorted(texts)


@pytest.fixture
def lake(tmp_path):
    with closing(Lake(tmp_path)) as lake:
        yield lake


def names(count: int) -> list[str]:
    return [f"t{number:03}" for number in range(count)]


def kept(lake: Lake) -> int:
    with closing(sqlite3.connect(lake.folder / FILE_NAME)) as connection:
        return int(connection.execute("SELECT count(*) FROM embeddings").fetchone()[0])


def test_a_shared_text_is_embedded_once_in_a_run(lake):
    lake.show(*names(TABLES))
    figures = lake.run("first")
    assert lake.embedded() == sorted([README, *(f"lake/{name}" for name in names(TABLES))])
    assert figures.blocks == 2 * TABLES
    assert (figures.embedded, figures.reused) == (TABLES + 1, TABLES - 1)
    assert figures.characters == len(README) + sum(len(f"lake/{n}") for n in names(TABLES))


def test_a_table_that_comes_later_shares_the_embedding(lake):
    lake.show(*names(3))
    lake.run("first")
    lake.embedded()
    lake.show(*names(4))
    figures = lake.run("second")
    assert lake.embedded() == ["lake/t003"]
    assert (figures.blocks, figures.embedded, figures.reused) == (2, 1, 1)
    vectors = [e.vector for e in lake.index.blocks() if e.block.text == README]
    assert len(vectors) == 4
    assert all(np.array_equal(vector, vectors[0]) for vector in vectors)


def test_a_killed_run_leaves_its_embeddings_to_every_table(lake):
    lake.show(*names(3))
    lake.claim("killed")
    lake.embed("killed")
    lake.embedded()
    lake.show(*names(4))
    figures = lake.run("second")
    assert lake.embedded() == ["lake/t003"]
    assert (figures.blocks, figures.embedded, figures.reused) == (8, 1, 7)


def test_a_lost_index_is_filled_without_the_encoder(lake):
    lake.show(*names(3))
    lake.run("first")
    lake.embedded()
    lake.index.close()
    shutil.rmtree(lake.folder / "index")
    lake.open()
    lake.store.queue.mark_pending(f"lake/{name}" for name in names(3))
    assert lake.run("second").embedded == 0
    assert lake.embedded() == []
    assert lake.index.list_tables() == {f"lake/{name}": 2 for name in names(3)}


@pytest.mark.parametrize("damage", [None, b"", b"garbage" * 1000])
def test_lost_embeddings_are_taken_from_the_index(lake, damage):
    lake.show(*names(3))
    lake.run("first")
    lake.embedded()
    lake.store.embeddings.close()
    path = lake.folder / FILE_NAME
    path.unlink() if damage is None else path.write_bytes(damage)
    lake.show(*names(3), version="2")
    assert lake.run("second").embedded == 0
    lake.show(*names(4))
    lake.run("third")
    assert lake.embedded() == ["lake/t003"]


def test_another_encoder_embeds_everything_anew_and_leaves_nothing_of_the_first(lake):
    lake.show(*names(3))
    lake.run("first")
    lake.index.close()
    shutil.rmtree(lake.folder / "index")
    lake.open(OtherEncoder)
    lake.store.queue.mark_pending(f"lake/{name}" for name in names(3))
    assert lake.run("second").embedded == 4
    assert len(lake.embedded()) == 4
    assert kept(lake) == 4


def test_what_no_table_says_any_more_is_forgotten(lake):
    lake.show(*names(3))
    lake.run("first")
    assert kept(lake) == 4
    lake.show(*names(3), version="2")
    lake.run("second", readme="Moved to the customs office.")
    assert kept(lake) == 4
    lake.show(*names(2), version="2")
    lake.run("third")
    assert kept(lake) == 3


def test_a_renamed_table_is_not_embedded_again(lake):
    lake.show("old")
    lake.run("first")
    lake.embedded()
    lake.show("new")
    lake.claim("second")
    lake.store.documents.replace(
        DocumentKind.ROWS, [("lake/new", [Document("lake/new", DocumentKind.ROWS, "lake/old")])]
    )
    lake.embed("second")
    lake.finish("second")
    assert lake.embedded() == []
    assert lake.index.list_tables() == {"lake/new": 2}


def test_a_damaged_embedding_is_made_anew(lake):
    lake.show(*names(2))
    lake.run("first")
    lake.embedded()
    with closing(sqlite3.connect(lake.folder / FILE_NAME)) as connection, connection:
        connection.execute("UPDATE embeddings SET vector = zeroblob(length(vector))")
    lake.show(*names(3))
    lake.run("second")
    assert lake.embedded() == sorted([README, "lake/t002"])
    lake.show(*names(4))
    lake.run("third")
    assert lake.embedded() == ["lake/t003"]


def test_a_key_that_is_no_text_is_damage(lake):
    lake.show(*names(2))
    lake.run("first")
    lake.embedded()
    with closing(sqlite3.connect(lake.folder / FILE_NAME)) as connection, connection:
        connection.execute(SPOIL)
    lake.show(*names(3))
    lake.run("second")
    assert lake.embedded() == ["lake/t002"]
    lake.show(*names(4))
    lake.run("third")  # on a file begun anew
    assert lake.embedded() == sorted([README, "lake/t003"])


def embedded(name: str) -> tuple[str, list[EmbeddedBlock]]:
    block = Block(f"lake/{name}", DocumentKind.ROWS, name)
    return block.table_id, [EmbeddedBlock(block, np.full(4, 0.5, np.float32))]


def test_a_file_that_cannot_be_used_is_named_with_the_remedy(lake):
    lake.show(*names(2))
    lake.claim("first")
    (lake.folder / FILE_NAME).mkdir()
    with pytest.raises(StateError, match=r"embeddings\.db.*computed again"):
        lake.embed("first")


def test_a_lost_state_costs_no_table_of_a_source_that_is_out_of_sight(lake):
    lake.show(*names(2))
    lake.show(*names(3), source="hill")
    lake.run("first")
    lake.embedded()
    everything = lake.index.list_tables()
    lake.lose_state()
    lake.finish("nothing listed")  # the stage by itself, as the UI can start it
    lake.show(*names(2))
    lake.run("second")
    assert lake.index.list_tables() == everything
    assert kept(lake) == 6
    lake.show("t000", source="hill", unlisted=["hill/t001"])
    lake.run("third")
    assert sorted(set(everything) - set(lake.index.list_tables())) == ["hill/t002"]
    assert kept(lake) == 5
    lake.show("t000", source="hill")
    lake.run("fourth")
    assert sorted(lake.index.list_tables()) == ["hill/t000", "lake/t000", "lake/t001"]
    assert kept(lake) == 4
    assert lake.embedded() == []


def test_a_source_that_left_with_the_state_leaves_the_index(lake):
    lake.show("t000")
    lake.show(*names(3), source="hill")
    lake.run("first")
    lake.lose_state()
    lake.store.listings.drop_sources(["lake"])
    lake.run("second")
    assert sorted(lake.index.list_tables()) == ["lake/t000"]
    assert kept(lake) == 2


def test_a_run_that_is_killed_while_it_embeds_leaves_what_it_has(lake, monkeypatch):
    monkeypatch.setattr(embed, "AT_ONCE", 1)
    lake.show(*names(3))
    lake.claim("killed")
    with monkeypatch.context() as patched:
        patched.setattr(lake.encoder, "encode_documents", dying(lake.encoder, at=3))
        with pytest.raises(KeyboardInterrupt):
            lake.embed("killed")
    assert kept(lake) == 2
    lake.embedded()
    lake.run("second")
    assert len(lake.embedded()) == 2, "of the README and three tables' own texts"


def dying(encoder: WordEncoder, *, at: int):
    embed, calls = encoder.encode_documents, []

    def encode_documents(texts):
        calls.append(texts)
        if len(calls) == at:
            raise KeyboardInterrupt
        return embed(texts)

    return encode_documents


def test_a_large_table_costs_each_embedding_two_writes(lake, monkeypatch):
    monkeypatch.setattr(embed, "AT_ONCE", 10)
    kept: list[int] = []
    keep = EmbeddingCache.keep

    def counted(self, encoder, tables, **how) -> None:
        kept.append(sum(len(blocks) for _, blocks in tables))
        keep(self, encoder, tables, **how)

    monkeypatch.setattr(EmbeddingCache, "keep", counted)
    lake.show(*(f"t{n}" for n in range(50)))
    lake.claim("one")
    figures = lake.embed("one")
    assert figures.embedded == 51
    assert sum(kept) == 2 * figures.blocks == 200


def test_whoever_goes_on_after_a_kill_tells_of_what_the_index_got(lake):
    lake.show("a")
    lake.run("one")

    def told(run_id: str, readme: str, kill: bool = False) -> list[str]:
        lake.store.queue.mark_pending(["lake/a"])
        lake.claim(run_id, readme)
        lake.embed(run_id)
        said: list[Table] = []
        tell = said.extend
        if kill:
            with pytest.raises(KeyboardInterrupt):
                index_tables(lake.store, run_id, lake.encoder.name, lake.index, _kill)
            run_id = f"after {run_id}"
        index_tables(lake.store, run_id, lake.encoder.name, lake.index, tell)
        return [table.table_id for table in said]

    assert told("two", "Another office.", kill=True) == ["lake/a"]
    assert told("three", "Another office.") == []


def _kill(_: object) -> None:
    raise KeyboardInterrupt
