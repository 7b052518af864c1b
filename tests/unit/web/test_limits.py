"""How much is taken of a request, how often, and what happens where work takes too long."""

import asyncio
import threading
import time

import pytest
from starlette.requests import ClientDisconnect

from pneuma_assets.core.errors import BusyError, TooSlowError
from pneuma_assets.core.service.work_pool import WorkPool
from pneuma_assets.web import limits
from pneuma_assets.web.limits import MOST_BODY_BYTES, RateLimiter, read_body
from pneuma_assets.web.problems import RefusedError, problem_of


def refused(call) -> int:
    with pytest.raises(RefusedError) as caught:
        call()
    return caught.value.problem.status


def test_a_bucket_is_of_one_asker_and_fills_again(monkeypatch):
    now = 0.0
    monkeypatch.setattr(limits.time, "monotonic", lambda: now)
    rate = RateLimiter(3)
    for _ in range(3):
        rate.take("ana")
    assert refused(lambda: rate.take("ana")) == 429
    rate.take("bob")
    now = 20.5  # three a minute: one more
    rate.take("ana")
    assert refused(lambda: rate.take("ana")) == 429


def test_however_many_askers_there_are_so_many_are_counted(monkeypatch):
    monkeypatch.setattr(limits, "_MOST_COUNTED", 10)
    rate = RateLimiter(5)
    for at in range(1000):
        rate.take(f"asker {at}")
    assert len(rate._left) == 10


def body_of(*messages, declared=None, slow=False):
    """What comes of reading these parts of a body."""
    left = [{"type": "http.request", "body": one, "more_body": True} for one in messages]
    left[-1]["more_body"] = False

    async def receive():
        if slow:
            await asyncio.sleep(3600)
        return left.pop(0)

    async def read() -> bytes:
        again, whole = await read_body(receive, declared), b""
        for _ in messages:
            whole += (await again())["body"]
        return whole

    return asyncio.run(read())


def test_bodies_are_given_again_or_refused_in_time(monkeypatch):
    assert body_of(b"a", b"", b"bc", declared="3") == b"abc"
    assert refused(lambda: body_of(*[b"x" * 100_000] * 11)) == 413
    monkeypatch.setattr(limits, "_BODY_SECONDS", 0.05)
    assert refused(lambda: body_of(b"", slow=True)) == 408


@pytest.mark.parametrize("declared", [str(MOST_BODY_BYTES + 1), "9" * 5000, "-1", "1e3", ""])
def test_a_body_that_says_it_is_too_large_is_not_read(declared):
    assert refused(lambda: body_of(b"", declared=declared, slow=True)) == 413


def test_who_leaves_before_the_end_is_not_answered():
    async def leaves():
        return {"type": "http.disconnect"}

    with pytest.raises(ClientDisconnect):
        asyncio.run(read_body(leaves, None))


def test_work_that_takes_too_long_is_given_up_and_keeps_its_thread():
    ended, running = threading.Event(), []

    async def ask():
        pool = WorkPool("test", 2, 0.1, is_shared=False)
        given_up = [pool.run(lambda: (running.append(1), ended.wait(30))) for _ in range(6)]
        results = await asyncio.gather(*given_up, return_exceptions=True)
        assert [problem_of(one).code for one in results] == ["too-slow"] * 2 + ["busy"] * 4
        assert len(running) == 2  # those that waited were never begun
        ended.set()
        until = time.monotonic() + 30
        while True:
            try:
                return await pool.run(lambda: "answered")
            except (BusyError, TooSlowError):
                assert time.monotonic() < until

    assert asyncio.run(ask()) == "answered"


@pytest.mark.timeout(120)  # or it waits for an hour
def test_of_more_than_may_wait_the_rest_is_refused_at_once():
    ended = threading.Event()

    async def ask():
        pool = WorkPool("test", 1, 3_600.0, is_shared=False)
        asked = [asyncio.ensure_future(pool.run(ended.wait)) for _ in range(17)]
        await asyncio.sleep(0)
        with pytest.raises(BusyError):
            await pool.run(ended.wait)
        ended.set()
        return await asyncio.gather(*asked)

    assert asyncio.run(ask()) == [True] * 17


def test_requests_need_no_new_thread(request):
    async def ask():
        pool = WorkPool("test", 2, 30.0, is_shared=False)
        request.getfixturevalue("threads_run_out")
        return await asyncio.gather(*(pool.run(lambda: "answered") for _ in range(4)))

    assert asyncio.run(ask()) == ["answered"] * 4


def test_one_asker_leaves_threads_and_places_to_others():
    ended = threading.Event()

    async def ask():
        many = [asyncio.create_task(pool.run(ended.wait, "ana")) for _ in range(18)]
        assert await asyncio.create_task(pool.run(lambda: "answered", "bob")) == "answered"
        ended.set()
        return await asyncio.gather(*many, return_exceptions=True)

    pool = WorkPool("test", 2, 30.0, is_shared=True)
    *answered, refused = asyncio.run(ask())
    assert answered == [True] * 17
    told = problem_of(refused).response()
    assert (told.status_code, told.headers["Retry-After"]) == (503, "1")


def test_what_is_given_up_still_counts_for_its_asker():
    """Else who asks again and again would hold all threads in time."""
    ended, running = threading.Event(), []

    async def ask():
        pool = WorkPool("test", 2, 0.1, is_shared=True)
        for kind in (TooSlowError, BusyError, BusyError):
            with pytest.raises(kind):
                await pool.run(lambda: (running.append(1), ended.wait(30)))
        ended.set()

    asyncio.run(ask())
    assert len(running) == 1
