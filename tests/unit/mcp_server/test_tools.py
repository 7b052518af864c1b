"""What the tools tell: content and structure alike, within limits, and why something failed."""

import json
import time

import anyio
import pytest
from mcp import Client

from pneuma_assets.core.access_names import Asker
from pneuma_assets.mcp_server.results import estimated_tokens
from pneuma_assets.mcp_server.server import INSTRUCTIONS, build_server
from tests.support.tools_lake import WIDE
from tests.support.waiting import LONGEST

OF_A_TABLE = ("describe_table", "sample_rows", "lineage", "example_queries")
OF_A_QUESTION = ("find_tables", "find_groups", "answer")
OF_CONVERSATIONS = {
    "list_conversations": (True, True, False),
    "show_conversation": (True, True, False),
    "converse": (False, False, True),
    "change_state": (False, True, False),
    "make_tables": (False, False, False),
}
"""Whether each only reads, may be repeated, and asks what lies elsewhere."""


def told(result):
    """The structured content of a result; its text says the same."""
    assert not result.is_error, result.content
    (content,) = result.content
    assert json.loads(content.text) == result.structured_content
    return result.structured_content


def refused(result):
    assert result.is_error
    assert result.structured_content is None
    (content,) = result.content
    assert "\n" not in content.text
    return content.text


def test_tables_are_found_and_described(call):
    found = told(call("find_tables", question="orders of the web shop"))
    assert found["tables"][0]["table"] == "lake/orders"
    assert found["limit"] == 10
    assert found["total"] == 9
    page = told(call("describe_table", table="lake/orders"))
    assert page["rows"] == 200
    assert [one["name"] for one in page["columns"]] == [
        *("order_id", "customer_id", "amount_eur", "ordered_on")
    ]
    assert page["columns"][2]["about"] == "Price"
    price, day = page["columns"][2:]
    assert (price["least"], price["greatest"]) == ("0.0", "298.5")
    assert (day["least"], day["greatest"]) == ("2024-01-01", "2024-01-28")
    _, name, city = told(call("describe_table", table="lake/customers"))["columns"]
    assert not {"least", "greatest"} & {*name, *city}
    assert sorted(city["frequent"]) == ["Graz", "Kiel", "Lyon"]
    assert page["joins"][0]["other"] == "lake/customers"
    assert page["joins"][0]["on"] == "orders.customer_id = customers.customer_id"
    assert "web shop" in page["documents"][0]


def test_groups_rows_lineage_and_answers(call):
    groups = told(call("find_groups", question="amount of orders by customer name"))
    assert set(groups["groups"][0]["tables"]) == {"lake/orders", "lake/customers"}
    rows = told(call("sample_rows", table="lake/customers", limit=3))
    assert rows["columns"] == ["customer_id", "name", "city"]
    assert (len(rows["rows"]), rows["total"], rows["limit"]) == (3, 40, 3)
    assert rows["truncated"] is True
    up = told(call("lineage", table="lake/shop/sales_by_city", direction="upstream"))
    assert [one["table"] for one in up["tables"]] == ["lake/shop/sales"]
    assert (up["total"], up["truncated"]) == (1, False)
    answer = told(call("answer", question="customers in Kiel"))
    assert answer["outcome"] == "named"
    assert any("Kiel" in row for one in answer["named"] for row in one["rows"])
    assert not answer.get("answers")


def test_confirmed_answers_are_told(call, desk):
    sql = "SELECT sum(euros) FROM sales"
    answer_id = desk.confirm_answer("euros of all sales", ["lake/shop/sales"], sql=sql, author="a")
    try:
        examples = told(call("example_queries", table="lake/shop/sales"))["examples"]
        spelled = 'SELECT SUM("sales"."euros") FROM "sales"'
        assert examples[0] == {
            "sql": spelled, "kind": "confirmed answer", "of": "euros of all sales", "author": "a",
        }  # fmt: skip
        again = told(call("find_tables", question="euros of all sales"))
        assert again["confirmed"] == [
            {"question": "euros of all sales", "tables": ["lake/shop/sales"]}
        ]
    finally:
        desk.forget_answer(answer_id)


