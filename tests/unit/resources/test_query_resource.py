"""Asking from someone's own Dagster asset keeps the rules of the command line."""

from contextlib import closing

import dagster as dg
import pytest

from pneuma_assets.core.config.index import IndexConfig
from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.index.base import IndexFilter
from pneuma_assets.core.index.registry import open_index
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, TableRef
from pneuma_assets.definitions import build_resources
from tests.support.index_blocks import replace_blocks
from tests.support.word_encoder import WordEncoder


@pytest.fixture
def loaded(tmp_path, monkeypatch):
    monkeypatch.setattr("resources.models.open_encoder", lambda _: WordEncoder())
    (tmp_path / "new").mkdir()
    source = "{type: folder, name: new, path: new}"
    (tmp_path / "pneuma.yaml").write_text(f"home: home\nsources: [{source}]\n")
    return load_deployment(environ={}, cwd=tmp_path)


@pytest.fixture
def query(loaded):
    with dg.build_resources({"pneuma_query": build_resources(loaded)["pneuma_query"]}) as resources:
        yield resources.pneuma_query


def test_asking_creates_no_index(query, loaded):
    with pytest.raises(QueryError, match="run: pneuma-assets index"):
        query.ask("lakes")
    assert not loaded.home.exists()


def test_a_mistyped_table_is_named(query, loaded):
    encoder, text = WordEncoder(), "the rain in Spain"
    block = EmbeddedBlock(
        Block("lake/rain", DocumentKind.CONTEXT, text), encoder.encode_documents([text])[0]
    )
    with closing(
        open_index(IndexConfig(), loaded.home, encoder.name, encoder.dimension, building=True)
    ) as index:
        replace_blocks(index, {"lake/rain": [block]})
    where = IndexFilter(tables=("lake/rain",))
    assert [found.table_id for found in query.ask("rain", where=where)] == ["lake/rain"]
    with pytest.raises(QueryError, match="unknown table 'lake/rian'; did you mean lake/rain"):
        query.ask("rain", where=IndexFilter(tables=("lake/rian",)))
    with Store(loaded.home / "state.db") as store:
        store.inventory.reconcile("lake", [TableRef("lake/snow", "lake", "/snow.csv", "csv", "1")])
    with pytest.raises(QueryError, match="table 'lake/snow' is not indexed: it waits"):
        query.ask("rain", where=IndexFilter(tables=("lake/snow",)))
    assert query.ask("rain", where=IndexFilter(sources=("new",))) == [], "not indexed yet"
