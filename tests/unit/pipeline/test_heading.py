"""Headers of searchable tables are embedded once, and again where the encoder is another."""

from collections.abc import Mapping, Sequence

import pytest

from pneuma_assets.core.pipeline import embed
from pneuma_assets.core.pipeline.embed import embed_column_names
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import Finished
from pneuma_assets.core.tables import Column, Table, TableRef, Vector
from tests.support.word_encoder import WordEncoder

COLUMNS = {"a": ("unitPrice", "region", "#"), "b": ("unit_price", "day"), "c": ("waiting",)}


class Encoder(WordEncoder):
    def __init__(self, name: str = "words") -> None:
        super().__init__()
        self.name = name
        self.embedded: list[str] = []

    def encode_documents(self, texts):
        self.embedded += texts
        return super().encode_documents(texts)


@pytest.fixture
def store(tmp_path):
    """Three tables, of which two are searchable."""
    refs = [TableRef(f"lake/{name}", "lake", f"/{name}", "csv", "1") for name in COLUMNS]
    with Store(tmp_path / "state.db") as store:
        store.listings.sync("lake", refs)
        store.queue.claim("run", 9, 3, ["lake"])
        tables = {
            name: Table(f"lake/{name}", tuple(Column(one, "") for one in some), 1, "")
            for name, some in COLUMNS.items()
        }
        store.queue.save_profiles("run", list(tables.values()))
        finish(store, "lake/a", "lake/b")
        yield store


def finish(store: Store, *table_ids: str) -> None:
    store.queue.finish("run", [Finished(one, "hash", 1) for one in table_ids])


def kept(store: Store, encoder: str = "words") -> set[str]:
    return {*store.headers.of(encoder, ["unit price", "region", "day", "waiting", ""])}


def test_each_header_of_searchable_tables_is_embedded_once(store):
    encoder = Encoder()
    assert embed_column_names(store, encoder) == 3
    assert encoder.embedded == ["day", "region", "unit price"]
    assert kept(store) == {"day", "region", "unit price"}


def test_few_headers_are_in_memory_at_a_time(store, monkeypatch):
    monkeypatch.setattr(embed, "_NAMES_AT_ONCE", 2)
    asked, of = [], store.headers.of
    finish(store, "lake/c")

    def counted(encoder: str, headers: Sequence[str]) -> Mapping[str, Vector]:
        asked.append(len(headers))
        return of(encoder, headers)

    monkeypatch.setattr(store.headers, "of", counted)
    assert embed_column_names(store, Encoder()) == 4
    assert asked == [2, 2]
    assert embed_column_names(store, Encoder("other")) == 4
    monkeypatch.undo()
    assert kept(store, "other") == {"day", "region", "unit price", "waiting"}
    assert kept(store) == set(), "of one encoder alone"


def test_nothing_is_done_where_no_table_is_another(store, monkeypatch):
    encoder = Encoder()
    embed_column_names(store, encoder)
    monkeypatch.setattr(store.tables, "indexed", lambda: pytest.fail("tables are read again"))
    assert embed_column_names(store, encoder) == 0


def test_headers_are_embedded_again_whose_file_was_replaced(store, tmp_path):
    embed_column_names(store, Encoder())
    store.embeddings.close()
    (tmp_path / "embeddings.db").write_bytes(b"damaged" * 999)
    assert embed_column_names(store, Encoder()) == 3
    assert kept(store) == {"day", "region", "unit price"}


def test_a_new_table_has_only_its_own_headers_embedded(store):
    encoder = Encoder()
    embed_column_names(store, encoder)
    encoder.embedded.clear()
    finish(store, "lake/c")
    assert embed_column_names(store, encoder) == 1
    assert encoder.embedded == ["waiting"]
    assert kept(store) == {"day", "region", "unit price", "waiting"}


def test_headers_that_left_go(store):
    encoder = Encoder()
    embed_column_names(store, encoder)
    store.privacy.forget(["lake/b"])
    assert embed_column_names(store, encoder) == 0
    assert kept(store) == {"region", "unit price"}


def test_another_encoder_embeds_all_anew(store):
    embed_column_names(store, Encoder())
    assert embed_column_names(store, Encoder("other")) == 3
    assert kept(store) == set()
    assert kept(store, "other") == {"day", "region", "unit price"}
