"""Which tables bear a name that is typed in, and how closely."""

import pytest

from pneuma_assets.core.search.names import match_names
from pneuma_assets.core.tables import TableTerms

ORDERS = TableTerms(
    names=("lake", "sales", "order_items_2023"),
    columns=("orderId", "sbcustjoindate", "created_at"),
    spelled_columns="sb cust join date",
)


def match(question: str, evidence: TableTerms = ORDERS) -> tuple[int, str] | None:
    found = match_names(question, {"t": evidence}).get("t")
    return None if found is None else (found.rank, found.name)


@pytest.mark.parametrize(
    ("typed", "rank", "name"),
    [
        ("order_items_2023", 0, "order_items_2023"),
        ("sales.order_items_2023", 0, "sales.order_items_2023"),
        ("lake sales OrderItems2023", 1, "lake.sales.order_items_2023"),
        ("created at?", 2, "created_at"),
        ("items 2023", 3, "order_items_2023"),
        ("sales order", 3, "sales.order_items_2023"),
        ("join date", 4, "sbcustjoindate"),
        ("custjoin", 4, "sbcustjoindate"),
        ("ordre_items_2023", 5, "order_items_2023"),
        ("creatd_at", 6, "created_at"),
        ("rder_itmes_2023", 7, "order_items_2023"),
    ],
)
def test_the_closest_name_is_told(typed: str, rank: int, name: str) -> None:
    assert match(typed) == (rank, name)


@pytest.mark.parametrize(
    "typed",
    [
        "sales",  # lies around the table, and is no name of its own
        "oin dat",  # no whole words
        "order_items_2024",  # another number is another name
        "order_items_20234",
        "which orders were made in sales",
        "***",
        "order_items_2023" * 20,
    ],
)
def test_another_name_is_not_taken_for_it(typed: str) -> None:
    assert match(typed) is None


def test_a_short_name_is_never_mistyped() -> None:
    assert match("cot", TableTerms(names=("cat",))) is None


def test_a_table_of_the_name_comes_before_one_with_such_a_column() -> None:
    table, column = TableTerms(names=("Status",)), TableTerms(names=("x",), columns=("status",))
    found = match_names("status", {"column": column, "table": table})
    assert found["table"].rank < found["column"].rank
    assert (found["table"].column, found["column"].column) == (False, True)


def test_a_name_is_whole_without_what_its_schema_is_glued_to() -> None:
    table = TableTerms(names=("shop", "xxcustomer"), spelled_names="xx customer")
    column = TableTerms(names=("x",), columns=("customer",))
    found = match_names("Customer", {"column": column, "table": table}, {"table": "xx"})
    assert found["table"].rank < found["column"].rank
    assert match("customer", table) == (3, "xxcustomer")
