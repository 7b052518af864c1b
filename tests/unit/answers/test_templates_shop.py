"""Questions about the tables of a shop whose wrong answers would look right."""

from dataclasses import replace

import pytest
from sqlglot import parse_one

from pneuma_assets.core.answers.tables import Draft, NoDraft
from pneuma_assets.core.answers.templates import draft
from pneuma_assets.core.text.analysis import ENGLISH
from tests.support.answer_tables import answer_set, answer_table
from tests.unit.answers.test_templates import answered

SALES = answer_table(
    "sales_2023",
    {"order": "BIGINT", "customer_id": "BIGINT", "amount": "DOUBLE", "date": "DATE",
     "status": "VARCHAR"},
    [("110", "1", "20", "2023-03-05", "cancelled"), ("111", "1", "99", "2023-02-05", "shipped"),
     ("112", "1", "5", "2023-09-05", "shipped"), ("113", "2", "40", "2023-03-09", "cancelled")],
)  # fmt: skip
CUSTOMERS = answer_table(
    "customers",
    {"customer_id": "BIGINT", "full name": "VARCHAR", "city": "VARCHAR", "level": "VARCHAR"},
    [("1", "Ann Lee", "Malmö", "gold"), ("2", "José Díaz", "Madrid", "gold")],
)
SUPPLIERS = answer_table(
    "suppliers",
    {"supplier": "VARCHAR", "country": "VARCHAR", "phone": "VARCHAR", "rating": "VARCHAR"},
    [("Söhne & Co", "Germany", "+49 221 100", "4,5"), ("Aqua S.A.", "Spain", "+34 91", "3,9"),
     ("GreenThumb", "Spain", "+44 20", None), ("Büro24", "Hungary", "+36 1", "4,1")],
)  # fmt: skip
DAYS = answer_set(
    answer_table("suppliers", {"supplier": "VARCHAR", "day": "VARCHAR"}, [("x", "Mon")])
)
SHOP = answer_set(CUSTOMERS, SALES, joins=["sales_2023.customer_id = customers.customer_id"])


@pytest.mark.parametrize(
    ("question", "made_by", "rows"),
    [
        ("Which customer has the most orders?", "largest group", [("Ann Lee", 3)]),
        ("Which city has the most orders?", "largest group", [("Malmö", 3)]),
        ("Which status has the fewest orders?", "largest group", [("cancelled", 2)]),
        ("What is the most recent order?", "largest", [(112, "2023-09-05")]),
        ("Which is the first order?", "largest", [(111, "2023-02-05")]),
        ("What is the amount of order 111?", "lookup", [(99.0,)]),
    ],
)
def test_a_column_that_numbers_rows_is_what_it_numbers(question, made_by, rows):
    if "fewest" in question:
        more = (*SALES.evidence.rows, ("114", "2", "1", "2023-01-01", "shipped"))
        tables = answer_set(replace(SALES, evidence=replace(SALES.evidence, rows=more)))
    else:
        tables = SHOP
    said, found = answered(question, tables)
    plain = [tuple(str(c) if hasattr(c, "isoformat") else c for c in row) for row in found]
    assert (said, plain) == (f"template {made_by}", rows)


def test_a_number_that_repeats_is_counted_where_more_than_one_is_asked_for():
    returns = answer_table(
        "returns",
        {"nr": "BIGINT", "order": "BIGINT", "reason": "VARCHAR"},
        [("1", "120", "broken"), ("2", "9", "late"), ("3", "9", "late"), ("4", "7", "late")],
    )
    asked = "Which reason has the most orders?"
    assert answered(asked, answer_set(returns)) == ("template largest group", [("late", 2)])


@pytest.mark.parametrize("first", ["year", "population", "age"])
def test_a_first_column_that_measures_numbers_no_rows(first):
    rows = [("2019", "x"), ("2020", "y"), ("2021", "z")]
    table = answer_table("growth", {first: "BIGINT", "town": "VARCHAR"}, rows)
    asked = f"What is the highest {first}?"
    assert answered(asked, answer_set(table)) == ("template max", [(2021,)])


def test_the_largest_of_what_is_numbered_is_not_the_largest_number():
    assert answered("What is the largest order?", SHOP) is None


@pytest.mark.parametrize(
    "question",
    [
        "Which supplier has the lowest rating?",
        "Which supplier has the best rating?",
        "Which country has the most rating?",
        "What is the highest rating?",
        "List the suppliers ordered by rating",
    ],
)
def test_a_text_has_no_largest_value(question):
    assert answered(question, answer_set(SUPPLIERS)) is None


@pytest.mark.parametrize(
    "question",
    [
        "address of suppliers in Spain",
        "birthday and phone of suppliers in Spain",
        "List the birthday, address of suppliers in Spain",
        "phone of the distributors in Spain",
    ],
)
def test_what_is_asked_for_and_not_there_is_not_replaced(question):
    assert answered("How many suppliers on each day of the week?", DAYS) is not None
    assert answered("phone of suppliers in Spain", answer_set(SUPPLIERS)) is not None
    assert answered(question, answer_set(SUPPLIERS)) is None