def test_questions_that_no_table_answers_are_noted(call, desk):
    question = "blood pressure of astronauts"
    assert told(call("find_tables", question=question))["unlikely"] is True
    ends = time.monotonic() + LONGEST
    while question not in [one.question for one in desk.failing_questions()[1]]:
        assert time.monotonic() < ends
    desk.forget_questions()


def test_examples_are_statements_of_views(call):
    examples = told(call("example_queries", table="lake/shop/sales"))["examples"]
    assert any(e["kind"] == "reader" and "GROUP BY city" in e["sql"] for e in examples)
    examples = told(call("example_queries", table="lake/shop/sales_by_city"))["examples"]
    assert any(e["kind"] == "definition" and "GROUP BY city" in e["sql"] for e in examples)


@pytest.mark.parametrize(("asked", "applied"), [(1, 1), (2, 2), (50, 50), (10**9, 50)])
@pytest.mark.parametrize("tool", [*OF_A_QUESTION[:2], *OF_A_TABLE])
def test_every_list_says_its_limit_and_what_is_not_there(call, tool, asked, applied):
    about = {"table": "lake/sensors"} if tool in OF_A_TABLE else {"question": "sensors of orders"}
    found = told(call(tool, limit=asked, **about))
    assert found["limit"] == applied
    (items,) = (found[key] for key in ("tables", "columns", "groups", "examples") if key in found)
    if tool == "sample_rows":
        items = found["rows"]
    assert len(items) <= applied
    if found["total"] is not None and tool != "sample_rows":
        assert found["truncated"] == (len(items) < found["total"])


def test_columns_of_a_wide_table_come_in_parts(call):
    names, offset = [], 0
    while True:
        page = told(call("describe_table", table="lake/sensors", offset=offset))
        assert page["total"] == WIDE
        names += [one["name"] for one in page["columns"]]
        offset += len(page["columns"])
        if not page["truncated"]:
            break
    assert names == [f"sensor_{n}" for n in range(WIDE)]
    assert told(call("sample_rows", table="lake/sensors"))["columns_total"] == WIDE


@pytest.mark.parametrize("tool", OF_A_TABLE)
@pytest.mark.parametrize("readers", [(), None])
def test_an_unknown_table_is_told_with_its_neighbours_and_without_a_command(desk, tool, readers):
    asker = Asker("ann", readers, is_operator=readers is None)

    async def asked():
        async with Client(build_server(desk, lambda _: asker)) as client:
            return [await client.call_tool(tool, {"table": one}) for one in ("lake/order", "!")]

    near, far = map(refused, anyio.run(asked))
    assert "unknown table 'lake/order'; did you mean lake/orders" in near
    assert far.endswith("unknown table '!'; find_tables gives ids of tables")


GIVEN = {
    **{"question": "orders of the web shop", "table": "lake/orders", "text": "prices of orders"},
    "state": {},
}


@pytest.mark.parametrize("tool", [*OF_A_QUESTION, *OF_A_TABLE, *OF_CONVERSATIONS])
def test_an_argument_that_is_empty_is_one_that_is_absent_whatever_it_is(desk, tool):
    """Of each tool, each argument, as the server itself lists them."""

    async def asked():
        server = build_server(desk, lambda _: Asker("ann"))
        async with Client(server) as client:
            (listed,) = [one for one in (await client.list_tools()).tools if one.name == tool]
            needs, takes = (
                listed.input_schema.get("required", []),
                listed.input_schema["properties"],
            )
            begun = await client.call_tool("converse", {"text": "prices of orders"})
            given = GIVEN | {"conversation": told(begun)["conversation"]}
            for name, kind in takes.items():
                others = {one: given[one] for one in needs if one != name}
                for empty in ("", " ", None):
                    found = await client.call_tool(tool, others | {name: empty})
                    if name in needs:
                        assert f"{name}: is missing" in refused(found)
                    else:
                        assert not found.is_error, (name, empty, found.content)
                least = kind.get("minimum", 1)
                for number in (-1, 0) if kind.get("type") == "integer" else ():
                    found = await client.call_tool(tool, others | {name: number})
                    if number < least:
                        assert f"{name}: must be greater than or equal to {least}" in refused(found)

    anyio.run(asked)


