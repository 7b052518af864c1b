"""A state is read strictly, its names stand for one thing, and its changes can be seen."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.seek.origins import with_origins
from pneuma_assets.core.seek.state import (
    MOST_BYTES,
    State,
    StateInvalidError,
    difference,
    order_of_tables,
    read_state,
)

GOOD = {
    "sources": [
        {"name": "orders", "table_ids": ["lake/orders"]},
        {"name": "mine", "file": "a.csv"},
    ],
    "tables": [
        {
            "name": "impact",
            "columns": [
                {
                    "name": "net",
                    "type": "number",
                    "origins": [{"source": "orders", "columns": ["n"]}],
                }
            ],
            "steps": [
                {"operator": "sql", "reads": ["orders"], "makes": "one", "code": "SELECT 1"},
                {"operator": "python", "reads": ["one", "mine"], "makes": "impact", "code": "x"},
            ],
        }
    ],
    "queries": [{"name": "total", "sql": "SELECT sum(net) FROM impact"}],
    "assumptions": [{"text": "net of tax", "kind": "proxy"}],
    "questions": ["Which year?"],
}


def changed(*path, value):
    state = json.loads(json.dumps(GOOD))
    here = state
    for key in path[:-1]:
        here = here[key]
    here[path[-1]] = value
    return state


def test_it_is_read_and_written_alike():
    state = read_state(GOOD)
    assert read_state(state.to_json()) == state
    assert json.loads(state.to_json())["queries"] == GOOD["queries"]


BAD = {
    "no JSON": ("{", "state: Invalid JSON"),
    "unknown key": ({"tabels": []}, "tabels: unknown key; did you mean 'tables'?"),
    "no identifier": (changed("tables", 0, "name", value="a b"), "tables.0.name"),
    "a quote": (changed("sources", 0, "name", value='a"b'), "sources.0.name"),
    "no such type": (changed("tables", 0, "columns", 0, "type", value="money"), "columns.0.type"),
    "no source": (changed("tables", 0, "steps", 0, "reads", value=["ordrs"]), "ordrs is no source"),
    "reads itself": (
        changed("tables", 0, "steps", 0, "reads", value=["impact"]),
        "impact is no source",
    ),
    "reads a later step": (
        changed("tables", 0, "steps", 0, "reads", value=["one"]),
        "one is no source",
    ),
    "last makes another": (
        changed("tables", 0, "steps", 1, "makes", value="two"),
        "the last step makes the table",
    ),
    "first makes the table": (
        changed("tables", 0, "steps", 0, "makes", value="impact"),
        "only the last step does that",
    ),
    "a result is called as a source": (
        changed("tables", 0, "steps", 0, "makes", value="Orders"),
        "Orders is taken",
    ),
    "no code": (changed("tables", 0, "steps", 0, "code", value=""), "sql and python have code"),
    "code of another": (
        changed("tables", 0, "steps", 0, "operator", value="union"),
        "sql and python have code",
    ),
    "a name twice": (changed("sources", 1, "name", value="ORDERS"), "ORDERS is the name of"),
    "a table as a source": (changed("sources", 1, "name", value="Impact"), "twice"),
    "two origins of a source": (changed("sources", 1, "table_ids", value=["x"]), "give table_ids"),
    "no origin of a source": (changed("sources", 1, "file", value=""), "give table_ids"),
    "origin nowhere": (
        changed("tables", 0, "columns", 0, "origins", 0, "source", value="other"),
        "other is no source",
    ),
    "too large": ({"questions": ["x" * 900] * 400}, f"larger than {MOST_BYTES:,} bytes"),
    "too many": ({"questions": ["x"] * 51}, "questions: must have at most 50"),
}


@pytest.mark.parametrize(("given", "said"), BAD.values(), ids=BAD)
def test_what_cannot_be_is_refused(given, said):
    with pytest.raises(StateInvalidError, match=said):
        read_state(given)


def _made_of(**needs):
    tables = [
        {"name": name, "steps": [{"operator": "union", "reads": reads, "makes": name}]}
        for name, reads in needs.items()
    ]
    return {"tables": tables}


def test_tables_come_behind_those_they_are_made_of_and_a_circle_is_refused():
    state = read_state(_made_of(c=["b"], b=["a"], a=[], d=["a"]))
    assert [one.name for one in order_of_tables(state)] == ["a", "b", "d", "c"]
    with pytest.raises(StateInvalidError, match="a, b: each is made of the other"):
        read_state(_made_of(a=["b"], b=["a"], c=[]))


def test_a_difference_names_what_changed():
    after = changed("tables", 0, "columns", 0, "type", value="integer")
    after["questions"] = []
    assert difference(read_state(GOOD), read_state(after)) == [
        "-column impact.net: number",
        "+column impact.net: integer",
        "-open: Which year?",
    ]
    assert difference(State(), State()) == []


@given(st.text(max_size=200), st.recursive(st.none() | st.integers() | st.text(), st.lists))
def test_hostile_input_is_refused_or_read(text, tree):
    for one in (text, {"tables": tree}, {"questions": [text]}):
        try:
            state = read_state(one)
        except StateInvalidError:
            continue
        assert read_state(state.to_json()) == state


@pytest.mark.timeout(120)  # `difflib` takes minutes
def test_states_of_very_many_lines_are_compared_in_no_time():
    def state(seed):
        code = "\n".join(str((at * seed) % 97) for at in range(6_000))
        step = {"operator": "sql", "makes": "t", "code": code}
        return State.model_validate({"tables": [{"name": "t", "steps": [step]}]})

    lines = difference(state(1), state(5))
    assert {one[0] for one in lines} == {"+", "-"}


def test_lines_that_look_like_headers_of_a_diff_are_shown():
    query = {"name": "q", "sql": "-- all\nSELECT 1"}
    after = State.model_validate({"queries": [query], "questions": ["a"]})
    assert len(difference(State(), after)) == 4


def test_columns_of_one_statement_say_where_they_come_from():
    code = (
        "SELECT \"Order\", p.price * t.rate AS cost, 'x' AS constant, o.net FROM purchases p "
        "JOIN tariffs t USING (country) JOIN other o ON true"
    )
    names = ("Order", "cost", "constant", "net")
    state = read_state({
        "sources": [{"name": n, "table_ids": [f"lake/{n}"]} for n in ("purchases", "tariffs")],
        "tables": [
            {"name": "costs", "columns": [{"name": n} for n in names],
             "steps": [{"operator": "sql", "reads": ["tariffs"], "makes": "costs", "code": code}]},
            {"name": "other", "columns": [{"name": "net"}]},
        ],
    })  # fmt: skip
    columns = {"purchases": ["Order", "Price", "country"], "tariffs": ["country", "rate"]}
    told = with_origins(state, lambda name: columns[name]).tables[0].columns
    origins = [[(one.source, one.columns) for one in column.origins] for column in told]
    assert origins == [
        [("purchases", ("Order",))], [("purchases", ("Price",)), ("tariffs", ("rate",))], [], []
    ]  # fmt: skip
    assert with_origins(state, lambda _: []).tables[0].columns[2].origins == ()
