"""What is written for a question when no model is there to write it."""

from dataclasses import replace

import duckdb
import pytest
from sqlglot import exp, parse_one

from pneuma_assets.core.answers.guard import checked
from pneuma_assets.core.answers.tables import AnswerSet, Draft, NoDraft
from pneuma_assets.core.answers.templates import LEAST_SURE, draft
from pneuma_assets.core.answers.templates.names import MOST_COLUMNS
from pneuma_assets.core.text.analysis import ENGLISH, analyzer_named
from tests.support.answer_tables import answer_set, answer_table

CUSTOMERS = answer_table(
    "customers",
    {"customer_id": "BIGINT", "name": "VARCHAR", "city": "VARCHAR", "country": "VARCHAR",
     "joined": "DATE", "is_active": "BOOLEAN"},
    [("1", "Ann Lee", "Berlin", "Germany", "2019-04-01", "true"),
     ("2", "José Díaz", "Madrid", "Spain", "2021-06-01", "false"),
     ("3", "Kim", "Paris", "France", "2015-01-01", "true"),
     ("4", "Lu", "Berlin", "Germany", "2015-02-01", "true")],
)  # fmt: skip
ORDERS = answer_table(
    "orders",
    {"order_id": "BIGINT", "customer_id": "BIGINT", "order_date": "DATE", "amount": "DOUBLE",
     "status": "VARCHAR"},
    [("10", "1", "2022-01-05", "20.5", "shipped"), ("11", "1", "2023-02-05", "99", "open"),
     ("12", "2", "2023-03-05", "5", "returned"), ("13", "3", "2023-03-09", "40", "shipped")],
)  # fmt: skip
SHOP = answer_set(CUSTOMERS, ORDERS, joins=["orders.customer_id = customers.customer_id"])


def answered(question, tables=SHOP):
    """Return the kind of template and the rows that its statement gives in DuckDB."""
    found = draft(question, tables, "duckdb", ENGLISH)
    if isinstance(found, NoDraft):
        return None
    connection = duckdb.connect()
    for table in tables.tables:
        columns = ", ".join(f'"{one.name}" {one.type}' for one in table.columns)
        connection.execute(f'CREATE TABLE "{table.read.name}" ({columns})')
        marks = ", ".join("?" for _ in table.columns)
        connection.executemany(
            f'INSERT INTO "{table.read.name}" VALUES ({marks})', list(table.evidence.rows)
        )
    return found.made_by, connection.execute(found.sql).fetchall()


@pytest.mark.parametrize(
    ("question", "made_by", "rows"),
    [
        ("In which city does Jose Diaz live?", "lookup", [("Madrid",)]),
        ("What is the status of order 11?", "lookup", [("open",)]),
        ("Who is the customer with id 2?", "lookup", [("José Díaz",)]),
        ("List active customers in Berlin", "lookup", [("Ann Lee",), ("Lu",)]),
        ("Customers in Madrid or Paris", "lookup", [("José Díaz",), ("Kim",)]),
        ("Orders with an amount between 10 and 50", "lookup", [(10,), (13,)]),
        ("Which orders were placed before 2023?", "lookup", [(10,)]),
        ("Which orders were placed after 2023-03-05?", "lookup", [(13,)]),
        ("Which customers have shipped orders?", "lookup", [("Ann Lee",), ("Kim",)]),
        ("How many customers are there?", "count", [(4,)]),
        ("'How many customers from Germany?", "count", [(2,)]),
        ("How many different countries are there?", "count", [(3,)]),
        ("How many orders in 2023?", "count", [(3,)]),
        ("What is the average amount of shipped orders?", "average", [(30.25,)]),
        ("What is the largest amount?", "max", [(99.0,)]),
        ("Total amount by city", "group", [("Berlin", 119.5), ("Madrid", 5.0), ("Paris", 40.0)]),
        ("How many orders per status?", "group", [("open", 1), ("returned", 1), ("shipped", 2)]),
        ("Which customers have more than 1 order?", "group", [("Ann Lee", 2)]),
        ("What is the most recent order?", "largest", [(13, "2023-03-09")]),
        ("What are the top 2 orders by amount?", "largest", [(11, 99.0), (13, 40.0)]),
        ("Which customer has the most orders?", "largest group", [("Ann Lee", 2)]),
        ("Which country has the lowest average amount?", "largest group", [("Spain", 5.0)]),
        ("Which status is the most common?", "largest group", [("shipped", 2)]),
        ("What are the different statuses?", "list", [("open",), ("returned",), ("shipped",)]),
    ],
)  # fmt: skip
def test_a_form_is_read(question, made_by, rows):
    said, found = answered(question)
    plain = [tuple(str(c) if hasattr(c, "isoformat") else c for c in row) for row in found]
    assert (said, sorted(plain)) == (f"template {made_by}", sorted(rows))


@pytest.mark.parametrize(
    "question",
    [
        "What is the weather in Berlin?",
        "Which employee lives in Berlin?",
        "Which customers are not from Germany?",
        "What is the ratio of open orders to shipped orders?",
        "Which customers live in both Berlin and Madrid?",
        "How many refunds does each customer have?",
        "Which shelf has the largest amount?",
        "What is the average amount of orders for each region?",
        "Why are orders returned?",
        "Is Ann Lee a customer?",
        "What is the country Germany?",
        "",
        "?",
    ],
)
def test_what_is_not_understood_is_not_answered(question):
    assert answered(question) is None


def test_a_draft_says_how_much_it_accounts_for():
    asked = ("How many customers are there?", "How many purple customers are there?")
    sure = [draft(one, SHOP, "duckdb", ENGLISH, least_sure=0.0).sure for one in asked]
    assert sure == [1.0, 0.5]
    assert sure[0] > LEAST_SURE > sure[1]


