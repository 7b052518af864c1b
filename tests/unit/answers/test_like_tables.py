"""Tables of the same columns answer each by itself, also where they are joined with others."""

from dataclasses import replace

import pytest

from pneuma_assets.core.answers.answer import Found, run_on_all
from pneuma_assets.core.answers.attempt import Attempts
from pneuma_assets.core.answers.like_tables import SiblingTables, are_parts, chosen
from pneuma_assets.core.answers.prune import Cluster
from pneuma_assets.core.answers.results import ALIKE, PART
from tests.support.answer_tables import answer_set, answer_table
from tests.support.rows_in_duckdb import RowsInDuckDB

SALE = {"customer": "int", "total": "int"}
CUSTOMERS = answer_table("customers", {"id": "int", "city": "text"}, [("1", "Oslo"), ("2", "Rome")])
SALES = {
    year: answer_table(f"sales_{year}", SALE, [(str(year % 2 + 1), str(year))])
    for year in (2019, 2020, 2021)
}
BACK = {
    year: answer_table(f"returns_{year}", {"customer": "int", "why": "text"}, [("1", "broken")])
    for year in (2019, 2020)
}
ODD = answer_table("sales_2018", {"customer": "int", "total": "text"}, [("1", "5?")])
BY_CITY = (
    "SELECT city, SUM(total) FROM customers JOIN sales_2019 ON sales_2019.customer = customers.id "
    "GROUP BY city"
)


JOINS = [f"sales_{year}.customer = customers.id" for year in SALES]


def edges(*joins: str):
    return answer_set(joins=joins).joins


def ids(sets) -> list[list[str]]:
    return [[table.table_id.split("/")[-1] for table in one.tables] for one in sets]


@pytest.mark.parametrize(
    ("question", "others"),
    [
        ("totals by city", [["customers", "sales_2020"], ["customers", "sales_2021"]]),
        ("totals by city in 2019", []),
        ("totals by city in 2019 and 2021", [["customers", "sales_2021"]]),
        ("sales of customers", [["customers", "sales_2020"], ["customers", "sales_2021"]]),
    ],
)
def test_others_stand_in_the_place_of_one_of_the_tables(question, others):
    alike = SiblingTables(question, (CUSTOMERS, *SALES.values(), ODD), edges(*JOINS))
    found = alike.others((CUSTOMERS, SALES[2019]))
    assert ids(found) == others
    assert all(one.tables[1].read.name == "sales_2019" for one in found)


def test_one_that_is_not_joined_so_stands_in_no_place():
    tables = (CUSTOMERS, *SALES.values())
    read = (CUSTOMERS, SALES[2019])
    assert ids(SiblingTables("totals", tables).others(read)) == []
    other = "sales_2020.total = customers.id"
    assert ids(SiblingTables("totals", tables, edges(JOINS[0], other)).others(read)) == []
    assert ids(SiblingTables("totals", tables, edges(*JOINS[:2])).others(read)) == [
        ["customers", "sales_2020"]
    ]


def test_tables_of_the_same_columns_are_no_parts_of_one_for_that():
    names = {"id": "int", "name": "text"}
    phases, cities = (answer_table(name, names) for name in ("phases", "cities"))
    orders = answer_table("orders", {"id": "int", "phase_id": "int", "city_id": "int"})
    joins = edges("orders.phase_id = phases.id", "orders.city_id = cities.id")
    alike = SiblingTables("How many orders are shipped?", (orders, phases, cities), joins)
    assert alike.others((orders, phases)) == []
    assert alike.others((phases,)) == []
    assert alike.unread(["wh/lake/phases"], ()) == []


def test_those_of_one_year_change_together_and_those_read_together_do_not():
    joins = edges(*(f"returns_{year}.customer = sales_{year}.customer" for year in BACK))
    alike = SiblingTables("why was it?", (*SALES.values(), *BACK.values()), joins)
    assert ids(alike.others((SALES[2019], BACK[2019]))) == [["sales_2020", "returns_2020"]]
    alike = SiblingTables("totals", tuple(SALES.values()))
    assert ids(alike.others((SALES[2019], SALES[2020]))) == []
    assert ids(alike.others((SALES[2019],))) == [["sales_2020"], ["sales_2021"]]


