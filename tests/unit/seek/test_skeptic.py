"""What misleads in statements and tables is said, and what does not is not."""

import pyarrow as pa
import pytest

from pneuma_assets.core.seek.materialize import materialize, run_queries
from pneuma_assets.core.seek.results import BOUNDS
from pneuma_assets.core.seek.skeptic.before_making import check
from pneuma_assets.core.seek.skeptic.statements import findings_of, is_unit
from pneuma_assets.core.seek.state import read_state
from pneuma_assets.core.seek.tables import InHand, Tables
from tests.support.arrow_relations import ArrowRelations, texts

HELD = {
    "orders": pa.table(
        {
            "id": [1, 2, 3, 4],
            "customer": ["c1", "c1", "c2", "c9"],
            "amount": [10.0, 20.0, None, 40.0],
            "weight": [1.0, 2.0, 3.0, 4.0],
            "unit": ["kg", "kg", "lb", "kg"],
            "year": [2020, 2021, 2022, 2022],
            "parts": [1, 0, None, 2],
        }
    ),
    "payments": pa.table({"order_id": [1, 1, 2, 3], "paid": [4.0, 6.0, 20.0, 0.0]}),
    "customers": texts(code=["c1", "c2", "c3"], city=["Zürich", "ROME", "Oslo"]),
    "nothing": pa.table({"id": pa.array([], pa.int64())}),
}


@pytest.fixture(scope="module")
def tables():
    found = Tables(BOUNDS)
    for name, table in HELD.items():
        found.put(name, InHand(table))
    return found


def found(sql, tables):
    return {one.rule: one for one in findings_of(tables.check(sql, [*HELD]), "s", tables)}


