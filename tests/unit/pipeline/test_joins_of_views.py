"""What views join can be joined, as long as they say so, by columns that are there and shown."""

import json
from dataclasses import replace

import pytest

from pneuma_assets.core.relations.join_graph import JoinEdge, JoinKind
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import Column
from tests.unit.pipeline.test_linking import MANIFEST, Lake

ORDERS, PEOPLE = "w/main/orders", "w/main/people"
BOUGHT = "SELECT p.city FROM orders o JOIN people p ON o.buyer = p.person"
EDGE = JoinEdge(ORDERS, ("buyer",), PEOPLE, ("person",), JoinKind.VIEW, 1.0)


@pytest.fixture
def lake(tmp_path):
    with Store(tmp_path / "state.db") as store:
        lake = Lake(store, tmp_path)
        lake.add("orders", "id", "BUYER")
        lake.add("people", "person", "city", primary_key=("person",))
        yield lake


def joins(lake: Lake) -> list[JoinEdge]:
    return lake.store.joins.of_tables([ORDERS])


SPELLED = replace(EDGE, columns=("BUYER",))


def test_a_view_says_what_joins_until_it_says_otherwise(lake):
    lake.add("v", "city", sql=BOUGHT)
    lake.link()
    assert joins(lake) == [SPELLED] == lake.store.joins.of_tables([PEOPLE])
    assert lake.store.joins.of_tables(["w/main/v"]) == []
    lake.add("v", "city", sql="SELECT city FROM people, orders")
    lake.link()
    assert joins(lake) == []


def test_a_join_comes_with_the_table_and_goes_with_the_view(lake):
    lake.add("v", "city", sql="SELECT 1 AS city FROM orders JOIN shops ON buyer = shop_id")
    lake.link()
    assert joins(lake) == []
    lake.add("shops", "shop_id")
    lake.link()
    (edge,) = joins(lake)
    assert edge.on == (ORDERS, ("BUYER",), "w/main/shops", ("shop_id",))
    del lake.refs["v"]
    lake.relist()
    lake.link()
    assert joins(lake) == []


def test_no_join_names_a_column_that_is_hidden(lake, monkeypatch):
    hidden = Column("person", "INTEGER", hidden=True)
    lake.add("v", "city", sql=BOUGHT)
    lake.link()
    assert joins(lake) == [SPELLED]
    monkeypatch.setattr("tests.unit.pipeline.test_linking.Column", lambda *_: hidden)
    lake.add("people", "person")
    lake.link()
    assert joins(lake) == []


def test_a_join_of_a_view_is_believed_before_one_that_is_inferred(lake):
    lake.add("v", "city", sql=BOUGHT)
    lake.link()
    inferred = replace(SPELLED, kind=JoinKind.INFERRED, score=0.7, share=0.9)
    lake.store.joins.replace([inferred], [])
    assert joins(lake) == [replace(SPELLED, share=0.9)]
    other_way = JoinEdge(PEOPLE, ("person",), ORDERS, ("BUYER",), JoinKind.INFERRED, 0.7, 0.8)
    lake.store.joins.replace([other_way], [])
    assert joins(lake) == [replace(other_way, kind=JoinKind.VIEW, score=1.0)]
    lake.store.joins.judge(SPELLED, confirmed=False, author="ana")
    assert joins(lake) == []
    lake.store.joins.judge(other_way, confirmed=True, author="ana")
    assert [(edge.kind, edge.share) for edge in joins(lake)] == [(JoinKind.PERSON, 0.8)]


def test_a_model_of_dbt_says_what_joins_too(lake):
    lake.add("report", "city")
    nodes = {
        name: {"resource_type": "model", "name": name, "schema": "main", "database": "w"}
        for name in ("orders", "people", "report")
    }
    nodes["report"] |= {"compiled_code": BOUGHT, "depends_on": {"nodes": ["orders", "people"]}}
    target = lake.folder / "target"
    target.mkdir()
    said = MANIFEST | {"nodes": nodes}
    (target / "manifest.json").write_text(json.dumps(said))
    lake.link()
    assert joins(lake) == [SPELLED]
    nodes["report"]["compiled_code"] = "SELECT 1 AS city"
    (target / "manifest.json").write_text(json.dumps(said))
    lake.link()
    assert joins(lake) == []
