"""The conversation of the paper, scripted: what new tariffs cost, relative to those before."""

import pytest

from pneuma_assets.core.seek.materialize import materialize, probe, run_queries, tables_of
from pneuma_assets.core.seek.results import BOUNDS, Severity
from pneuma_assets.core.seek.skeptic.before_making import check
from pneuma_assets.core.seek.skeptic.statements import values_of
from pneuma_assets.core.seek.state import read_state
from tests.support.arrow_relations import ArrowRelations, texts

PROCUREMENT = texts(
    order_id=range(1, 8),
    supplier=[
        "Alpha Metals",
        "EuroLab GmbH",
        "EuroLab GmbH",
        "Pacifica",
        "Nordglas",
        "Ümlaut AG",
        "Fjord",
    ],
    item=["Steel", "Beakers", "Pipettes", "Casings", "Beakers", "Steel", "Ore"],
    quantity=[100, 50, 200, 1000, 30, 10, 5],
    price=["23.50", "4.20", "1.10", "0.85", "4.00", "24.00", "9.00"],
)
SUPPLIERS = texts(
    name=["Alpha Metals", "EuroLab GmbH", "Pacifica", "Nordglas", "Ümlaut AG", "Fjord"],
    country=["united states", "Germany", "Viet Nam", "Germny", "GERMANY", "Norway"],
)
TARIFFS = texts(
    country=["United States", "Germany", "Vietnam"],
    previous_rate=["8 %", "10 %", "7 %"],
    new_rate=["12 %", "15 %", "9 %"],
)
RELATIONS = ArrowRelations(
    {"erp/orders": PROCUREMENT, "erp/suppliers": SUPPLIERS, "web/tariffs": TARIFFS},
    {"erp/orders": {"order_id": "BIGINT", "quantity": "BIGINT", "price": "DOUBLE"}},
)
SOURCES = [
    {"name": "orders", "table_ids": ["erp/orders"]},
    {"name": "suppliers", "table_ids": ["erp/suppliers"]},
    {"name": "tariffs", "table_ids": ["web/tariffs"]},
]
RATES = [{"to": "number", "column": "previous_rate"}, {"to": "number", "column": "new_rate"}]
STEPS = [
    {"operator": "convert", "reads": ["tariffs"], "makes": "rates",
     "options": {"conversions": RATES}},
    {"operator": "fuzzy_match", "reads": ["suppliers", "rates"], "makes": "rated",
     "options": {"column": "country", "other_column": "country", "columns": {
         "name": "suppliers.name", "country": "rates.country",
         "previous_rate": "rates.previous_rate", "new_rate": "rates.new_rate"}}},
    {"operator": "join", "reads": ["orders", "rated"], "makes": "procurement_joined",
     "options": {"joins": [{"table": "orders", "columns": ["supplier"], "other": "rated",
                            "other_columns": ["name"]}]}},
]  # fmt: skip
COLUMNS = [
    ("supplier", "text"), ("country", "text"), ("item", "text"), ("quantity", "integer"),
    ("price", "number"), ("previous_rate", "number"), ("new_rate", "number"),
]  # fmt: skip
IMPACT = "SELECT sum(price * quantity * (new_rate - previous_rate)) AS rise FROM procurement_joined"


def state(queries=(), steps=STEPS):
    return read_state(
        {
            "sources": SOURCES,
            "tables": [
                {
                    "name": "procurement_joined",
                    "columns": [{"name": name, "type": kind} for name, kind in COLUMNS],
                    "steps": steps,
                }
            ],
            "queries": [{"name": name, "sql": sql} for name, sql in queries],
        }
    )


def rise(country=None):
    """Return the rise in cost, computed from the tables by hand."""
    rates = {"Germany": 0.05, "United States": 0.04, "Vietnam": 0.02}
    countries = ["United States", "Germany", "Germany", "Vietnam", "Germany", "Germany", None]
    return sum(
        float(price) * int(quantity) * rates[of]
        for of, price, quantity in zip(
            countries,
            PROCUREMENT["price"].to_pylist(),
            PROCUREMENT["quantity"].to_pylist(),
            strict=True,
        )
        if of is not None and country in {None, of}
    )


@pytest.fixture(scope="module")
def made():
    (found,) = materialize(state(), RELATIONS)
    return found


def test_the_table_is_made_with_its_columns_and_types(made):
    assert made.rows.schema.names == [name for name, _ in COLUMNS]
    assert made.rows.column("country").to_pylist()[:2] == ["United States", "Germany"]
    assert made.rows.column("new_rate").to_pylist()[0] == pytest.approx(0.12)
    assert made.rows.num_rows == 7


def test_what_is_not_sure_is_told(made):
    by_rule = {one.rule: one for one in made.findings}
    assert "'Norway'" in by_rule["unmatched values"].text
    assert (
        "'Germny' with 'Germany' (92), 'Viet Nam' with 'Vietnam' (93)"
        in by_rule["alike values"].text
    )
    assert by_rule["nulls"].figures["nulls"] == 1
    assert not [one for one in made.findings if one.severity is Severity.ERROR]


def test_the_impact_is_that_relative_to_the_previous_rate(made):
    narrower = IMPACT + " WHERE country = 'Germany' AND item = 'Beakers'"
    queries = [("all", IMPACT), ("lab equipment", narrower), ("far", IMPACT.replace(
        "FROM", "FROM") + " WHERE country = 'Deutschland'")]  # fmt: skip
    whole, german, none = run_queries(
        state([(name.replace(" ", "_"), sql) for name, sql in queries]), {made.table: made.rows}
    )
    assert whole.rows[0][0] == pytest.approx(rise())
    assert german.rows[0][0] == pytest.approx((4.2 * 50 + 4.0 * 30) * 0.05)
    (missing,) = [one for one in none.findings if one.rule == "literal not found"]
    assert "no row of procurement_joined has procurement_joined.country = 'Deutschland'" in (
        missing.text
    )
    assert "'Germany'" in missing.text


def test_the_vague_literal_is_told_before_anything_is_made():
    step = {"operator": "sql", "reads": ["suppliers"], "makes": "procurement_joined",
            "code": "SELECT name AS supplier FROM suppliers WHERE country = 'germany'"}  # fmt: skip
    findings = {one.rule: one for one in check(state(steps=[step]), RELATIONS)}
    assert "'GERMANY', 'Germany'" in findings["literal not found"].text
    assert "does not make country, item" in findings["columns missing"].text


def test_probes_see_the_sources_alone():
    found = probe(
        "SELECT country, count(*) FROM suppliers GROUP BY 1 ORDER BY 1", state(), RELATIONS
    )
    assert found.rows[0] == ("GERMANY", 1)
    tables = tables_of(state(), RELATIONS, BOUNDS)
    assert values_of("tariffs", "new_rate", tables) == ["12 %", "15 %", "9 %"]