@pytest.mark.parametrize(
    ("question", "asked", "left"),
    [
        ("the total price in 2018", [], []),
        ("the total price in 2018 and 2020", ["sales_2020"], ["sales_2019"]),
        ("the total price in sales_2018 and sales_2020?", ["sales_2020"], ["sales_2019"]),
        ("the total price from 2018 to 2020", ["sales_2020"], ["sales_2019"]),
        ("the total price", ["sales_2019", "sales_2020"], []),
        ("the 2019 highest prices over 18", [], []),
    ],
)
def test_of_several_years_that_a_question_names_all_are_asked(question, asked, left):
    sales = [answer_table(f"sales_{year}", {"price": "int"}) for year in (2018, 2019, 2020)]
    read = sales[1] if "2019" in question else sales[0]
    alike = SiblingTables(question, sales)
    found = [one for (one,) in ids(alike.others((read,)))]
    assert found == asked
    tried = [read.table_id, *(f"wh/lake/{one}" for one in found)]
    assert alike.unread([read.table_id], tried) == [f"wh/lake/{one}" for one in left]


@pytest.mark.parametrize(
    ("names", "question", "meant"),
    [
        (("sales_us", "sales_it"), "Tell us the total price", 2),
        (("sales_us", "sales_it"), "What is the total price, and is it high?", 2),
        (("sales_us", "sales_it"), "the total price in the US", 1),
        (("sales_us", "sales_it"), "TELL US THE TOTAL PRICE", 2),
        (("sales_us", "sales_it"), "prices of sales us", 1),
        (("plan_a", "plan_b"), "a list of prices", 2),
        (("plan_a", "plan_b"), "prices of plan A", 1),
        (("products_1", "products_2", "products_3"), "the 2 highest prices", 3),
        (("products_1", "products_2", "products_3"), "the highest prices of products 2", 1),
        (("2019/people", "2020/people"), "people of 2019", 1),
        (("sales/2019", "sales/2020"), "all sales", 2),
    ],
)
def test_words_that_mostly_say_something_else_tell_no_tables_apart(names, question, meant):
    tables = [answer_table(name, {"price": "int"}) for name in names]
    assert len(chosen(question, tables)) == meant
    assert all(are_parts(tables[0].table_id, one.table_id) for one in tables)


def run(question, sets, sql):
    """Run a statement about the first set as if a model had written it."""
    tables = {one.table_id: one for some in sets for one in some.tables}
    alike = SiblingTables(
        question, tuple(tables.values()), [edge for some in sets for edge in some.joins]
    )
    found, cluster = Found(), Cluster(tuple(sets[:1]), "duckdb")
    attempts = Attempts(RowsInDuckDB(), 5)
    found.answers += run_on_all(sql, cluster, alike, attempts, "model m", found)
    found.note_unread(alike)
    return found


def test_a_joined_statement_is_run_on_each_year_and_says_which_it_left():
    of_2018 = "sales_2018.customer = customers.id"
    sets = [
        answer_set(CUSTOMERS, one, joins=[join])
        for one, join in ((SALES[2019], JOINS[0]), (ODD, of_2018), (SALES[2020], JOINS[1]))
    ]

    found = run("totals by city", sets, BY_CITY)
    assert [(one.tables[1], one.rows) for one in found.answers] == [
        ("wh/lake/sales_2019", (("Rome", 2019),)),
        ("wh/lake/sales_2020", (("Oslo", 2020),)),
    ]
    assert '"sales_2020"' in found.answers[1].sql
    assert "sales_2019" not in found.answers[1].sql
    ((subject, stage),) = [(one.subject, one.stage) for one in found.problems]
    assert (subject, stage) == ("wh/lake/sales_2018", ALIKE)
    named = run("totals by city in 2019", sets, BY_CITY)
    assert len(named.answers) == 1
    assert not named.problems


def test_a_year_that_gives_no_row_is_told_as_that_and_not_as_left():
    none = replace(SALES[2020], evidence=replace(SALES[2020].evidence, rows=()))
    sets = [
        answer_set(CUSTOMERS, one, joins=[join])
        for one, join in zip((SALES[2019], none), JOINS, strict=False)
    ]
    sql = BY_CITY + " HAVING SUM(total) > 0"
    found = run("totals", sets, sql)
    assert len(found.answers) == 1
    ((told, stage, cause),) = [(one.subject, one.stage, one.cause) for one in found.problems]
    assert (told, stage, cause) == (
        "wh/lake/customers, wh/lake/sales_2020",
        PART,
        "it gives no row",
    )
