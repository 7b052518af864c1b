"""Without a model: tables that were found are joined as is known and pruned to what is needed."""

import pytest

from pneuma_assets.core.relations.join_graph import JoinEdge, JoinKind
from pneuma_assets.core.relations.rank_groups import GroupResult
from pneuma_assets.core.seek.materialize import materialize
from pneuma_assets.core.seek.sources import members_of
from pneuma_assets.core.seek.state import Source, check_state, read_state
from pneuma_assets.core.seek.static_plan import propose
from tests.support.arrow_relations import ArrowRelations, texts

YEARS = [f"lake/beaches/quality_{year}.csv" for year in range(2002, 2024)]
CLOSED = [f"lake/beaches/closed_{year}.csv" for year in range(2002, 2024)]
TABLES = {
    "shop/orders": texts(id=[1, 2, 3], customer_id=["c1", "c1", "c2"], total=[5, 6, 7]),
    "shop/customers": texts(id=["c1", "c2"], city=["Rome", "Oslo"], secret=["x", "y"]),
    "shop/cities": texts(name=["Rome", "Oslo"], country=["Italy", "Norway"]),
    "shop/alone": texts(a=["1"]),
    **{one: texts(beach=["A", "B"], samples=[year, 1]) for year, one in enumerate(YEARS)},
    **{one: texts(beach=["A", "B"], days_closed=[year, 0]) for year, one in enumerate(CLOSED)},
}
TYPES = {
    "shop/orders": {"id": "BIGINT", "total": "BIGINT"},
    **{one: {"samples": "BIGINT"} for one in YEARS},
    **{one: {"days_closed": "BIGINT"} for one in CLOSED},
}
RELATIONS = ArrowRelations(TABLES, TYPES)
FAMILIES = {**dict.fromkeys(YEARS, YEARS), **dict.fromkeys(CLOSED, CLOSED)}


def edge(table, columns, other, other_columns, kind=JoinKind.DECLARED):
    return JoinEdge(table, (columns,), other, (other_columns,), kind, 0.9)


def group(*tables, joins=()):
    return GroupResult(tables, tuple(joins), 1.0, {}, None)


PATH = [
    edge("shop/orders", "customer_id", "shop/customers", "id"),
    edge("shop/customers", "city", "shop/cities", "name", JoinKind.INFERRED),
]


def made(state):
    check_state(state)
    (found,) = materialize(state, RELATIONS)
    return found


def test_tables_are_joined_along_the_path_from_the_one_that_refers():
    tables = ("shop/cities", "shop/customers", "shop/orders", "shop/alone")
    joins = [*PATH, edge("shop/alone", "a", "shop/cities", "name", JoinKind.DOMAIN)]
    state = propose("order totals by country", [group(*tables, joins=joins)], RELATIONS)
    (target,) = state.tables
    assert [(one.name, one.type) for one in target.columns] == [
        ("total", "integer"), ("country", "text")]  # fmt: skip
    (step,) = target.steps
    assert (step.operator, step.reads) == ("join", ("orders", "customers", "cities"))
    assert [one.text for one in state.assumptions] == [
        "customers.city is cities.name: their names and cells say so, nobody else does."
    ]
    assert state.questions == (
        "How does alone go together with orders? No join is known; it is left out.",
    )
    found = made(state)
    assert sorted(zip(*found.rows.to_pydict().values(), strict=True)) == [
        (5, "Italy"), (6, "Italy"), (7, "Norway")]  # fmt: skip
    assert not [one for one in found.findings if str(one.severity) != "note"]


def test_columns_that_somebody_wants_are_found_by_name_and_others_are_asked_for():
    needs = read_state(
        {
            "tables": [{"name": "need", "columns": [
                {"name": "City"}, {"name": "order_total", "type": "number"}, {"name": "weather"}]}],
            "questions": ["Which year?"],
        }
    )  # fmt: skip
    found = group("shop/orders", "shop/customers", joins=PATH[:1])
    state = propose("", [found], RELATIONS, state=needs)
    (target,) = state.tables
    assert target.name == "need"
    assert target.steps[0].options["columns"] == {
        "City": "customers.city",
        "order_total": "orders.total",
    }
    assert state.questions == (
        "Which year?", "Which column is weather?")  # fmt: skip
    assert target.columns[0].origins[0].source == "customers"


@pytest.mark.slow
def test_a_family_of_22_files_is_one_table_and_two_families_go_together_member_by_member():
    joins = [edge(CLOSED[5], "beach", YEARS[5], "beach")]
    found = group(CLOSED[5], YEARS[5], joins=joins)
    state = propose("days closed and samples by beach", [found], RELATIONS, families=FAMILIES)
    assert [len(one.table_ids) for one in state.sources] == [22, 22]
    (step,) = state.tables[0].steps
    (on,) = step.options["joins"]
    assert (on["columns"], on["other_columns"]) == (["beach", "member"], ["beach", "member"])
    rows = made(state).rows
    assert rows.num_rows == 44
    assert rows.filter(rows["beach"].to_numpy() == "A").select(["member", "samples"]).slice(
        3, 1).to_pylist() == [{"member": "2005", "samples": 3}]  # fmt: skip


def test_one_table_is_pruned_and_nothing_found_is_a_question():
    state = propose("city of customers and their id", [group("shop/customers")], RELATIONS)
    assert state.tables[0].steps[0].code == 'SELECT "id" AS "id", "city" AS "city" FROM customers'
    nothing = propose("x", [], RELATIONS)
    assert (nothing.tables, len(nothing.questions)) == ((), 1)


@pytest.mark.parametrize(
    ("ids", "labels"),
    [
        (YEARS[:3], ["2002", "2003", "2004"]),
        (["s/north", "s/nova"], ["north", "nova"]),
        (["s/2019/a.csv", "s/2020/a.csv"], ["2019", "2020"]),
        (["s/a", "s/a_2"], ["a", "a_2"]),
    ],
)
def test_members_are_called_by_what_tells_them_apart(ids, labels):
    assert list(members_of(Source(name="s", table_ids=tuple(ids)))) == labels
