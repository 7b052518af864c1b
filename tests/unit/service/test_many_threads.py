"""Threads share one workspace and one open state, released, replaced or written meanwhile."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from pneuma_assets import IndexFilter, open_workspace
from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.models.language import registry
from pneuma_assets.core.relations.join_graph import JoinEdge, JoinKind
from pneuma_assets.core.service import workspace_base as module
from pneuma_assets.core.service.state import StateReader, open_store
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.core.store import Store
from tests.support.catalog_rows import row, write
from tests.support.fake_model import FakeLanguageModel
from tests.support.indexed_home import make_home

THREADS = 40


@pytest.fixture
def indexed(here, read_here):
    make_home(here, {f"lake/rivers{n}.csv": "river,length\ndanube,2850\n" for n in range(3)})
    return here


CALLS = [
    lambda desk: len(desk.ask("danube")),
    lambda desk: len(desk.search("danube", words_only=True).hits),
    lambda desk: desk.browse(readers=("ana",)).total,
    lambda desk: len(desk.suggest("riv")),
    lambda desk: desk.table("lake/rivers1").card.rows,
    lambda desk: len(desk.sample_rows("lake/rivers1").rows),
    lambda desk: len(desk.lineage("lake/rivers0")),
    lambda desk: len(desk.descriptions("lake/rivers2")),
    lambda desk: len(desk.find_groups("danube", where=IndexFilter(readers=("ana",)))),
    lambda desk: desk.add_context("lake/rivers0", "note", "text"),
]


def test_forty_threads_are_answered_while_others_release_and_write(indexed):
    with open_workspace(home=indexed / "home") as desk:
        expected = [call(desk) for call in CALLS]
        begin, until = threading.Barrier(THREADS + 1), time.monotonic() + 3

        def ask(first: int) -> int:
            begin.wait(60)
            asked = 0
            while time.monotonic() < until or not asked:
                place = (first + asked) % len(CALLS)
                assert CALLS[place](desk) == expected[place]
                asked += 1
            return asked

        with ThreadPoolExecutor(THREADS) as pool:
            asking = [pool.submit(ask, number) for number in range(THREADS)]
            begin.wait(60)
            while time.monotonic() < until:
                desk.release()
                time.sleep(0.05)
            assert sum(one.result(120) for one in asking) >= THREADS


def test_who_reads_does_not_wait_for_who_writes(indexed):
    with open_workspace(home=indexed / "home") as desk, Store(indexed / "home/state.db") as other:
        total = desk.browse().total
        with other._db.write():
            adding = threading.Thread(target=desk.add_context, args=("lake/rivers0", "n", "t"))
            adding.start()
            for _ in range(5):
                assert desk.table("lake/rivers0").card.rows == 1
                assert desk.browse().total == total
            assert adding.is_alive()
        adding.join(60)
        assert [one.name for one in desk.contexts("lake/rivers0")] == ["n"]


def test_threads_that_come_first_open_one_state(here, monkeypatch):
    opened = []
    with Workspace(load_deployment()) as desk:
        write(desk.store, [row("lake/a")])
        desk.release()
        opening = Store.__init__

        def counted(store, at):
            opened.append(at)
            time.sleep(0.05)
            opening(store, at)

        monkeypatch.setattr(Store, "__init__", counted)
        with ThreadPoolExecutor(THREADS) as pool:
            totals = list(pool.map(lambda _: desk.browse().total, range(THREADS)))
    assert set(totals) == {1}
    assert len(opened) == 1


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


class Model(FakeLanguageModel):
    closed = False

    def close(self) -> None:
        assert not self.closed
        self.closed = True


@pytest.fixture
def models(monkeypatch) -> list[Model]:
    """The models that were opened, in order."""
    found: list[Model] = []
    opening = lambda *_: (found.append(Model()), found[-1])[1]  # noqa: E731
    monkeypatch.setattr(registry, "open_language_model", opening)
    monkeypatch.setattr(module, "check_answerable", lambda _: None)
    return found


@pytest.fixture
def workspace(here, models):
    (here / "pneuma.yaml").write_text("home: home\njudge: {model: m}\nanswers: {model: m}\n")
    with Workspace(load_deployment()) as workspace:
        yield workspace


@pytest.mark.parametrize("end", [Workspace.release, Workspace.close])
@pytest.mark.parametrize("loads", ["before", "after"])
def test_a_question_in_flight_keeps_its_model_and_opens_none_behind(workspace, models, end, loads):
    asked, go_on = threading.Event(), threading.Event()

    def answer(question, k, model, where):
        if loads == "before":
            assert not session.model("answers").closed
        asked.set()
        assert go_on.wait(60)
        return session.model("answers")

    session = workspace._session
    session.answering.answer = answer
    with ThreadPoolExecutor() as pool:
        asking = pool.submit(workspace.answer, "?")
        assert asked.wait(60)
        end(workspace)
        closed = [one.closed for one in models]
        go_on.set()
        assert not any(closed)
        assert asking.result(60) is models[0]
    assert [one.closed for one in models] == [True]
    with pytest.raises(StateError, match="released"):
        _ = session.model("judge")


def test_after_a_release_there_are_other_parts_and_after_closing_none(workspace, models):
    first = workspace._session.model("judge")
    assert workspace._session.model("judge") is first
    workspace.release()
    assert workspace._session.model("judge") is not first
    workspace.close()
    workspace.close()
    assert [one.closed for one in models] == [True, True]
    for use in (
        lambda: workspace._session,
        lambda: workspace.answer("?"),
        lambda: workspace.encoder,
    ):
        with pytest.raises(StateError, match="closed"):
            use()
