"""Forty threads share one workspace, also while it is released and its state is written."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from pneuma_assets import IndexFilter, open_workspace
from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.core.store import Store
from tests.support.catalog_rows import row, write
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
