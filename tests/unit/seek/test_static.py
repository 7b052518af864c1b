"""Without a model: the fewest tables that have what is needed, joined, pruned, aggregated in Q."""

from dataclasses import replace

import pytest

from pneuma_assets.core.relations.join_graph import JoinEdge, JoinKind
from pneuma_assets.core.relations.rank_groups import GroupResult
from pneuma_assets.core.seek.materialize import materialize, run_queries
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
    need = "order totals by country, and alone"
    state = propose(need, [group(*tables, joins=joins)], RELATIONS)
    (target,) = state.tables
    assert [(one.name, one.type) for one in target.columns] == [
        ("country", "text"), ("total", "integer")]  # fmt: skip
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
        ("Italy", 5), ("Italy", 6), ("Norway", 7)]  # fmt: skip
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


class Described(ArrowRelations):
    """Columns are described by their names in other words."""

    def columns(self, source):
        said = {"hs_grad": "Percent having graduated from high school", "violent": "Rate of crimes"}
        return [replace(one, said=said.get(one.name, "")) for one in super().columns(source)]


CRIME = Described(
    {
        "people/crime": texts(state=["Utah", "Iowa"], violent=[1, 2], murder=[3, 4],
                              hs_grad=[5, 6]),
        "people/budget": texts(state=["UTAH", "IOWA"], police=[1, 2]),
        "people/vote": texts(age=[1, 2], educ=["high", "low"]),
        "climate/nile": texts(year=[1871, 1872], volume=[1120, 1160]),
        "climate/sunspots": texts(YEAR=[1871, 1873], activity=[111.2, 66.3]),
        "nature/birds": texts(
            id=[7, 8, 9, 10], species=["a", "a", "b", "b"], day=["2020-01-01"] * 3 + ["2021-05-05"],
            **{"Body Mass (g)": [10, "NA", 30, 50], "eggs": [1, 2, 0, 4], "wing_max": [6, 5, 8, 7]},
        ),
    },
    {
        "people/crime": dict.fromkeys(("violent", "murder", "hs_grad"), "BIGINT"),
        "people/budget": {"police": "BIGINT"},
        "climate/nile": dict.fromkeys(("year", "volume"), "BIGINT"),
        "climate/sunspots": {"YEAR": "BIGINT", "activity": "DOUBLE"},
        "nature/birds": {"day": "DATE", **dict.fromkeys(("id", "eggs", "wing_max"), "BIGINT")},
    },
)  # fmt: skip


def names(state):
    return [one.name for one in state.tables[0].columns]


def test_one_table_that_has_all_is_taken_with_what_says_which_row_it_is():
    joins = [edge("people/crime", "state", "people/budget", "state")]
    several = replace(group("people/crime", "people/budget", "people/vote", joins=joins),
                      answerable=0.91)  # fmt: skip
    found = [several, group("people/gone")]  # of another set, that cannot be read
    state = propose("murder rate and high school", found, CRIME)
    assert [one.name for one in state.sources] == ["crime"]
    assert names(state) == ["state", "murder", "hs_grad"]
    assert state.assumptions == ()
    both = propose("murder and police by state", [several], CRIME)
    assert names(both) == ["state", "murder", "police"]


def test_tables_that_share_a_year_are_joined_by_it_and_it_is_asked_whether_they_go_together():
    found = group("climate/nile", "climate/sunspots")
    state = propose("water of the Nile and sunspots", [found], CRIME)
    assert state.questions == (
        "Do rows of nile and sunspots go together by year? Where one has several rows of it, those "
        "of the other are repeated.",
    )
    assert [one.text for one in state.assumptions] == [
        "nile.year is sunspots.YEAR: they are called the same, nobody says so."
    ]
    check_state(state)
    (table,) = materialize(state, CRIME)
    assert table.rows.to_pydict() == {
        "year": [1871, 1872], "volume": [1120, 1160], "activity": [111.2, None]}  # fmt: skip


AGGREGATED = [
    ("average body mass by species", ["species", "Body Mass (g)"], [("a", 10.0), ("b", 40.0)]),
    ("how many birds by species", ["species", "id"], [("a", 2), ("b", 2)]),
    ("number of eggs of each species", ["species", "eggs"], [("a", 3), ("b", 4)]),
    ("total eggs per year", ["day", "eggs"], [(2020, 3), (2021, 4)]),
    ("median eggs, all together", ["eggs", "id"], [(1.5,)]),
    ("the highest mean body mass by species", ["species", "Body Mass (g)"],
     [("a", 10.0), ("b", 40.0)]),
    ("lowest and highest wing by species", ["species", "wing_max"], [("a", 5, 6), ("b", 7, 8)]),
    ("average eggs per month and week", ["day", "eggs"], [(1, 1.0), (5, 4.0)]),
    ("which bird has the maximum wing", ["wing_max", "id"], [(8, 9)]),
    ("mean eggs and wing by species", ["species", "eggs", "wing_max"],
     [("a", 1.5, 5.5), ("b", 2.0, 7.5)]),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("need", "columns", "rows"), AGGREGATED)
def test_rows_stay_in_t_and_what_is_computed_of_them_is_in_q(need, columns, rows):
    state = propose(need, [group("nature/birds")], CRIME)
    assert names(state) == columns
    (table,) = materialize(state, CRIME)
    assert table.rows.num_rows == 4
    (result,) = run_queries(state, {"result": table.rows})
    assert result.rows == tuple(rows)


def test_a_statistic_of_nothing_that_is_there_is_asked_about():
    state = propose("average salary by species", [group("nature/birds")], CRIME)
    assert state.questions == ("Which column is avg of salary about?",)


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


def test_what_a_need_says_and_no_query_does_is_asked():
    birds = [group("nature/birds")]
    state = propose("average eggs of birds seen after 2015 by colour", birds, CRIME)
    assert state.questions == (
        "Which column is colour, to group by?",
        "Which rows count? None is left out for: after 2015.",
    )
    assert propose("average eggs by species", birds, CRIME).questions == ()


def test_years_of_a_family_are_its_members_and_no_word_names_their_column():
    families = {**dict.fromkeys(YEARS, YEARS)}
    state = propose("total samples by year", [group(YEARS[0])], RELATIONS, families=families)
    assert "GROUP BY 1" in state.queries[0].sql
    assert state.queries[0].sql.startswith('SELECT "member", sum("samples")')
    state = propose("total samples by member", [group(YEARS[0])], RELATIONS, families=families)
    assert "GROUP BY" not in state.queries[0].sql


def test_columns_that_the_sources_of_a_state_have_are_taken_from_them():
    birds = {"name": "birds", "table_ids": ["nature/birds"]}
    wanted = {"name": "t", "columns": [{"name": "species"}, {"name": "eggs"}]}
    state = read_state({"sources": [birds], "tables": [wanted]})
    made = propose("please make it", [group("people/crime")], CRIME, state=state)
    assert [one.name for one in made.sources] == ["birds"]
    assert made.tables[0].steps[0].reads == ("birds",)
    assert made.questions == ()
