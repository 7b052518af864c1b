"""Nothing of a hidden table is in what any tool says, be it of a list, a count or an error."""

import json

import pytest

from tests.support.tools_lake import CANARY, HIDDEN

QUESTIONS = (CANARY, HIDDEN[0], f"what {CANARY} earns of customers in Kiel", "zqcanari salaries")
ASKERS = {"nobody": (), "stranger": ("lake/finance", "Finance"), "finance": ("finance",)}


@pytest.fixture
def said(call):
    def run(tool, **arguments):
        result = call(tool, **arguments)
        return "".join(one.text for one in result.content) + json.dumps(result.structured_content)

    return run


@pytest.mark.parametrize("asker", ASKERS)
@pytest.mark.parametrize("tool", ["find_tables", "find_groups", "answer"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_questions(said, call, asker, tool, question):
    arguments = {"question": question, "readers": ASKERS[asker]}
    assert ("vault/" in said(tool, **arguments).replace(question, "")) == (asker == "finance")
    if tool == "find_tables":
        total = call(tool, **arguments).structured_content["total"]
        assert total == (9 if asker == "finance" else 7)


@pytest.mark.parametrize("asker", ["nobody", "stranger"])
@pytest.mark.parametrize("tool", ["describe_table", "sample_rows", "lineage", "example_queries"])
@pytest.mark.parametrize("hidden", HIDDEN)
def test_a_hidden_table_is_one_that_does_not_exist(said, call, tool, asker, hidden):
    there = said(tool, table=hidden, readers=ASKERS[asker])
    absent = said(tool, table="vault/qwertz", readers=ASKERS[asker])
    assert there.replace(hidden, "?") == absent.replace("vault/qwertz", "?")
    assert not call(tool, table=hidden, readers=ASKERS["finance"]).is_error


@pytest.mark.parametrize("tool", ["describe_table", "sample_rows", "lineage", "example_queries"])
@pytest.mark.parametrize("table", ["lake/orders", "lake/customers", "vault/zqcanary"])
def test_seen_tables_tell_nothing_of_hidden_ones(said, tool, table):
    assert CANARY not in said(tool, table=table, readers=()).replace(table, "")


def test_the_statement_of_a_hidden_answer_is_not_told(said, desk):
    tables = ["lake/orders", HIDDEN[0]]
    answer_id = desk.confirm_answer(f"{CANARY} orders", tables, sql=f"SELECT {CANARY}", author="a")
    try:
        assert f"SELECT {CANARY}" not in said("example_queries", table="lake/orders", readers=())
        assert f"SELECT {CANARY}" in said("example_queries", table="lake/orders")
        assert f"SELECT {CANARY}" not in said(
            "find_tables", question=f"{CANARY} orders", readers=()
        )
    finally:
        desk.forget_answer(answer_id)