@pytest.mark.parametrize(
    "question",
    [
        "phone of suppliers in Spain",
        "Which suppliers in Spain have a phone?",
        "Which suppliers are in Spain, with their phone number",
    ],
)
def test_what_is_hidden_is_not_replaced(question):
    columns = tuple(one for one in SUPPLIERS.columns if one.name != "phone")
    read = replace(
        SUPPLIERS.read, columns=tuple(one.name for one in columns), hidden=("phone number",)
    )
    hidden = replace(SUPPLIERS, columns=columns, read=read)
    assert isinstance(draft(question, answer_set(hidden), "duckdb", ENGLISH), NoDraft)
    plain = replace(hidden, read=replace(read, hidden=("email",)))
    assert isinstance(draft("suppliers in Spain", answer_set(plain), "duckdb", ENGLISH), Draft)


@pytest.mark.parametrize(
    "question",
    [
        "How many cancelled orders in all years?",
        "How many cancelled orders in all of the years?",
        "How many cancelled orders of all time?",
        "How many cancelled orders are there overall?",
    ],
)
def test_all_parts_are_asked_of_tables_of_which_one_is_a_part(question):
    assert answered(question, answer_set(SALES)) == ("template count", [(2,)])
    whole = replace(SALES, read=replace(SALES.read, name="sales"))
    assert answered(question, answer_set(whole)) is None
    assert answered(question, SHOP) == ("template count", [(2,)])


def test_the_largest_of_each_part_is_not_the_largest_of_all():
    asked = "Which status has the most orders"
    assert answered(f"{asked}?", answer_set(SALES)) is not None
    assert answered(f"{asked} in all years?", answer_set(SALES)) is None


def test_an_overall_average_is_no_sum():
    asked = "What is the overall average amount?"
    assert answered(asked, answer_set(SALES)) == ("template average", [(41.0,)])


def test_rows_are_known_by_a_name_that_says_one_of_the_tables_plural():
    columns = {"id": "BIGINT", "notes": "VARCHAR", "category_name": "VARCHAR", "rank": "BIGINT"}
    table = answer_table("categories", columns, [("1", "old", "Toys", "2"), ("2", "", "Tea", "1")])
    assert answered("categories with rank 2", answer_set(table))[1] == [("Toys",)]


def test_people_are_known_by_their_full_names():
    asked = "gold customers in Malmö"
    assert answered(asked, answer_set(CUSTOMERS)) == ("template lookup", [("Ann Lee",)])


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
@pytest.mark.parametrize(
    ("question", "heading"),
    [
        ("How many customers are there?", "count"),
        ("How many different cities are there?", "count"),
        ("What is the average amount?", "average amount"),
        ("Total amount by status", "total amount"),
        ("What is the highest amount?", "highest amount"),
        ("What is the lowest amount?", "lowest amount"),
        ("What is the latest date?", "latest date"),
        ("What is the earliest date?", "earliest date"),
    ],
)
def test_what_is_computed_has_a_heading_that_people_read(question, heading, dialect):
    found = draft(question, SHOP, dialect, ENGLISH)
    assert f'AS "{heading}"' in found.sql


def test_a_heading_is_not_that_of_another_column():
    table = answer_table("visits", {"count": "VARCHAR", "guest": "VARCHAR"}, [("x", "Ann")])
    found = draft("number of visits by count", answer_set(table), "duckdb", ENGLISH)
    assert [one.alias_or_name for one in parse_one(found.sql).selects] == ["count", "count of rows"]


def test_a_word_for_all_parts_makes_nobody_surer():
    asked = "How many purple orders in all years?"
    assert answered(asked, answer_set(SALES)) is None


def test_customers_of_one_name_are_not_one_customer():
    rows = [*CUSTOMERS.evidence.rows, ("3", "José Díaz", "Paris", "gold")]
    customers = answer_table("customers", {c.name: c.type for c in CUSTOMERS.columns}, rows)
    more = [(str(114 + n), buyer, "1", "2023-03-09", "shipped") for n, buyer in enumerate("233")]
    sales = [*SALES.evidence.rows, *more]
    orders = answer_table("sales_2023", {c.name: c.type for c in SALES.columns}, sales)
    tables = answer_set(customers, orders, joins=["sales_2023.customer_id = customers.customer_id"])
    asked = "Which customer has the most orders?"
    assert answered(asked, tables) == ("template largest group", [(1, "Ann Lee", 3)])


def test_the_year_is_of_what_is_counted():
    columns = {c.name: c.type for c in CUSTOMERS.columns} | {"joined": "DATE"}
    rows = [("1", "Ann Lee", "Malmö", "gold", "2019-01-01")]
    tables = answer_set(
        answer_table("customers", columns, rows),
        SALES,
        joins=["sales_2023.customer_id = customers.customer_id"],
    )
    asked = "Which customer has the most orders in 2023?"
    assert answered(asked, tables) == ("template largest group", [("Ann Lee", 3)])
