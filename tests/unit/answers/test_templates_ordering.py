"""Superlatives, counts of none, and joins: where a wrong answer would look right."""

import pytest

from tests.support.answer_tables import answer_set, answer_table
from tests.unit.answers.test_templates import answered

FLIGHTS = answer_table(
    "flights",
    {"flight_number": "BIGINT", "from_airport": "VARCHAR", "to_airport": "VARCHAR"},
    [("1", "CDG", "JFK"), ("2", "JFK", "CDG"), ("3", "LHR", "CDG")],
)
AIRPORTS = answer_table(
    "airports",
    {"code": "VARCHAR", "city": "VARCHAR", "country": "VARCHAR"},
    [("CDG", "Paris", "France"), ("JFK", "New York", "USA"), ("LHR", "London", "England")],
)
AIR = answer_set(
    FLIGHTS,
    AIRPORTS,
    joins=["flights.from_airport = airports.code", "flights.to_airport = airports.code"],
)


def lookup(*cells):
    return "template lookup", [(cell,) for cell in cells]


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("flights to Paris", lookup(2, 3)),
        ("flights from Paris", lookup(1)),
        ("Which flights go to the city Paris?", lookup(2, 3)),
        ("How many flights to New York?", ("template count", [(1,)])),
        ("How many flights from New York to CDG?", ("template count", [(1,)])),
        ("flights in Paris", None),
        ("How many flights arrive in Paris?", None),
        ("flights from Paris to London", None),
        ("countries of flights to Paris", None),
        ("number of flights by country", None),
        ("How many airports in France?", ("template count", [(1,)])),
    ],
)
def test_of_several_joins_that_is_taken_whose_role_is_said(question, wanted):
    assert answered(question, AIR) == wanted


def test_a_join_is_not_taken_where_the_role_of_a_like_column_is_said():
    tables = answer_set(FLIGHTS, AIRPORTS, joins=["flights.from_airport = airports.code"])
    assert answered("flights from Paris", tables) == lookup(1)
    assert answered("flights to Paris", tables) is None


EMPLOYEES = answer_table(
    "employees",
    {"id": "BIGINT", "name": "VARCHAR", "department_id": "BIGINT"},
    [("1", "Ana", "7"), ("2", "Bob", "7"), ("3", "Cid", "8")],
)
DEPARTMENTS = answer_table(
    "departments",
    {"id": "BIGINT", "title": "VARCHAR", "manager_id": "BIGINT"},
    [("7", "Sales", "3"), ("8", "Purchase", "1")],
)
FIRM = ["departments.manager_id = employees.id", "employees.department_id = departments.id"]


@pytest.mark.parametrize("joins", [FIRM, FIRM[::-1]])
@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("How many employees in Sales?", ("template count", [(2,)])),
        ("Which employees are in the department Sales?", lookup("Ana", "Bob")),
        ("Which employees are managers of Sales?", None),
        ("Which employee heads Sales?", None),
    ],
)
def test_of_several_joins_that_without_a_role_is_taken_if_none_is_said(joins, question, wanted):
    assert answered(question, answer_set(EMPLOYEES, DEPARTMENTS, joins=joins)) == wanted


CUSTOMERS = answer_table(
    "customers",
    {"id": "BIGINT", "name": "VARCHAR", "city": "VARCHAR", "credit": "BIGINT"},
    [("1", "Ana", "Madrid", "100"), ("2", "Bob", "Paris", "50"), ("3", "Cid", "Rome", "70"),
     ("4", "Dan", "Madrid", "10")],
)  # fmt: skip
ORDERS = answer_table(
    "orders",
    {"id": "BIGINT", "customer_id": "BIGINT", "placed": "DATE", "amount": "BIGINT",
     "status": "VARCHAR"},
    [("11", "1", "2021-03-05", "10", "shipped"), ("12", "1", "2021-07-05", "20", "shipped"),
     ("13", "2", "2021-08-01", "30", "cancelled"), ("14", "4", "2020-03-01", "70", "shipped")],
)  # fmt: skip
SHOP = answer_set(CUSTOMERS, ORDERS, joins=["orders.customer_id = customers.id"])


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("What is the total credit of customers with orders in 2021?", None),
        ("What is the average credit of customers with shipped orders?", None),
        ("average credit by status", None),
        ("Which status has the highest total credit?", None),
        ("What is the total amount of orders of Ana?", ("template sum", [(30,)])),
        ("total amount by city", ("template group", [("Madrid", 100), ("Paris", 30)])),
        ("How many customers have shipped orders?", ("template count", [(2,)])),
    ],
)
def test_nothing_is_added_up_that_a_join_repeats(question, wanted):
    found = answered(question, SHOP)
    assert (found and (found[0], sorted(found[1]))) == wanted


