"""Which questions only a join answers is told by their statements and by the graph of joins."""

import json

import pytest

from pneuma_assets.core.errors import BenchmarkError
from pneuma_bench.discovery.joined import (
    ALONE,
    NO_SQL,
    REPEATED,
    SIMPLE,
    UNKNOWN,
    UNREAD,
    join_benchmark,
    keys_of,
)
from pneuma_bench.discovery.records import AnswerCells, DiscoveryQuestion

# orders - customers - cities, and around them what lets each join with two others.
EDGES = [("orders", "customers"), ("orders", "items"), ("customers", "cities"), ("cities", "lands"),
         ("lands", "coins")]  # fmt: skip
IDS = [f"wh/shop/{name}" for name in ("orders", "customers", "cities", "lands", "items", "coins")]
OTHERS = ["wh/old/orders", "wh/Odd%2FName/it's"]


def neighbours(table):
    name = table.rpartition("/")[2]
    pairs = [pair for pair in EDGES if name in pair and "/shop/" in table]
    return {f"wh/shop/{one}" for pair in pairs for one in pair} - {table}


def asked(sql, **more):
    more = {"schema": "shop", **more}
    return DiscoveryQuestion("What?", ("as it was",), more=more | ({"gold": sql} if sql else {}))


def made(*questions, least=2, dialect="postgres"):
    return join_benchmark(questions, IDS + OTHERS, neighbours, dialect, least)


JOIN = "SELECT 1 FROM orders JOIN customers ON orders.c = customers.id"


@pytest.mark.parametrize(
    ("sql", "tables", "degree"),
    [
        (JOIN, ["customers", "orders"], 2),
        ("SELECT 1 FROM ORDERS, Customers WHERE c = customers.id", ["customers", "orders"], 2),
        ("SELECT 1 FROM shop.orders o LEFT JOIN customers c USING (a)", ["customers", "orders"], 2),
        (
            "WITH lands AS (SELECT id FROM cities) SELECT 1 FROM lands JOIN customers USING (id)",
            ["cities", "customers"],
            2,
        ),
        (
            "SELECT 1 FROM orders JOIN customers USING (id) WHERE city IN (SELECT id FROM cities)",
            ["cities", "customers", "orders"],
            2,
        ),
    ],
)
def test_what_is_kept(sql, tables, degree):
    found = made(asked([sql, "DROP TABLE never_read"]))
    (kept,) = found.kept
    assert kept.tables == tuple(f"wh/shop/{one}" for one in tables)
    assert kept.more["degree"] == degree
    assert (found.degrees, found.tables) == ({degree: 1}, {len(tables): 1})


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        (None, NO_SQL),
        ([1], NO_SQL),
        (["SELECT ("], UNREAD),
        (["DROP TABLE orders"], UNREAD),
        (["SELECT '" + 300_000 * "x" + "' FROM orders"], UNREAD),
        (["SELECT 1 FROM orders"], ALONE),
        (["SELECT 1 FROM orders a JOIN orders b ON a.c = b.c"], ALONE),
        (["SELECT 1 FROM orders WHERE c IN (SELECT id FROM customers)"], ALONE),
        (["SELECT 1 FROM orders JOIN nobody ON TRUE"], UNKNOWN),
        (["SELECT 1 FROM other.orders JOIN customers USING (id)"], UNKNOWN),
        (["SELECT 1 FROM orders JOIN read_csv('/etc/passwd') ON TRUE"], UNKNOWN),
        (["SELECT 1 FROM orders JOIN items USING (id)"], SIMPLE.format(2)),
    ],
)
def test_what_is_left_out_and_why(sql, reason):
    found = made(asked(sql))
    assert not found.kept
    assert found.left_out == {reason: 1}


def test_one_question_a_statement():
    again = JOIN.lower().replace("  ", "\n")
    found = made(asked([JOIN]), asked(again), asked([JOIN + " WHERE c = 'A'"]), asked([JOIN]))
    assert [one.more["gold"] for one in found.kept] == [[JOIN], [JOIN + " WHERE c = 'A'"]]
    assert found.left_out == {REPEATED: 2}


def test_the_least_degree_and_how_often_it_occurs():
    questions = [
        asked(["SELECT 1 FROM lands JOIN coins USING (id)"]),
        asked(["SELECT 1 FROM lands JOIN cities USING (id)"]),
        asked([JOIN]),
        asked(["SELECT 1 FROM old.orders JOIN customers USING (id)"]),
    ]
    assert made(*questions, least=0).degrees == {0: 1, 1: 1, 2: 2}
    assert made(*questions, least=1).degrees == {1: 1, 2: 2}
    assert made(*questions).degrees == {2: 2}
    assert made(*questions).left_out == {SIMPLE.format(2): 2}


def test_a_name_that_two_tables_have_needs_a_schema():
    """Without a schema, `orders` is of two schemas and `customers` of one."""
    sql = ["SELECT 1 FROM orders JOIN customers USING (id)"]
    assert made(asked(sql, schema="")).left_out == {UNKNOWN: 1}
    (kept,) = made(asked(["SELECT 1 FROM lands JOIN cities USING (id)"], schema="")).kept
    assert kept.tables == ("wh/shop/cities", "wh/shop/lands")


def test_names_are_what_they_spell():
    sql = """SELECT 1 FROM "Odd/Name"."it's" AS a JOIN shop.orders ON TRUE"""
    (kept,) = made(asked([sql]), least=0).kept
    assert kept.tables == ("wh/Odd%2FName/it's", "wh/shop/orders")


def test_the_rows_of_the_first_statement_are_its_cells():
    (kept,) = made(asked([JOIN], answer=[["Ann", "2"], "x"], instructions="none")).kept
    assert kept.cells == (AnswerCells(kept.tables, (("Ann", "2"), ("x",))),)
    assert sorted(kept.more) == ["degree", "gold", "schema"]
    assert made(asked([JOIN], answer=None)).kept[0].cells == ()


def test_a_dialect_that_there_is_not():
    with pytest.raises(BenchmarkError, match="no dialect 'klingon'"):
        made(asked([JOIN]), dialect="klingon")


def test_keys_from_a_file(tmp_path):
    lines = [{"table": "a", "other": "b"}, {"table": "c", "other": "b"}]
    (tmp_path / "k.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    graph = keys_of(tmp_path / "k.jsonl")
    assert [graph(one) for one in "abcd"] == [{"b"}, {"a", "c"}, {"b"}, set()]
    (tmp_path / "k.jsonl").write_text('{"table": "a", "other": 3}\n{"table": "a"}')
    with pytest.raises(BenchmarkError, match="line 2: 'table' and 'other'"):
        keys_of(tmp_path / "k.jsonl")
