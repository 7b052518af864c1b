"""The SDK's own client over both transports: all tools, rights of each caller, and refusals."""

import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from pneuma_assets.core.service.access_keys import create_key
from pneuma_assets.workspace import open_workspace
from tests.support.served_home import guarded_app, local_app
from tests.support.served_port import serving
from tests.support.tools_lake import CANARY, HIDDEN, make_tools_lake
from tests.support.waiting import LONGEST

pytestmark = pytest.mark.integration

WITH_WORDS = """
from tests.support.word_encoder import WordEncoder
import pneuma_assets.core.models.encoder.encoder as encoder
encoder.open_encoder = lambda *_: WordEncoder()
from pneuma_assets.cli import main
main()
"""
"""The command line, with an encoder that needs no model."""

CALLS = {
    "find_tables": {"question": f"orders of customers, {CANARY}"},
    "describe_table": {"table": "lake/orders"},
    "find_groups": {"question": f"amount of orders by customer, {CANARY}"},
    "answer": {"question": "customers in Kiel"},
    "sample_rows": {"table": "lake/customers"},
    "lineage": {"table": "lake/shop/sales"},
    "example_queries": {"table": "lake/shop/sales"},
}
TALKS = {"list_conversations", "show_conversation", "converse", "change_state", "make_tables"}
SALES = "SELECT c.city, sum(o.amount_eur) AS euros FROM o JOIN c USING (customer_id) GROUP BY 1"
STATE = {
    "sources": [
        {"name": "o", "table_ids": ["lake/orders"]},
        {"name": "c", "table_ids": ["lake/customers"]},
    ],
    "tables": [
        {
            "name": "sales",
            "columns": [{"name": "city"}, {"name": "euros", "type": "number"}],
            "steps": [{"operator": "sql", "reads": ["o", "c"], "makes": "sales", "code": SALES}],
        }
    ],
    "queries": [{"name": "most", "sql": "SELECT city, euros FROM sales ORDER BY euros DESC"}],
    "assumptions": [{"text": "Prices are net.", "confirmed": True}],
}
HIDDEN_CALLS = [
    (tool, {"table": HIDDEN[0]}) for tool, arguments in CALLS.items() if "table" in arguments
]


@pytest.fixture(scope="module")
def lake(tmp_path_factory, small_encoder, read_here) -> Path:
    return make_tools_lake(tmp_path_factory.mktemp("tools"))


@pytest.fixture(scope="module")
def guarded(lake):
    """The address of a server, and a key for each asker."""
    with open_workspace(lake) as workspace:
        keys = {
            name: create_key(workspace.store, name, readers)[1]
            for name, readers in (("finance", ["finance"]), ("eve", ["eve"]))
        }
    with serving(guarded_app(lake)) as address:
        yield f"{address}/mcp", keys