def test_rows_without_a_key_are_not_counted_where_a_join_repeats_them():
    visits = answer_table(
        "visits", {"customer_id": "BIGINT", "page": "VARCHAR"}, [("1", "a"), ("1", "b"), ("2", "a")]
    )
    joins = ["orders.customer_id = customers.id", "visits.customer_id = customers.id"]
    tables = answer_set(CUSTOMERS, ORDERS, visits, joins=joins)
    assert answered("How many visits in Madrid?", tables) == ("template count", [(2,)])
    assert answered("number of visits per status", tables) is None


PAPERS = answer_table(
    "papers",
    {"pid": "BIGINT", "title": "VARCHAR", "citations": "BIGINT"},
    [("1", "Joins", "5"), ("2", "Sorts", "7")],
)
AUTHORS = answer_table(
    "authors",
    {"aid": "BIGINT", "name": "VARCHAR", "city": "VARCHAR"},
    [("1", "Ana", "Rome"), ("2", "Bob", "Rome"), ("3", "Cid", "Bonn")],
)
WRITES = answer_table(
    "writes", {"aid": "BIGINT", "pid": "BIGINT"}, [("1", "1"), ("2", "1"), ("2", "2"), ("3", "2")]
)
LINKED = answer_set(
    PAPERS, AUTHORS, WRITES, joins=["writes.aid = authors.aid", "writes.pid = papers.pid"]
)


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("total citations of papers for each author",
         ("template group", [("Ana", 5), ("Bob", 12), ("Cid", 7)])),
        ("total citations of papers in each city", None),
        ("average citations of papers of authors in Rome", None),
    ],
)  # fmt: skip
def test_a_link_of_two_tables_repeats_nothing_of_one_author(question, wanted):
    found = answered(question, LINKED)
    assert (found and (found[0], sorted(found[1]))) == wanted
    more = answer_table("writes", {"aid": "BIGINT", "pid": "BIGINT", "year": "BIGINT"})
    joins = ["writes.aid = authors.aid", "writes.pid = papers.pid"]
    assert answered(question, answer_set(PAPERS, AUTHORS, more, joins=joins)) is None


def rows_of(question, tables):
    """Return the first cells of the rows that answer, as texts; None where there is no draft."""
    found = answered(question, tables)
    return found and [str(row[0]) for row in found[1]]


AGED = answer_table(
    "employees",
    {"id": "BIGINT", "name": "VARCHAR", "age": "BIGINT", "hired": "DATE"},
    [("1", "Ana", "30", "2001-01-01"), ("2", "Bob", "60", "2011-01-01"),
     ("3", "Cid", "20", "2021-01-01")],
)  # fmt: skip
BORN = answer_table(
    "employees",
    {"id": "BIGINT", "name": "VARCHAR", "birth_date": "DATE"},
    [("1", "Ana", "1990-01-01"), ("2", "Bob", "1960-01-01"), ("3", "Cid", "2000-01-01")],
)
HIRED = answer_table(
    "employees",
    {"id": "BIGINT", "name": "VARCHAR", "hire_date": "DATE", "years": "BIGINT"},
    [("1", "Ana", "1990-01-01", "3"), ("2", "Bob", "1960-01-01", "1")],
)
RUNNERS = answer_table(
    "runners",
    {"id": "BIGINT", "name": "VARCHAR", "time": "DOUBLE", "rank": "BIGINT", "speed": "DOUBLE",
     "rating": "DOUBLE", "club": "VARCHAR"},
    [("1", "Ana", "9.8", "1", "5.5", "8", "x"), ("2", "Bob", "12.5", "3", "4", "9", "y"),
     ("3", "Cid", "10.1", "2", "5", "7", "y")],
)  # fmt: skip
RANKED = answer_table(
    "runners", {"id": "BIGINT", "name": "VARCHAR", "rank": "BIGINT"},
    [("1", "Ana", "1"), ("2", "Bob", "3"), ("3", "Cid", "2")],
)  # fmt: skip
PRODUCTS = answer_table(
    "products",
    {"id": "BIGINT", "name": "VARCHAR", "price": "DOUBLE", "created_date": "DATE"},
    [("1", "pen", "2", "2020-01-01"), ("2", "oven", "300", "2021-01-01"),
     ("3", "cup", "5", "2022-01-01")],
)  # fmt: skip


