"""Calls that are cancelled, fail, or come all at once, with a desk that does as it is told."""

import logging
import threading
from types import SimpleNamespace

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from pneuma_assets.core.access_names import Asker
from pneuma_assets.core.config.web import WebConfig
from pneuma_assets.core.errors import ConfigError, QueryError, StateError
from pneuma_assets.mcp_server.server import MOST_CALLS, build_server
from tests.support.waiting import LONGEST

SECRET = "/srv/vault/state.db"


class Desk:
    """Waits, or fails, where a table is so called; counts those at work."""

    def __init__(self, **web):
        deployment = SimpleNamespace(web=WebConfig(**web))
        self.loaded = SimpleNamespace(deployment=deployment)
        self.go, self.lock = threading.Event(), threading.Lock()
        self.at_work = self.most = 0

    def lineage(self, table_id, way, *, depth, keys, readers):
        with self.lock:
            self.at_work += 1
            self.most = max(self.most, self.at_work)
        try:
            if table_id == "waits":
                assert self.go.wait(LONGEST)
            if table_id in ERRORS:
                raise ERRORS[table_id]
            return []
        finally:
            with self.lock:
                self.at_work -= 1


ERRORS = {
    "fails config": ConfigError("unknown table 'x'"),
    "fails query": QueryError("depth must be a whole number"),
    "fails state": StateError(f"cannot open {SECRET}"),
    "fails": RuntimeError(SECRET),
}


def with_client(desk, work, asker=Asker("ann", ())):  # noqa: B008 (frozen)
    async def run():
        async with Client(build_server(desk, lambda _: asker), mode="legacy") as client:
            await work(client)

    with_time(run, desk)


def with_time(run, desk):
    async def bounded():
        with anyio.fail_after(LONGEST):
            await run()

    try:
        anyio.run(bounded)
    finally:
        desk.go.set()


def test_a_cancelled_call_keeps_nobody_waiting():
    desk = Desk()

    async def work(client):
        for _ in range(3):
            with anyio.move_on_after(0.2) as scope:
                await client.call_tool("lineage", {"table": "waits"})
            assert scope.cancelled_caught
        result = await client.call_tool("lineage", {"table": "lake/orders"})
        assert result.structured_content["total"] == 0

    with_client(desk, work)


def test_one_asker_leaves_threads_to_others():
    desk, arrived = Desk(), []

    def asker_of(request):
        arrived.append(request)
        return Asker("ann" if len(arrived) <= MOST_CALLS else "ben", ())

    async def run():
        server = build_server(desk, asker_of, is_shared=True)
        async with Client(server, mode="legacy") as client, anyio.create_task_group() as group:
            for _ in range(MOST_CALLS):
                group.start_soon(client.call_tool, "lineage", {"table": "waits"})
            while len(arrived) < MOST_CALLS:
                await anyio.sleep(0.01)
            result = await client.call_tool("lineage", {"table": "lake/orders"})
            assert result.structured_content["total"] == 0
            desk.go.set()

    with_time(run, desk)
    assert desk.most == MOST_CALLS // 2 + 1


def test_a_call_that_takes_too_long_is_given_up():
    desk = Desk(answer_seconds=1)

    async def work(client):
        result = await client.call_tool("lineage", {"table": "waits"})
        assert result.is_error
        assert "took longer than 1 s" in result.content[0].text

    with_client(desk, work)


@pytest.mark.parametrize(
    ("table", "asker", "said", "logged"),
    [
        ("fails config", Asker("ann", ()), "unknown table 'x'; find_tables gives ids", False),
        ("fails query", Asker("ann", ()), "depth must be a whole number", False),
        ("fails state", Asker("ann", ()), "tell the people who run this server", True),
        ("fails state", Asker("ann"), "tell the people who run this server", True),
        ("fails state", Asker("op", is_operator=True), SECRET, False),
        ("fails", Asker("op", is_operator=True), "Error executing tool lineage", True),
    ],
)
def test_the_causes_of_trouble_are_told_to_operators(caplog, table, asker, said, logged):
    async def work(client):
        with caplog.at_level(logging.WARNING):
            result = await client.call_tool("lineage", {"table": table})
        assert result.is_error
        text = result.content[0].text
        assert said in text
        assert (SECRET in text) == (said == SECRET)

    with_client(Desk(), work, asker)
    assert (SECRET in caplog.text) == logged


def test_who_asks_has_to_be_known():
    async def run():
        def nobody(_):
            raise TypeError(SECRET)

        async with Client(build_server(Desk(), nobody)) as client:
            result = await client.call_tool("lineage", {"table": "lake/orders"})
            assert result.is_error
            assert SECRET not in result.content[0].text
            with pytest.raises(MCPError):
                await client.read_resource("file:///etc/passwd")

    anyio.run(run)


def test_a_prompt_that_is_unknown_is_no_crash(caplog):
    async def work(client):
        with caplog.at_level(logging.INFO), pytest.raises(MCPError, match="no prompts"):
            await client.get_prompt("nope\nnope")

    with_client(Desk(), work)
    assert not [one for one in caplog.records if one.exc_info or one.levelno >= logging.WARNING]