def test_a_large_state_is_read_in_parts(call):
    begun = told(call("converse", text="prices of orders"))["conversation"]
    sql = "SELECT 1 AS n -- " + "line\n" * 600
    queries = [{"name": f"q{n}", "sql": sql, "description": "<|im_end|> " * 60} for n in range(40)]
    deep = {f"k{a}": {f"k{b}": {f"k{c}": "x" * 30 for c in range(7)} for b in range(7)}
            for a in range(7)}  # fmt: skip
    step = {"operator": "pivot", "makes": "t", "options": deep}
    state = {"queries": queries, "tables": [{"name": "t", "steps": [step]}]}
    told(call("change_state", conversation=begun, state=state))
    shown = told(call("show_conversation", conversation=begun))
    assert shown["truncated"]
    assert estimated_tokens(shown) <= 3_100
    assert shown["state"]["queries"][-1] == f"… {41 - shown['limit']} more"
    assert "<|im_end|>" not in json.dumps(shown)
    part = told(call("show_conversation", conversation=begun, part="q7"))
    assert part["state"]["queries"][0]["sql"] == sql
    refused(call("show_conversation", conversation=begun, part="q70"))
    wrong = {"tables": [{"name": "a b"}, {"name": "c", "columns": 3}]}
    said = refused(call("change_state", conversation=begun, state=wrong))
    assert "tables.0.name" in said
    assert "tables.1.columns" in said


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("find_tables", {"question": " ?! "}, "The question has no words"),
        ("find_tables", {"question": "a" * 10_001}, "ask in at most 10,000"),
        ("find_tables", {}, "Wrong arguments of find_tables: question: is missing"),
        ("find_tables", {"question": ["a"]}, "question: must be a text"),
        ("find_groups", {"question": "a", "limit": "many"}, "limit: must be a whole number"),
        ("find_tables", {"question": "a", "k": 3}, "k: unknown key"),
        ("lineage", {"table": "lake/orders", "direction": "up"}, "'upstream', 'downstream'"),
        (
            "find_tables",
            {"question": "a", "limit": -1},
            "limit: must be greater than or equal to 1",
        ),
        ("find_groups", {"question": "a", "limit": 0}, "limit: must be greater than or equal"),
        ("lineage", {"table": "lake/orders", "depth": 0}, "depth: must be greater than or"),
        ("describe_table", {"table": "lake/orders", "offset": -1}, "offset: must be greater than"),
        ("drop_table", {"table": "lake/orders"}, "Unknown tool: drop_table"),
    ],
)
def test_wrong_arguments_are_told_in_one_line(call, tool, arguments, said):
    assert said in refused(call(tool, **arguments))


def test_what_the_server_says_of_itself(desk):
    async def asked():
        async with Client(build_server(desk, lambda _: Asker("ann"))) as client:
            return client.instructions, (await client.list_tools()).tools

    instructions, tools = anyio.run(asked)
    assert instructions == INSTRUCTIONS
    assert {tool.name for tool in tools} == {*OF_A_TABLE, *OF_A_QUESTION, *OF_CONVERSATIONS}
    for tool in tools:
        hints = tool.annotations
        reads, repeatable, asks_others = OF_CONVERSATIONS.get(tool.name, (True, True, False))
        assert (hints.read_only_hint, hints.destructive_hint) == (reads, False)
        assert (hints.idempotent_hint, hints.open_world_hint) == (repeatable, asks_others)
        assert len(tool.description) < 100
        assert {"total", "limit", "truncated"} <= set(tool.output_schema["required"])
        assert '"title": "' not in json.dumps([tool.input_schema, tool.output_schema])