@pytest.mark.parametrize(
    ("table", "question", "wanted"),
    [
        (AGED, "Who is the oldest employee?", ["Bob"]),
        (AGED, "Who is the youngest employee?", ["Cid"]),
        (AGED, "Which employee has the highest age?", ["Bob"]),
        (AGED, "What is the oldest age?", ["60"]),
        (AGED, "employees sorted by age from oldest to youngest", ["Bob", "Ana", "Cid"]),
        (AGED, "employees sorted by hired from newest to oldest", ["Cid", "Bob", "Ana"]),
        (AGED, "employees sorted by age from newest to oldest", None),
        (AGED, "employees from oldest to youngest", None),
        (AGED, "employees sorted by age, oldest first", ["Bob", "Ana", "Cid"]),
        (AGED, "employees sorted by hired, newest first", ["Cid", "Bob", "Ana"]),
        (AGED, "employees sorted by hired, newest last", None),
        (AGED, "the oldest employees sorted by age from oldest to youngest", ["Bob", "Ana", "Cid"]),
        (AGED, "the oldest employees sorted by age from youngest to oldest", None),
        (AGED, "the oldest employees sorted by age ascending", None),
        (AGED, "top 2 oldest employees", ["Bob", "Ana"]),
        (AGED, "What is the latest age?", None),
        (BORN, "Who is the oldest employee?", ["Bob"]),
        (BORN, "Which employee is the youngest?", ["Cid"]),
        (BORN, "employees sorted by birth date from youngest to oldest", ["Cid", "Ana", "Bob"]),
        (HIRED, "Who is the oldest employee?", None),
        (HIRED, "Who is the youngest employee?", None),
        (HIRED, "Which employee has the oldest hire date?", ["Bob"]),
        (RUNNERS, "Which runner has the fastest time?", ["Ana"]),
        (RUNNERS, "What is the fastest time of runners?", ["9.8"]),
        (RUNNERS, "Which runner has the slowest time?", ["Bob"]),
        (RUNNERS, "Which runner has the fastest speed?", ["Ana"]),
        (RUNNERS, "Which runner is the fastest?", ["Ana"]),
        (RUNNERS, "Which club has the fastest average time?", ["x"]),
        (RUNNERS, "Which runner has the best time?", None),
        (RUNNERS, "Which runner has the fastest rating?", None),
        (RUNNERS, "Which runner has the best rating?", ["Bob"]),
        (RUNNERS, "Which runner has the worst rating?", ["Cid"]),
        (RUNNERS, "Which club has the best average rank?", ["x"]),
        (RUNNERS, "top 2 runners by rank", ["Ana", "Cid"]),
        (RUNNERS, "top 2 runners by time", None),
        (RUNNERS, "top 2 runners by rating", ["Bob", "Ana"]),
        (RUNNERS, "runners ordered by rank from best to worst", ["Ana", "Cid", "Bob"]),
        (RUNNERS, "clubs of runners sorted alphabetically", ["x", "y", "y"]),
        (RUNNERS, "number of runners per club sorted alphabetically", ["x", "y"]),
        (RANKED, "What is the best rank of runners?", ["1"]),
        (RANKED, "Which runner has the worst rank?", ["Bob"]),
        (RANKED, "Which runner is the best?", ["Ana"]),
        (RANKED, "Which runner has the highest rank?", None),
        (RANKED, "What is the maximum rank?", ["3"]),
        (PRODUCTS, "What is the least expensive product?", ["pen"]),
        (PRODUCTS, "Which product is the most expensive?", ["oven"]),
        (PRODUCTS, "What is the least recent product?", ["pen"]),
        (PRODUCTS, "What is the most recent product?", ["cup"]),
        (PRODUCTS, "What is the oldest product?", ["pen"]),
        (PRODUCTS, "What is the latest price of products?", None),
        (PRODUCTS, "Which product has a price closest to 5?", None),
        (PRODUCTS, "last 2 products by created date", ["cup", "oven"]),
        (PRODUCTS, "first 2 products by created date", ["pen", "oven"]),
        (PRODUCTS, "last 2 products by price", None),
        (PRODUCTS, "lowest and highest price of products", None),
        (PRODUCTS, "cheapest and most expensive product", None),
        (PRODUCTS, "the most expensive products ordered by name", None),
    ],
)
def test_a_superlative_goes_the_way_of_its_column(table, question, wanted):
    assert rows_of(question, answer_set(table)) == wanted