@asynccontextmanager
async def over_http(url, key, mode):
    async with (
        create_mcp_http_client(headers={"Authorization": f"Bearer {key}"}) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


@asynccontextmanager
async def over_stdio(lake, mode, *names):
    asked = [part for name in names for part in ("--as", name, "--author", name)]
    root = Path(__file__).parents[2]
    server = StdioServerParameters(
        command=sys.executable,
        args=["-c", WITH_WORDS, "--config", str(lake), "mcp", *asked],
        env={"PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"},
    )
    async with Client(server, mode=mode) as client:
        yield client


@asynccontextmanager
async def opened(transport, lake, guarded, asker, mode="auto"):
    """A client of either transport, who asks under this one name."""
    if transport == "stdio":
        async with over_stdio(lake, mode, asker) as client:
            yield client
    else:
        async with over_http(guarded[0], guarded[1][asker], mode) as client:
            yield client


def said(result) -> str:
    return "".join(one.text for one in result.content) + json.dumps(result.structured_content)


TRANSPORTS = [pytest.param("stdio", marks=pytest.mark.slow), "http"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_every_tool_answers_and_tells_nothing_of_hidden_tables(lake, guarded, transport, mode):
    async def asked():
        async with opened(transport, lake, guarded, "eve", mode) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert set(tools) == TALKS | set(CALLS)
            for tool, arguments in CALLS.items():
                result = await client.call_tool(tool, arguments)
                assert not result.is_error, said(result)
                assert json.loads(result.content[0].text) == result.structured_content
                assert f"{CANARY}_" not in said(result)
                assert "vault/" not in said(result)
            for tool, arguments in HIDDEN_CALLS:
                refused = await client.call_tool(tool, arguments)
                absent = await client.call_tool(tool, {"table": "vault/none"})
                assert refused.is_error
                there, not_there = said(refused), said(absent)
                assert there.replace(HIDDEN[0], "?") == not_there.replace("vault/none", "?")

    anyio.run(asked)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_who_may_see_a_table_is_told_of_it(lake, guarded, transport):
    async def asked():
        async with opened(transport, lake, guarded, "finance") as client:
            found = await client.call_tool("find_tables", {"question": CANARY})
            assert found.structured_content["tables"][0]["table"] in HIDDEN
            for tool, arguments in HIDDEN_CALLS:
                assert not (await client.call_tool(tool, arguments)).is_error

    anyio.run(asked)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_table_is_worked_out_for_its_person_alone(lake, guarded, transport):
    async def worked_out():
        async with opened(transport, lake, guarded, "eve") as client:

            async def told(tool, **arguments):
                result = await client.call_tool(tool, arguments)
                assert not result.is_error, said(result)
                assert json.loads(result.content[0].text) == result.structured_content
                return result.structured_content

            begun = await told("converse", text="amount of orders by city of the customer")
            here = {"conversation": begun["conversation"]}
            assert begun["state"]["sources"]
            assert "proposed" in begun["message"]
            names = [one["name"] for key in ("sources", "tables") for one in begun["state"][key]]
            changed = await told("change_state", **here, state=STATE, remove=names)
            assert [one["subject"] for one in changed["findings"]] == ["rows"], "it reads no table"
            changed = await told("change_state", **here, state={}, remove=["rows"])
            assert "findings" not in changed
            assert [one["name"] for one in changed["state"]["queries"]] == ["most"]
            assert "confirmed" not in changed["state"]["assumptions"][0]
            assert "message" not in changed, "what was said was of another state"
            for table in (*HIDDEN, "vault/none"):
                state = {"sources": [{"name": "s", "table_ids": [table]}]}
                hidden = await client.call_tool("change_state", {**here, "state": state})
                assert hidden.is_error
                assert f"unknown table '{table}'" in said(hidden)
            made = await told("make_tables", **here)
            most, sales = made["results"]
            assert (most["name"], most["total"], most["columns"]) == ("most", 3, ["city", "euros"])
            assert sales["total"] == 3
            assert "agreed" not in made, "an agent agrees to nothing"
            await told("converse", **here, text="Yes, go ahead.")
            shown = await told("show_conversation", **here, part="sales")
            assert "agreed" not in shown
            assert set(shown["state"]) == {"tables"}
            listed = await told("list_conversations")
            assert here["conversation"] in str(listed)
        return here

    async def another(here):
        async with opened(transport, lake, guarded, "finance") as client:
            for tool, more in (
                ("show_conversation", {}),
                ("change_state", {"state": STATE}),
                ("make_tables", {}),
                ("converse", {"text": "Hello"}),
            ):
                own = await client.call_tool(tool, {**here, **more})
                none = await client.call_tool(tool, {"conversation": "0" * 16, **more})
                assert own.is_error
                assert said(own).replace(here["conversation"], "0" * 16) == said(none)
            listed = await client.call_tool("list_conversations", {})
            assert here["conversation"] not in said(listed)

    anyio.run(another, anyio.run(worked_out))


def test_callers_at_the_same_time_keep_their_own_rights(guarded):
    url, keys = guarded
    seen = {name: [] for name in keys}

    async def ask(name):
        async with over_http(url, keys[name], "auto") as client:
            for _ in range(5):
                result = await client.call_tool("find_tables", {"question": CANARY})
                seen[name].append("vault/" in said(result))

    async def all_at_once():
        async with anyio.create_task_group() as group:
            for name in [*keys] * 3:
                group.start_soon(ask, name)

    anyio.run(all_at_once)
    assert seen == {"finance": [True] * 15, "eve": [False] * 15}


CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.mark.parametrize(
    ("method", "headers", "body", "status"),
    [
        ("POST", {}, CALL, 401),
        ("POST", {"Authorization": "Bearer pneuma_0_x"}, CALL, 401),
        ("POST", {"Authorization": "Basic eve"}, CALL, 401),
        ("POST", {"key": "eve", "Origin": "https://evil.example"}, CALL, 403),
        ("POST", {"key": "eve", "Origin": "http://["}, CALL, 403),
        ("POST", {"key": "eve", "Origin": "null"}, CALL, 403),
        ("POST", {"key": "eve"}, CALL, 200),
        ("POST", {"key": "eve"}, [CALL] * 3, 400),
        ("POST", {"key": "eve"}, "no object", 400),
        ("POST", {"key": "eve"}, {**CALL, "params": {"x": "y" * 300_000}}, 413),
        ("GET", {"key": "eve"}, None, 405),
        ("DELETE", {"key": "eve"}, None, 405),
    ],
)
def test_requests_that_are_refused(guarded, method, headers, body, status):
    url, keys = guarded
    sent = {name: value for name, value in headers.items() if name != "key"}
    if "key" in headers:
        sent["Authorization"] = f"Bearer {keys[headers['key']]}"
    answer = httpx.request(method, url, headers={**ACCEPT, **sent}, json=body, timeout=LONGEST)
    assert answer.status_code == status
    assert "mcp-session-id" not in answer.headers


def test_a_local_server_answers_no_page_of_another_site(lake):
    with serving(local_app(lake)) as address:
        for headers, status in (
            ({}, 200),
            ({"Origin": address}, 200),
            ({"Origin": "https://evil.example"}, 403),
            ({"Host": "evil.example"}, 421),
        ):
            sent = {**ACCEPT, **headers}
            answer = httpx.post(f"{address}/mcp", headers=sent, json=CALL, timeout=LONGEST)
            assert answer.status_code == status, headers


def test_standard_output_is_the_protocols_alone(lake):
    hello = {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }  # fmt: skip
    called = {tool: CALLS[tool] for tool in ("find_tables", "describe_table", "sample_rows")}
    messages = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *(
            {
                "jsonrpc": "2.0", "id": number, "method": "tools/call",
                "params": {"name": tool, "arguments": arguments},
            }
            for number, (tool, arguments) in enumerate(called.items(), start=1)
        ),
        {"jsonrpc": "2.0", "id": 99, "method": "no/such"},
    ]  # fmt: skip
    text = "".join(json.dumps(one) + "\n" for one in messages) + "no json\n"
    with subprocess.Popen(
        [sys.executable, "-c", WITH_WORDS, "--config", str(lake), "mcp"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    ) as process:  # fmt: skip
        process.stdin.write(text)
        process.stdin.flush()
        answered = set()
        while len(answered) < len(called) + 2:
            message = json.loads(process.stdout.readline())
            assert message["jsonrpc"] == "2.0"
            answered.add(message.get("id"))
        rest, errors = process.communicate(timeout=LONGEST)
    assert process.returncode == 0, errors
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines())
    assert "Traceback" not in errors