@pytest.mark.parametrize("rest", [" there" * 60, " " * 2_000 + "purple"])
def test_a_question_too_long_to_be_read_whole_is_none(rest):
    asked = "How many customers are there"
    assert isinstance(draft(asked, SHOP, "duckdb", ENGLISH), Draft)
    assert isinstance(draft(asked + rest, SHOP, "duckdb", ENGLISH), NoDraft)


def test_a_draft_that_orders_by_something_else_is_none():
    asked = "List the names of customers, ordered by the length of the name"
    assert isinstance(draft(asked, SHOP, "duckdb", ENGLISH), NoDraft)


def test_a_column_is_named_by_what_it_cuts_short_and_by_what_is_said_of_it():
    life = answer_table(
        "gap", {"country": "VARCHAR", "lifeExp": "DOUBLE", "gini": "DOUBLE"}, [("Japan", "83", "3")]
    )
    said = replace(life.columns[2], said="How unequal incomes are")
    tables = answer_set(replace(life, columns=(*life.columns[:2], said)))
    said = [
        answered(question, tables)
        for question in (
            "What is the life expectancy of Japan?",
            "Which country is the most unequal?",
        )
    ]
    assert said == [
        ("template lookup", [(83.0,)]),
        ("template largest", [("Japan", 3.0)]),
    ]


def test_a_cell_of_a_row_that_is_not_kept_may_be_in_any_text():
    large = answer_table(
        "parks", {"park": "VARCHAR", "city": "VARCHAR"}, [("Fenway", "Boston")], ["Wrigley Field"]
    )
    found = draft("In which city is Wrigley Field?", answer_set(large), "postgres", ENGLISH)
    assert found.sql == (
        'SELECT "parks"."city" FROM "parks" '
        """WHERE "parks"."park" = 'Wrigley Field' OR "parks"."city" = 'Wrigley Field'"""
    )


def test_from_tells_which_of_two_columns_has_a_cell():
    flights = answer_table(
        "flights",
        {"id": "BIGINT", "from_airport": "VARCHAR", "to_airport": "VARCHAR"},
        [("1", "LAX", "ORD"), ("2", "ORD", "LAX")],
    )
    assert answered("Which flights go from ORD to LAX?", answer_set(flights)) == (
        "template lookup",
        [(2,)],
    )


@pytest.mark.parametrize(
    ("question", "made_by", "rows"),
    [
        ("How many troops are there?", "count", [(2,)]),
        ("How many points are there?", "count", [(2,)]),
        ("How many survivors are there?", "sum", [(180,)]),
        ("What is the largest number of survivors?", "max", [(90,)]),
        ("How many deaths in each troop?", "group", [("A", 12), ("B", 5)]),
    ],
)
def test_how_many_counts_things_and_adds_numbers_of_things(question, made_by, rows):
    troops = answer_table(
        "troops",
        {"troop": "VARCHAR", "point": "BIGINT", "survivors": "BIGINT", "num_deaths": "BIGINT"},
        [("A", "1", "90", "3"), ("A", "2", "50", "9"), ("B", "2", "40", "5")],
    )
    said, found = answered(question, answer_set(troops))
    assert (said, sorted(found)) == (f"template {made_by}", rows)


def test_tables_that_nothing_joins_are_not_read_together():
    apart = AnswerSet(SHOP.tables)
    assert answered("Total amount by country", apart) is None


def test_names_and_cells_are_never_pasted():
    odd = answer_table(
        'a"; DROP TABLE b; --',
        {"name": "VARCHAR", 'si"ze) FROM c --': "BIGINT"},
        [("O'Brien'; DELETE FROM x --", "1"), ("x", "2")],
    )
    question = "What is the si ze FROM c of \"O'Brien'; DELETE FROM x\"?"
    found = draft(question, answer_set(odd), "duckdb", ENGLISH, least_sure=0.0)
    tree = parse_one(found.sql, dialect="duckdb")
    assert [one.name for one in tree.find_all(exp.Table)] == ['a"; DROP TABLE b; --']
    assert [one.this for one in tree.find_all(exp.Literal)] == ["O'Brien'; DELETE FROM x --"]


def test_a_number_that_is_none_stays_a_text():
    odd = answer_table(
        "things", {"name": "VARCHAR", "size": "BIGINT"}, [("bolt", "1 OR 1=1"), ("nut", "2")]
    )
    found = draft("What is the name of '1 OR 1=1'?", answer_set(odd), "duckdb", ENGLISH)
    literals = list(parse_one(found.sql, dialect="duckdb").find_all(exp.Literal))
    assert [(one.this, one.is_string) for one in literals] == [("1 OR 1=1", True)]


def test_only_so_much_of_a_question_its_columns_and_its_rows_is_looked_at():
    columns = {f"measure {n}": "BIGINT" for n in range(MOST_COLUMNS)} | {"beyond": "BIGINT"}
    wide = answer_table("wide", columns, [["1"] * len(columns)] * 8_000)
    asked = "highest beyond " + "padding " * 100_000
    assert isinstance(
        draft("What is the highest beyond?", answer_set(wide), "duckdb", ENGLISH), NoDraft
    )
    assert isinstance(draft(asked, answer_set(wide), "duckdb", ENGLISH), NoDraft)


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
@pytest.mark.parametrize("analyzer", ["english", "german", "plain"])
def test_each_dialect_and_analyzer_is_understood(dialect, analyzer):
    found = draft("highest amount", SHOP, dialect, analyzer_named(analyzer))
    assert checked(found.sql, [ORDERS.read], dialect, 5).columns == (("orders", "amount"),)
