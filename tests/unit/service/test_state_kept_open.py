"""Questions look joins up in a state that stays open, and never in one that is another by now."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.relations.join_graph import JoinEdge, JoinKind
from pneuma_assets.core.service.state import StateReader, open_store
from pneuma_assets.core.store import Store

EDGE = JoinEdge("lake/a", ("b_id",), "lake/b", ("id",), JoinKind.INFERRED, 0.8)
OTHER = JoinEdge("lake/c", ("b_id",), "lake/b", ("id",), JoinKind.INFERRED, 0.8)


@pytest.fixture
def opened(monkeypatch) -> list[Store]:
    """The states that were opened, in order."""
    stores: list[Store] = []

    def opening(*given: object) -> Store:
        stores.append(open_store(*given))  # type: ignore[arg-type]
        return stores[-1]

    monkeypatch.setattr("pneuma_assets.core.service.state.open_store", opening)
    return stores


@pytest.fixture
def loaded(tmp_path):
    file = tmp_path / "pneuma.yaml"
    file.write_text(json.dumps({"home": "home"}))
    found = load_deployment(config=file)
    found.home.mkdir()
    return found


def keep(loaded, edge: JoinEdge) -> None:
    with open_store(loaded, {}) as store:
        store.joins.replace([edge], [])


def is_closed(store: Store) -> bool:
    return store._db._closed


def test_the_state_is_opened_once_and_says_what_it_says_now(loaded, opened):
    state = StateReader(loaded, {})
    keep(loaded, EDGE)
    assert state.joins_of(["lake/b"]) == [EDGE]
    keep(loaded, OTHER)
    assert state.joins_of(["lake/b"]) == [OTHER]
    state.close()
    assert [is_closed(store) for store in opened] == [True]
    assert state.joins_of(["lake/b"]) == [OTHER]
    state.close()


def test_where_there_is_no_state_none_is_created(loaded, opened):
    state = StateReader(loaded, {})
    assert state.joins_of(["lake/b"]) == []
    assert (opened, list(loaded.home.iterdir())) == ([], [])


def test_a_state_that_was_put_in_its_place_is_asked_instead(loaded, opened):
    state = StateReader(loaded, {})
    keep(loaded, EDGE)
    assert state.joins_of(["lake/b"]) == [EDGE]
    for file in loaded.home.glob("state.db*"):
        file.rename(file.with_name(f"old-{file.name}"))
    assert state.joins_of(["lake/b"]) == []
    keep(loaded, OTHER)
    assert state.joins_of(["lake/b"]) == [OTHER]
    assert [is_closed(store) for store in opened] == [True, False]
    state.close()


def test_a_state_that_failed_is_opened_once_more(loaded, opened):
    state = StateReader(loaded, {})
    keep(loaded, EDGE)
    state.joins_of(["lake/b"])
    opened[0].close()
    assert state.joins_of(["lake/b"]) == [EDGE]
    state.close()
    assert [is_closed(store) for store in opened] == [True, True]


def test_it_is_closed_when_the_last_question_has_ended(loaded, opened):
    keep(loaded, EDGE)
    state = StateReader(loaded, {})
    state.joins_of(["lake/b"])
    asked, go_on = threading.Event(), threading.Event()
    look_up = opened[0].joins.of_tables

    def slowly(table_ids: list[str]) -> list[JoinEdge]:
        asked.set()
        assert go_on.wait(60)
        return look_up(table_ids)

    opened[0].joins.of_tables = slowly
    with ThreadPoolExecutor() as pool:
        answer = pool.submit(state.joins_of, ["lake/b"])
        assert asked.wait(60)
        state.close()
        assert not is_closed(opened[0])
        go_on.set()
        assert answer.result(60) == [EDGE]
    assert [is_closed(store) for store in opened] == [True]


def test_many_threads_ask_one_state(loaded, opened):
    keep(loaded, EDGE)
    state = StateReader(loaded, {})
    with ThreadPoolExecutor(8) as pool:
        assert set(map(len, pool.map(lambda _: state.joins_of(["lake/b"]), range(200)))) == {1}
    state.close()
    assert [is_closed(store) for store in opened] == [True]
