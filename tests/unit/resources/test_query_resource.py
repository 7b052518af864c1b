"""Asking from someone's own Dagster asset keeps the rules of the command line."""

import threading
from concurrent.futures import ThreadPoolExecutor

import dagster as dg
import pytest

from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.index.base import IndexFilter
from pneuma_assets.core.service import engine as engine_module
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import TableRef
from pneuma_assets.resources import query as query_module
from pneuma_assets.resources.build import build_resources
from tests.support.index_blocks import index_texts
from tests.support.word_encoder import WordEncoder


@pytest.fixture
def loaded(tmp_path, monkeypatch):
    monkeypatch.setattr("pneuma_assets.resources.models.open_encoder", lambda *_: WordEncoder())
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


def test_threads_open_one_index_and_it_is_closed_with_the_run(loaded, monkeypatch):
    opened: list[object] = []

    class Slow:
        def __init__(self, *_: object) -> None:
            opened.append(self)
            self.closed = 0
            all_there.wait(0.2)

        def ask(self, question: object) -> list[object]:
            return []

        def close(self) -> None:
            self.closed += 1

    all_there = threading.Event()
    monkeypatch.setattr(engine_module, "LiveQueryEngine", Slow)
    monkeypatch.setattr(query_module, "check_answerable", lambda _: None)
    resource = build_resources(loaded)["pneuma_query"]
    with dg.build_resources({"pneuma_query": resource}) as resources, ThreadPoolExecutor() as pool:
        asked = [pool.submit(resources.pneuma_query.ask, "rain") for _ in range(4)]
        assert [one.result(60) for one in asked] == [[]] * 4
    assert [vars(one) for one in opened] == [{"closed": 1}]


def test_a_mistyped_table_is_named(query, loaded):
    index_texts(loaded.home, {"lake/rain": "the rain in Spain"})
    where = IndexFilter(tables=("lake/rain",))
    assert [found.table_id for found in query.ask("rain", where=where)] == ["lake/rain"]
    with pytest.raises(QueryError, match="unknown table 'lake/rian'; did you mean lake/rain"):
        query.ask("rain", where=IndexFilter(tables=("lake/rian",)))
    with Store(loaded.home / "state.db") as store:
        store.listings.sync("lake", [TableRef("lake/snow", "lake", "/snow.csv", "csv", "1")])
    with pytest.raises(QueryError, match="table 'lake/snow' is not indexed: it waits"):
        query.ask("rain", where=IndexFilter(tables=("lake/snow",)))
    assert query.ask("rain", where=IndexFilter(sources=("new",))) == [], "not indexed yet"


def test_whoever_asks_says_how_many_results_there_are(query, loaded):
    index_texts(loaded.home, {f"lake/rain{n}": f"the rain of year {n}" for n in range(3)})
    assert len(query.ask("rain")) == 3
    assert len(query.ask("rain", k=2)) == 2
    assert len(query.find("rain", tau=0.0, k=2)) == 2
    assert len(query.find_groups("rain", k=2)) == 2
    with pytest.raises(QueryError, match="k must be"):
        query.answer("rain", k=0)