LISTED = answer_set(
    answer_table("lists", {"customer_id": "BIGINT", "note": "VARCHAR"}, [("1", "a"), ("1", "b")]),
    CUSTOMERS,
    joins=["lists.customer_id = customers.id"],
)


@pytest.mark.parametrize(
    ("tables", "question", "wanted"),
    [
        (SHOP, "Which customer has the fewest orders?", [("Cid", 0)]),
        (SHOP, "Which city has the fewest orders?", [("Rome", 0)]),
        (SHOP, "Which city has the lowest number of orders?", [("Rome", 0)]),
        (SHOP, "customers with less than 1 order", [("Cid", 0)]),
        (SHOP, "customers with fewer than 2 orders", [("Bob", 1), ("Cid", 0), ("Dan", 1)]),
        (SHOP, "customers with at most 1 order", [("Bob", 1), ("Cid", 0), ("Dan", 1)]),
        (SHOP, "customers in Paris with fewer than 2 orders", [("Bob", 1)]),
        (SHOP, "customers with fewer than 2 shipped orders", [("Bob", 0), ("Cid", 0), ("Dan", 1)]),
        (SHOP, "customers with more than 1 order", [("Ana", 2)]),
        (SHOP, "Which customer has the most orders?", [("Ana", 2)]),
        (SHOP, "Which city has the fewest customers with shipped orders?", None),
        (SHOP, "number of orders of each customer sorted by name",
         [("Ana", 2), ("Bob", 1), ("Dan", 1)]),
        (SHOP, "customers with between 1 and 2021-03-05 orders", None),
        (SHOP, "customers with between 0 and 1 orders", [("Bob", 1), ("Cid", 0), ("Dan", 1)]),
        (SHOP, "customers with exactly 0 orders", [("Cid", 0)]),
        (LINKED, "Which author has the lowest total citations?", None),
        (LINKED, "Which author has the highest total citations?", [("Bob", 12)]),
        (SHOP, "Which status is the least common?", [("cancelled", 1)]),
        (SHOP, "Which status has the fewest orders in 2021?", None),
        (SHOP, "Which status has the fewest orders?", [("cancelled", 1)]),
        (SHOP, "customer ids with fewer than 2 orders", None),
        (SHOP, "Which customer id has the fewest orders?", None),
        (LISTED, "Which customer has the fewest lists?", None),
        (LISTED, "customers with less than 3 lists", None),
        (LINKED, "authors with less than 2 papers", [("Ana", 1), ("Cid", 1)]),
    ],
)  # fmt: skip
def test_those_that_have_none_have_the_fewest(tables, question, wanted):
    found = answered(question, tables)
    assert (found and sorted(found[1])) == wanted


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Which status has the highest total amount?", [("shipped", 100)]),
        ("Which customer has the highest total amount?", [("Dan", 70)]),
        ("Which customer has the lowest total amount?", None),
        ("What is the total amount of orders?", [(130,)]),
    ],
)
def test_a_total_of_what_is_called_amount_is_no_single_amount(question, wanted):
    found = answered(question, SHOP)
    assert (found and found[1]) == wanted


def test_who_wrote_nothing_is_among_those_who_wrote_little():
    more = [*AUTHORS.evidence.rows, ("4", "Eve", "Oslo")]
    authors = answer_table("authors", {one.name: one.type for one in AUTHORS.columns}, more)
    tables = answer_set(
        PAPERS, authors, WRITES, joins=["writes.aid = authors.aid", "writes.pid = papers.pid"]
    )
    assert answered("Which author has the fewest papers?", tables) == (
        "template largest group",
        [("Eve", 0)],
    )
