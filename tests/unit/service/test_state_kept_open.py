"""Questions look joins up in a state that stays open, and never in one that is another by now."""

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
def loaded(here):
    found = load_deployment(home=here / "home")
    found.home.mkdir()
    return found


def keep(loaded, edge: JoinEdge) -> None:
    with open_store(loaded, {}) as store:
        store.joins.replace([edge], [])


def joins(state: StateReader) -> list[JoinEdge]:
    return state.read(lambda store: store.joins.of_tables(["lake/b"]), [])


def closed(stores: list[Store]) -> list[bool]:
    return [store._db._closed for store in stores]


def test_the_state_is_opened_once_and_says_what_it_says_now(loaded, opened):
    state = StateReader(loaded, {})
    keep(loaded, EDGE)
    assert joins(state) == [EDGE]
    keep(loaded, OTHER)
    assert joins(state) == [OTHER]
    state.close()
    assert closed(opened) == [True]
    assert joins(state) == [OTHER]
    state.close()


def test_where_there_is_no_state_none_is_created(loaded, opened):
    state = StateReader(loaded, {})
    assert joins(state) == []
    assert (opened, list(loaded.home.iterdir())) == ([], [])


def test_a_state_that_was_put_in_its_place_is_asked_instead(loaded, opened):
    state = StateReader(loaded, {})
    keep(loaded, EDGE)
    assert joins(state) == [EDGE]
    for file in loaded.home.glob("state.db*"):
        file.rename(file.with_name(f"old-{file.name}"))
    assert joins(state) == []
    keep(loaded, OTHER)
    assert joins(state) == [OTHER]
    assert closed(opened) == [True, False]
    state.close()


def test_a_state_that_failed_is_opened_once_more(loaded, opened):
    state = StateReader(loaded, {})
    keep(loaded, EDGE)
    joins(state)
    opened[0].close()
    assert joins(state) == [EDGE]
    state.close()
    assert closed(opened) == [True, True]
