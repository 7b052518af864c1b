"""Tables of a set are copies, families and joined as after an index run, and documents count."""

import json

import pytest

from pneuma_assets.core.relations.join_graph import JoinKind
from pneuma_bench.lab import Lab
from pneuma_bench.reading import read_files
from tests.support.word_encoder import WordEncoder

PEOPLE = [[str(n), f"person {n}", f"street {n * 7}"] for n in range(40)]
SALES = [[str(n), str(n % 40), str(n * 31 % 97)] for n in range(90)]
TABLES = [
    ("shop.customers", ["customer_id", "full_name", "address"], PEOPLE),
    ("shop.customers_backup", ["customer_id", "full_name", "address"], PEOPLE),
    ("shop.orders_2019", ["order_id", "customer_id", "amount"], SALES[:50]),
    ("shop.orders_2020", ["order_id", "customer_id", "amount"], SALES[40:]),
    ("shop.weather", ["day", "rain"], [[f"day {n}", str(n)] for n in range(9)]),
]
JOIN = {"a": "shop.weather", "a_columns": ["day"], "b": "shop.customers", "b_columns": ["address"]}


@pytest.fixture
def lab_of(tmp_path):
    """Opens a lab of the tables, read with options."""
    tables, queries = tmp_path / "s.tables.jsonl", tmp_path / "s.queries.jsonl"
    records = [
        {"id": i, "columns": c, "rows": r, "descriptions": ["a sum of money"] * len(c)}
        for i, c, r in TABLES
    ]
    tables.write_text("".join(json.dumps(one) + "\n" for one in records))
    queries.write_text('{"question": "rain", "tables": ["shop.weather"]}')
    (tmp_path / "j.jsonl").write_text(json.dumps(JOIN))

    def lab(**options):
        dataset = read_files(tables, queries, **options)
        return Lab(dataset, tmp_path / "kept", encoders=lambda _: WordEncoder())

    return lab


def test_copies_families_and_joins_are_those_of_an_index_run(lab_of):
    for _ in range(2):  # the second time the index is there
        with lab_of() as lab:
            facts = lab.index()[0].facts([f"s/{i.replace('.', '/')}" for i, *_ in TABLES])
            joins = lab.index()[2].joins_of(["s/shop/orders_2020"])
            groups = lab.engine().find_groups("orders amount of customers full name")
        assert facts["s/shop/customers_backup"].copy_of == "s/shop/customers"
        assert facts["s/shop/orders_2020"].family == "s/shop/orders_2019"
        assert facts["s/shop/orders_2020"].joins == ("s/shop/customers",)
        assert facts["s/shop/weather"].joins == ()
        assert {(one.columns, one.other, one.kind) for one in joins} == {
            (("customer_id",), "s/shop/customers", JoinKind.INFERRED)
        }
        assert any(one.joins for one in groups)


def test_declared_joins_stand_beside_the_others(lab_of, tmp_path):
    with lab_of(joins=tmp_path / "j.jsonl") as lab:
        facts = lab.index()[0].facts(["s/shop/weather", "s/shop/orders_2020"])
    assert {one.joins for one in facts.values()} == {("s/shop/customers",)}


def test_hidden_names_relate_no_tables(lab_of):
    with lab_of(hide_names=True) as lab:
        index, _, relations = lab.index()
        facts = index.facts([*index.list_tables()])
        names = {one.names for one in index.evidence([*facts]).values()}
    assert len(facts) == len(TABLES)
    assert {(one.copy_of, one.family, one.joins) for one in facts.values()} == {(None, None, ())}
    assert (relations.joins, names) == ([], {()})


def test_a_data_dictionary_describes_columns(lab_of):
    with lab_of(documents=True) as lab:
        index = lab.index()[0]
        texts = {str(one.block.kind): one.block.text for one in index.blocks(["s/shop/weather"])}
        (facts,) = index.facts(["s/shop/weather"]).values()
    assert "day: a sum of money | rain: a sum of money" in texts["schema"]
    assert texts["context"].startswith("# weather")
    assert facts.documented == 1.0