LITERALS = [
    ("SELECT id FROM orders WHERE year = 2019", "year goes from 2020 to 2022"),
    ("SELECT id FROM orders o WHERE o.year < 2020 AND weight > 1", "orders.year < 2020"),
    ("SELECT code FROM customers WHERE city IN ('Oslo', 'Rome')", "'Rome'; city has 'ROME'"),
    ("SELECT code FROM customers WHERE city = 'zurich'", "'Zürich'"),
    ("SELECT code FROM customers WHERE city <> 'Bern'", "city = 'Bern'"),
    ("SELECT code FROM customers WHERE city IS DISTINCT FROM 'Bern'", "city = 'Bern'"),
    ("SELECT code FROM customers WHERE city LIKE '%burg%'", "LIKE '%burg%'"),
    ("SELECT code FROM customers WHERE lower(city) = 'Oslo'", "LOWER(customers.city) = 'Oslo'"),
    ("SELECT sum(CASE WHEN city = 'x' THEN 1 END) AS n FROM customers", "city = 'x'"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("sql", "said"), LITERALS)
def test_a_literal_that_the_column_does_not_have_is_told(sql, said, tables):
    one = found(sql, tables)["literal not found"]
    assert said in one.text
    assert one.text.count("no row of") == 1


TOLD = [
    (
        "SELECT sum(o.amount) AS s FROM orders o JOIN payments p ON o.id = p.order_id",
        "join",
        "joining p (4 rows): 4 rows before, 4 after",
    ),
    (
        "SELECT sum(o.amount) AS s FROM orders o JOIN customers c ON o.customer = c.code",
        "repeated in aggregate",
        "no",
    ),
    (
        "SELECT sum(o.amount) AS s FROM orders o JOIN payments p ON o.id = p.order_id",
        "repeated in aggregate",
        "SUM(o.amount) is over 4 rows, but 3 of o",
    ),
    (
        "SELECT sum(p.paid) AS s FROM orders o JOIN payments p ON o.id = p.order_id",
        "repeated in aggregate",
        "no",
    ),
    (
        "SELECT sum(o.amount) AS s FROM orders o JOIN payments p ON o.id = p.order_id "
        "WHERE p.paid = 4",
        "repeated in aggregate",
        "no",
    ),
    (
        "SELECT a.id FROM orders a JOIN orders b ON a.customer = b.customer",
        "join multiplies",
        "4 rows before, 6 after; rows of both sides",
    ),
    (
        "SELECT avg(o.weight) AS w FROM payments p LEFT JOIN orders o ON o.year > p.paid",
        "repeated in aggregate",
        "AVG(o.weight) is over 16 rows, but 4 of o",
    ),
    (
        "WITH w AS (SELECT customer, count(*) AS n FROM orders GROUP BY 1) "
        "SELECT w.n FROM w JOIN customers c ON w.customer = c.code",
        "join unmatched",
        "3 rows before, 2 after; 1 or more rows",
    ),
    (
        "SELECT o.id FROM orders o JOIN customers c ON o.customer = c.city",
        "join unmatched",
        "nothing goes together",
    ),
    (
        "WITH a AS (SELECT id, customer FROM orders), b AS (SELECT a.id FROM a JOIN customers c "
        "ON a.customer = c.code) SELECT id FROM b",
        "join unmatched",
        "joining c (3 rows): 4 rows before, 3 after",
    ),
    (
        "SELECT b.id FROM (WITH a AS (SELECT id FROM orders) SELECT a.id FROM a "
        "JOIN payments p ON a.id = p.order_id) AS b",
        "join",
        "joining p (4 rows): 4 rows before, 4 after",
    ),
    (
        "SELECT sum(o0.amount) AS s FROM orders o0"
        + "".join(f" JOIN orders o{n} ON o{n}.id = o0.id" for n in range(1, 12)),
        "join",
        "joining o11 (4 rows): 4 rows before, 4 after",
    ),
    (
        "SELECT sum(p.paid) AS s FROM orders o LEFT JOIN payments p ON p.paid > o.id",
        "repeated in aggregate",
        "SUM(p.paid) is over 11 rows, but 4 of p",
    ),
    ("SELECT 5.2 AS share", "constants", "reads no column"),
    ("SELECT 5.2 AS share FROM orders", "constants", "reads no column"),
    ("SELECT * FROM (VALUES ('DE', 1), ('FR', 2)) AS v(land, n)", "constants", "reads no column"),
    ("SELECT weight / parts AS r FROM orders", "denominator", "2 of 4 rows of orders"),
    ("SELECT sum(amount) / count(*) AS r FROM orders", "null in aggregate", "the count of the col"),
    ("SELECT avg(amount) AS r FROM orders", "null in aggregate", "leaves out 1 of 4 rows"),
    ("SELECT sum(weight) AS w FROM orders", "units differ", "2 different unit (kg, lb)"),
    ("SELECT count(*) AS n FROM nothing WHERE id = 1", "no rows", "nothing has no rows"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("sql", "rule", "said"), TOLD)
def test_what_misleads_is_told_with_its_figures(sql, rule, said, tables):
    told = found(sql, tables)
    if said == "no":
        assert rule not in told
    else:
        assert said in told[rule].text


QUIET = [
    "SELECT id FROM orders WHERE year = 2020 AND customer IN ('c1', 'c9') AND id BETWEEN 1 AND 2",
    "SELECT unit, sum(weight) AS w FROM orders GROUP BY unit",
    "SELECT sum(weight) AS w FROM orders WHERE unit = 'kg'",
    "SELECT weight / NULLIF(year, 0) AS r FROM orders",
    "SELECT code FROM customers WHERE city <> '' AND city != 'N/A' AND trim(city) <> ''",
    "SELECT code FROM customers WHERE city NOT LIKE '%burg%' AND NOT city ILIKE 'x%'",
    "SELECT code FROM customers WHERE city NOT IN ('', '-') AND city IS DISTINCT FROM ''",
    "SELECT id FROM orders WHERE year <> 0 AND year NOT BETWEEN 1 AND 2 AND NOT (id < 0)",
    "WITH c AS (SELECT code FROM customers WHERE city <> '') SELECT count(*) AS n FROM c",
    "SELECT count(*) AS n FROM orders",
    "SELECT g.y FROM generate_series(2020, 2022) AS g(y)",
    "WITH c AS (SELECT c.code, g.y FROM customers c CROSS JOIN generate_series(2020, 2023) AS g(y))"
    " SELECT c.code, sum(o.weight) AS w, min(o.unit) AS u FROM c LEFT JOIN orders o "
    "ON o.customer = c.code AND o.year = c.y GROUP BY 1",
    "SELECT p.paid, o.weight FROM payments p ASOF JOIN orders o ON p.order_id >= o.id",
    "SELECT id FROM orders o WHERE EXISTS (SELECT 1 FROM payments p WHERE p.order_id = o.id)",
]


@pytest.mark.slow
@pytest.mark.parametrize("sql", QUIET)
def test_what_does_not_mislead_is_left_alone(sql, tables):
    assert not [one.text for one in found(sql, tables).values() if str(one.severity) != "note"]


def test_columns_of_units_are_known_by_their_names():
    assert [one for one in ("unit", "Currency Code", "weight_uom", "united", "community", "rate")
            if is_unit(one)] == ["unit", "Currency Code", "weight_uom"]  # fmt: skip


STATE = {
    "sources": [{"name": name, "table_ids": [name]} for name in HELD],
    "tables": [
        {
            "name": "t",
            "columns": [
                {"name": "ID", "type": "integer"},
                {"name": "code", "type": "date"},
                {"name": "amount", "type": "number"},
                {"name": "empty", "type": "text"},
            ],
            "steps": [
                {
                    "operator": "sql",
                    "reads": ["orders"],
                    "makes": "t",
                    "code": "SELECT amount, id, customer AS code, CAST(NULL AS text) AS empty "
                    "FROM orders WHERE year = 2022",
                }
            ],
        }
    ],
    "queries": [
        {"name": "mean", "sql": "SELECT sum(amount) / count(*) AS m FROM t"},
        {"name": "none", "sql": "SELECT id FROM t WHERE id > 99"},
        {"name": "wrong", "sql": "SELECT nothing FROM t"},
    ],
}


@pytest.mark.slow
def test_a_table_is_of_its_columns_and_says_what_was_lost():
    (made,) = materialize(read_state(STATE), ArrowRelations(HELD))
    none = [None, None]
    wanted = {"ID": [3, 4], "code": none, "amount": [None, 40.0], "empty": none}
    assert made.rows.to_pydict() == wanted
    told = {(one.rule, str(one.severity)): one.text for one in made.findings}
    assert (
        "2 of 2 cells of code are no date and became NULL, such as 'c2', 'c9'"
        in told[("not of its type", "error")]
    )
    assert "empty is NULL in every row" in told[("nulls", "error")]
    assert "amount is NULL in 1 of 2 rows (50%)" in told[("nulls", "warning")]
    mean, none, wrong = run_queries(read_state(STATE), {"t": made.rows})
    assert mean.rows == ((20.0,),)
    assert {one.rule for one in mean.findings} == {"null in aggregate"}
    assert {one.rule for one in none.findings} == {"literal not found", "no rows"}
    (finding,) = wrong.findings
    assert "there is no column 'nothing'" in finding.text
    assert "made are t (ID BIGINT" in finding.text


def test_a_state_is_looked_at_before_anything_is_made():
    broken = {
        **STATE,
        "tables": [
            *STATE["tables"],
            {"name": "u", "columns": [{"name": "x"}], "steps": []},
            {"name": "v", "steps": [
                {"operator": "sql", "reads": ["t"], "makes": "a", "code": "SELECT id FROM t"},
                {"operator": "unpivot", "reads": ["a"], "makes": "v", "options": {"keep": ["no"]}},
            ]},
        ],
    }  # fmt: skip
    relations = ArrowRelations({**HELD, "orders": HELD["orders"].slice(0, 2)})
    told = {(one.rule, one.subject): one.text for one in check(read_state(broken), relations)}
    assert "year goes from 2020 to 2021" in told[("literal not found", "t")]
    assert "u" not in {subject for _, subject in told}, "it is not made yet"
    assert "no column 'no'" in told[("step", "v")]
    assert ("columns missing", "t") not in told


def test_a_source_that_may_not_be_read_is_named_in_the_words_of_the_source():
    hidden = ArrowRelations({name: one for name, one in HELD.items() if name != "orders"})
    told = [one.text for one in check(read_state(STATE), hidden)]
    assert any("there is no table 'orders', or you may not read it" in one for one in told)
