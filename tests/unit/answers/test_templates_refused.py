"""Questions of which a part would be left out, or turned round: no answer is given instead."""

import pytest

from pneuma_assets.core.answers.templates.denying import denying
from tests.support.answer_tables import answer_set, answer_table
from tests.unit.answers.test_templates import answered

CUSTOMERS = answer_table(
    "customers",
    {"id": "BIGINT", "name": "VARCHAR", "city": "VARCHAR", "country": "VARCHAR",
     "credit": "BIGINT", "active": "BOOLEAN"},
    [("1", "Ana", "Madrid", "US", "50", "true"), ("2", "Miles", "Paris", "DE", "100", "false"),
     ("3", "Cid", "Berlin", "US", "150", "true")],
)  # fmt: skip
ORDERS = answer_table(
    "orders",
    {"id": "BIGINT", "customer_id": "BIGINT", "status": "VARCHAR", "amount": "DOUBLE",
     "placed": "DATE"},
    [("10", "1", "cancelled", "5", "2020-05-01"), ("11", "1", "shipped", "10", "2021-05-01"),
     ("12", "2", "shipped", "20", "2021-06-01")],
)  # fmt: skip
SHOP = answer_set(CUSTOMERS, ORDERS, joins=["orders.customer_id = customers.id"])


@pytest.mark.parametrize(
    "question",
    [
        "Which customers are in Madrid or have a credit above 60?",
        "How many orders are cancelled or placed before 2021?",
        "Customers in Madrid or US",
        "Customers in Madrid or Paris or with credit 100",
        "Customers in Madrid with a credit above 60 or in Paris",
        "Customers in Madrid or active",
        "Customers in Madrid and Paris or Berlin",
        "Customers in Madrid, Paris",
        "How many orders or customers are there?",
    ],
)
def test_or_between_two_columns_is_not_read_as_and(question):
    assert answered(question, SHOP) is None


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which customers are either in Madrid or in Paris?", ["Ana", "Miles"]),
        ("Customers in Madrid, Paris or Berlin", ["Ana", "Cid", "Miles"]),
        ("Customers in Madrid or in Paris with a credit above 60", ["Miles"]),
        ("Customers in the city Madrid or in the city Paris", ["Ana", "Miles"]),
    ],
)
def test_or_between_values_of_one_column_is_read(question, names):
    _, rows = answered(question, SHOP)
    assert sorted(name for (name,) in rows) == names


STATES = answer_table(
    "customers",
    {"id": "BIGINT", "name": "VARCHAR", "state": "VARCHAR", "dept": "VARCHAR", "film": "VARCHAR",
     "status": "VARCHAR", "credit": "BIGINT"},
    [("1", "Ana", "ME", "IT", "Get Out", "received", "50"),
     ("2", "Miles", "OR", "US", "Up", "open", "100"),
     ("3", "May", "IN", "HR", "Vertigo", "on", "150")],
)  # fmt: skip
FIRMS = answer_set(STATES)
UNKNOWN = answer_set(CUSTOMERS)


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("What is the average credit in IT?", [(50.0,)]),
        ("average credit in ME", [(50.0,)]),
        ("What is the total credit in OR?", [(100,)]),
        ("What is the total credit of customers in IN?", [(150,)]),
        ("How many customers are in the US?", [(1,)]),
        ("What Is The Average Credit In IT?", [(50.0,)]),
        ("US customers", [("Miles",)]),
        ("What is the credit of Miles?", [(100,)]),
        ("What is the credit of May?", [(150,)]),
        ("Which customers like Get Out?", [("Ana",)]),
        ("What is the credit of all customers IN Maine OR in ME?", None),
        ("HOW MANY CUSTOMERS ARE IN THE US?", None),
        ("How Many Customers Are There Of Miles?", None),
        ("how many customers are in the us?", None),
        ("what is the average credit in or", None),
        ("What is the number of us customers?", None),
        ("What is the credit of Ana in US dollars?", None),
        ("How many customers are on?", None),
        ("How many customers were received?", None),
    ],
)
def test_a_little_word_that_is_a_cell_is_not_left_out(question, rows):
    found = answered(question, FIRMS)
    assert (found and found[1]) == rows


