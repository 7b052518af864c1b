"""What threads share is opened once, and closed when its last use has ended."""

import threading
from concurrent.futures import ThreadPoolExecutor

from pneuma_assets.core.close_once import Closing, Shared


class Resource(Closing):
    closed = 0

    def close(self) -> None:
        self.closed += 1


def test_many_threads_open_one():
    opened: list[Resource] = []
    shared = Shared(lambda: (opened.append(Resource()), opened[-1])[1])

    def use(_: int) -> Resource:
        with shared.use() as one:
            assert not one.closed
            return one

    with ThreadPoolExecutor(8) as pool:
        assert {*pool.map(use, range(200))} == {*opened} == {shared.current()}
    shared.retire()
    shared.retire()
    assert [one.closed for one in opened] == [1]
    assert not shared.is_open
    assert shared.current() is not opened[0]


def test_what_is_in_use_stays_open_and_the_next_use_has_another():
    shared = Shared(Resource)
    used, go_on = threading.Event(), threading.Event()

    def use() -> Resource:
        with shared.use() as one:
            used.set()
            assert go_on.wait(60)
            assert not one.closed
            return one

    with ThreadPoolExecutor() as pool:
        asking = pool.submit(use)
        assert used.wait(60)
        first = shared.current()
        shared.retire(first)
        with shared.use() as second:
            assert second is not first
            shared.retire(first)  # it is not in its place any more
            assert shared.current() is second
        go_on.set()
        assert asking.result(60) is first
    assert (first.closed, second.closed) == (1, 0)