@pytest.mark.parametrize(
    "question",
    ["How many customers are in OR?", "average credit of customers in IT", "credit in Miles, ME"],
)
def test_a_little_word_written_as_a_name_that_no_cell_has_is_unread(question):
    assert answered(question, UNKNOWN) is None


@pytest.mark.parametrize(
    "question",
    [
        "How many customers are there in ALL the data?",
        "How Many Customers Are There In All?",
        "HOW MANY CUSTOMERS ARE THERE?",
        "Tell me, How many customers are there?",
        "How many customers are there for us?",
        "How many of All customers are there?",
    ],
)
def test_capitals_of_other_kinds_are_no_names(question):
    assert answered(question, FIRMS) == ("template count", [(3,)])


@pytest.mark.parametrize(
    "question",
    [
        "What are the minimum and maximum amount?",
        "What are the lowest and the highest credit?",
        "average and maximum credit",
        "highest and lowest amount by status",
        "maximum, minimum amount",
        "sum and average of amount",
        "Which customer has the most orders and the highest credit?",
        "How many customers and orders are there?",
        "number of customers and of orders",
        "How many customers and how many orders are there?",
        "What are the average amount and the number of orders?",
        "How many orders are there and what is their total amount?",
        "number of orders and average amount per status",
        "average credit and amount of customers",
        "What is the average amount of the top 2 orders?",
        "top 2 orders and the average amount",
        "Which cities have a total credit over 60?",
        "customers with a total amount over 12",
        "What is the rate of cancelled orders?",
        "What is the level of customers in Madrid?",
        "What is the value of the orders of Ana?",
    ],
)
def test_half_of_a_question_is_not_answered(question):
    assert answered(question, SHOP) is None


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("What is the total number of customers?", [(3,)]),
        ("How many customers are there in total?", [(3,)]),
        ("What is the total credit?", [(300,)]),
        ("top 2 customers by credit and their highest credit", [("Cid", 150), ("Miles", 100)]),
        ("top 1 status and its total amount", [("shipped", 30.0)]),
        ("Which are the top 1 statuses by total amount?", [("shipped", 30.0)]),
        ("How many orders per status? Give the status and the number of orders.",
         [("cancelled", 1), ("shipped", 2)]),
        ("List customers sorted by credit from the highest to the lowest",
         [("Ana", 50), ("Cid", 150), ("Miles", 100)]),
    ],
)  # fmt: skip
def test_what_is_said_twice_is_not_two_things(question, rows):
    assert sorted(answered(question, SHOP)[1]) == rows


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which customers have a credit of 100 or more?", ["Cid", "Miles"]),
        ("customers with credit 100 or less", ["Ana", "Miles"]),
        ("Customers with 100 or above credit", ["Cid", "Miles"]),
        ("customers with a credit of 100+", ["Cid", "Miles"]),
        ("customers with credit \u2265 100", ["Cid", "Miles"]),
        ("customers with credit \u2264 100", ["Ana", "Miles"]),
        ("Customers in Madrid or Paris with a credit of 100 or more", ["Miles"]),
    ],
)
def test_a_number_or_more_is_read(question, names):
    _, rows = answered(question, SHOP)
    assert sorted(name for (name,) in rows) == names


def test_so_many_or_more_are_counted():
    assert answered("customers with 2 or more orders", SHOP) == ("template group", [("Ana", 2)])
    placed = "How many orders were placed in 2021 or {}?"
    rows = [answered(placed.format(one), SHOP)[1] for one in ("later", "earlier")]
    assert rows == [[(2,)], [(3,)]]


@pytest.mark.parametrize(
    "question",
    [
        "customers with credit != 100",
        "customers with credit <> 100",
        "customers with credit \u2260 100",
        "customers with credit ~ 100",
    ],
)
def test_other_signs_before_a_number_are_not_read(question):
    assert answered(question, SHOP) is None


@pytest.mark.parametrize(
    "question",
    [
        "Customers outside Madrid",
        "Customers far from Madrid",
        "Customers near Madrid",
        "cancelled orders of all customers in Madrid but Ana",
        "Which customers have zero orders?",
        "Which customers lack orders?",
        "Which customers are missing orders?",
        "customers with active false",
        "Orders yet to be shipped",
        "orders still to be shipped",
        "How many inactive customers are in Madrid?",
        "How many unpaid cancelled orders of customers in Madrid?",
        "How many nonrefundable cancelled orders of customers in Madrid?",
        "What is the second highest credit?",
        "What is the 2nd highest credit?",
        "Which customer has the third highest credit?",
        "What is the next highest credit?",
        "half the credit of Ana",
        "twice the credit of Ana",
        "Which customers have only cancelled orders?",
        "Which customers have all orders shipped?",
        "Which customers have several orders?",
        "Which customers have many orders?",
        "Which shipped orders of customers in Paris were placed after Ana?",
        "How many orders were placed in the last 30 days?",
    ],
)
def test_what_denies_or_ranks_is_not_left_out(question):
    assert answered(question, SHOP) is None


def test_a_word_that_denies_is_read_where_it_is_a_cell_or_a_name():
    table = answer_table(
        "races",
        {"runner": "VARCHAR", "half": "VARCHAR", "status": "VARCHAR"},
        [("Ana", "second", "unpaid"), ("Cid", "first", "paid")],
    )
    asked = ("Which runners are unpaid?", "runner of the half second")
    assert [answered(one, answer_set(table))[1] for one in asked] == [[("Ana",)], [("Ana",)]]


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("customers in the same city", "same"),
        ("a city different from", "different from"),
        ("the runner up by credit", "runner up"),
        ("orders of this year", "this year"),
        ("orders of the past 30 days", "past 30 days"),
        ("orders with all items", "with all"),
        ("too many orders", "many"),
        ("many orders", "many"),
        ("how many different orders of all customers", ""),
        ("how many of the united units under the union", ""),
        ("runner with the last time up", ""),
        ("papers with each dataset of the year", ""),
    ],
)
def test_words_that_deny_are_told_from_others(text, denied):
    assert denying(text.split()) == denied


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("How many orders of customers in Madrid?", [(2,)]),
        ("What is the number of shipped orders of customers in Madrid?", [(1,)]),
        ("List the cancelled orders of customers in Madrid", [(10,)]),
        ("List the customer id of order 12", [(2,)]),
    ],
)
def test_two_tables_are_no_key_of_one_to_the_other(question, rows):
    assert answered(question, SHOP)[1] == rows


PAPERS = answer_set(
    answer_table("authors", {"id": "BIGINT", "name": "VARCHAR"}, [("1", "Ana"), ("2", "Bob")]),
    answer_table(
        "writes", {"paperid": "BIGINT", "authorid": "BIGINT"}, [("1", "1"), ("3", "1"), ("4", "2")]
    ),
    joins=["writes.authorid = authors.id"],
)


@pytest.mark.parametrize(
    ("question", "tables"),
    [
        ("How many authors have written more than 2 papers?", PAPERS),
        ("Which customers are in Madrid and how many orders do they have?", SHOP),
        ("How many customers are there for each city mayor?", SHOP),
    ],
)
def test_a_part_that_would_be_left_out_leaves_no_answer(question, tables):
    assert answered(question, tables) is None


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("Customers in Madrid and their credit", [("Ana", 50)]),
        ("Customers in Madrid, and their credit and country", [("Ana", 50, "US")]),
        ("Number of customers for each city", [("Berlin", 1), ("Madrid", 1), ("Paris", 1)]),
        ("Number of customers for each city code", [("Berlin", 1), ("Madrid", 1), ("Paris", 1)]),
    ],
)
def test_what_stands_beside_is_told(question, rows):
    _, found = answered(question, SHOP)
    assert sorted(found) == rows
