"""A query says which columns of its tables are equal; what only some rows have is not told."""

import pytest

from pneuma_assets.core.lineage.names import TableName
from pneuma_assets.core.lineage.view_sql import read_view
from pneuma_assets.core.tables import Definition

TABLES = {
    "orders": ["id", "customer_id", "sent_from", "sent_to", "region", "day"],
    "customers": ["id", "customer_id", "region", "city"],
    "cities": ["id", "name", "region"],
    "lines": ["order_id", "region", "day"],
}


def columns_of(table: TableName) -> list[str] | None:
    return TABLES.get(table.name.lower())


def joins(sql: str, dialect: str = "postgres") -> list[str]:
    found = read_view(Definition(sql, dialect), columns_of)
    assert found.problem is None
    return sorted(
        " & ".join(f"{a[0].name}.{a[1]}={b[0].name}.{b[1]}" for a, b in join)
        for join in found.joins
    )


def casted(type_name: str) -> str:
    on = f"CAST(o.customer_id AS {type_name}) = c.id"
    return f"SELECT 1 FROM orders o JOIN customers c ON {on}"


OF_CUSTOMER = "customers.id=orders.customer_id"
TOLD = {
    "ON": ("SELECT 1 FROM orders o JOIN customers c ON o.customer_id = c.id", [OF_CUSTOMER]),
    "the other way round, another type": (
        "SELECT 1 FROM orders o LEFT JOIN customers c ON ((c.id)::text = o.customer_id)",
        [OF_CUSTOMER],
    ),
    "in parentheses, as engines write views": (
        "SELECT 1 FROM ((orders o JOIN customers c ON (((c.id)::text = (o.customer_id)::text)))"
        " LEFT JOIN lines l ON ((l.order_id = o.id)))",
        [OF_CUSTOMER, "lines.order_id=orders.id"],
    ),
    "USING in parentheses": (
        "SELECT 1 FROM ((orders JOIN customers USING (customer_id))"
        " JOIN lines ON ((lines.order_id = orders.id)))",
        ["customers.customer_id=orders.customer_id", "lines.order_id=orders.id"],
    ),
    "joined with what is joined": (
        "SELECT 1 FROM orders o JOIN (lines l JOIN cities t ON l.region = t.region)"
        " ON l.order_id = o.id",
        ["cities.region=lines.region", "lines.order_id=orders.id"],
    ),
    "WHERE": ("SELECT 1 FROM orders, customers c WHERE c.id = orders.customer_id", [OF_CUSTOMER]),
    "names that one table alone has": (
        "SELECT 1 FROM orders, lines WHERE order_id = orders.id",
        ["lines.order_id=orders.id"],
    ),
    "USING": (
        "SELECT 1 FROM orders JOIN customers USING (customer_id)",
        ["customers.customer_id=orders.customer_id"],
    ),
    "NATURAL": ("SELECT 1 FROM cities NATURAL JOIN lines", ["cities.region=lines.region"]),
    "several columns": (
        "SELECT 1 FROM orders o JOIN lines l ON o.id = l.order_id AND o.region = l.region",
        ["lines.order_id=orders.id & lines.region=orders.region"],
    ),
    "one table twice": (
        "SELECT 1 FROM orders o JOIN cities a ON a.id = o.sent_from"
        " JOIN cities b ON b.id = o.sent_to",
        ["cities.id=orders.sent_from", "cities.id=orders.sent_to"],
    ),
    "a CTE of a subquery": (
        "WITH c AS (SELECT s.id AS key, city FROM (SELECT * FROM customers) s)"
        " SELECT 1 FROM orders JOIN c ON c.key = orders.customer_id",
        [OF_CUSTOMER],
    ),
    "columns that the CTE renames": (
        "WITH c(a, b) AS (SELECT city, id FROM customers)"
        " SELECT 1 FROM orders JOIN c ON c.b = orders.customer_id",
        [OF_CUSTOMER],
    ),
    "in a query within": (
        "SELECT (SELECT city FROM customers c WHERE c.id = o.customer_id) FROM orders o",
        [OF_CUSTOMER],
    ),
    "IN": ("SELECT 1 FROM orders WHERE customer_id IN (SELECT id FROM customers)", [OF_CUSTOMER]),
    "both sides of a UNION": (
        "SELECT 1 FROM orders o JOIN customers c ON o.customer_id = c.id"
        " UNION SELECT 1 FROM orders o JOIN lines l ON o.id = l.order_id",
        [OF_CUSTOMER, "lines.order_id=orders.id"],
    ),
}
NOT_TOLD = {
    "a condition of a query within": "SELECT 1 FROM orders o, customers c WHERE EXISTS"
    " (SELECT 1 FROM lines WHERE c.id = o.customer_id OR true)",
    "OR": "SELECT 1 FROM orders o, customers c WHERE c.id = o.customer_id OR c.city = 'x'",
    "NOT": "SELECT 1 FROM orders o, customers c WHERE NOT (c.id = o.customer_id)",
    "NOT IN": "SELECT 1 FROM orders WHERE customer_id NOT IN (SELECT id FROM customers)",
    "no equality": "SELECT 1 FROM orders o JOIN customers c ON c.id > o.customer_id",
    "a CASE": "SELECT CASE WHEN c.id = o.id THEN 1 END FROM orders o, customers c",
    "computed": "SELECT 1 FROM orders o JOIN customers c ON c.id = o.customer_id + 1",
    "computed below": "WITH l AS (SELECT count(order_id) AS n FROM lines)"
    " SELECT 1 FROM orders o JOIN l ON l.n = o.id",
    "computed two below": "WITH l AS (SELECT max(day) AS n FROM lines), m AS (SELECT * FROM l)"
    " SELECT 1 FROM orders o JOIN m ON m.n = o.day",
    "computed by one side of a UNION": "WITH l AS (SELECT day FROM lines UNION SELECT day + 1"
    " FROM lines) SELECT 1 FROM orders o JOIN l ON l.day = o.day",
    "of one table": "SELECT 1 FROM orders a JOIN orders b ON a.id = b.customer_id",
    "a constant": "SELECT 1 FROM orders o, customers c WHERE c.id = 1 AND o.id = 1",
}


@pytest.mark.parametrize("name", TOLD)
def test_what_a_query_joins_by(name):
    sql, expected = TOLD[name]
    assert joins(sql) == expected


@pytest.mark.parametrize("name", NOT_TOLD)
def test_what_joins_nothing(name):
    assert joins(NOT_TOLD[name]) == []


@pytest.mark.parametrize(
    ("dialect", "types"),
    [
        ("postgres", ["text", "varchar", "character varying", "numeric"]),
        ("duckdb", ["text", "varchar"]),
        ("mysql", ["char", "char charset utf8mb4"]),
        ("bigquery", ["string"]),
        ("tsql", ["varchar(max)", "nvarchar(max)"]),
    ],
)
def test_a_column_is_itself_as_a_text_of_any_length(dialect, types):
    for one in types:
        assert joins(casted(one), dialect) == [OF_CUSTOMER], one


@pytest.mark.parametrize(
    ("dialect", "types"),
    [
        ("postgres", ["date", "int", "bigint", "boolean", "numeric(9, 2)", "timestamp", "text[]"]),
        ("postgres", ["varchar(2)", "char", "char(2)", "double precision", "citext", "uuid"]),
        ("duckdb", ["numeric", "date", "varchar[]"]),
        ("mysql", ["char(2)", "char(2) charset utf8mb4", "signed", "date"]),
        ("tsql", ["varchar", "nvarchar", "varchar(2)", "date"]),
    ],
)
def test_a_column_as_a_type_in_which_others_may_be_equal_is_computed(dialect, types):
    for one in types:
        assert joins(casted(one), dialect) == [], one


def test_a_column_that_a_query_below_makes_coarser_is_computed():
    below = "WITH o AS (SELECT customer_id::varchar(2) AS key FROM orders)"
    sql = f"{below} SELECT 1 FROM o JOIN customers c ON o.key = c.id"
    assert joins(sql) == []
    assert joins(sql.replace("varchar(2)", "varchar")) == [OF_CUSTOMER]
    twice = "SELECT 1 FROM orders o JOIN customers c ON o.customer_id::date::text = c.id"
    assert joins(twice) == []
    assert joins(twice.replace("date", "text")) == [OF_CUSTOMER]


def test_names_are_folded_as_the_engine_does():
    sql = 'SELECT 1 FROM ORDERS "O" JOIN Customers C ON "O".CUSTOMER_ID = c.ID'
    assert joins(sql) == [OF_CUSTOMER]


def test_many_joins_of_one_query_are_bounded():
    on = " AND ".join(f"o{n}.id = l{n}.order_id" for n in range(700))
    tables = ", ".join(f"orders o{n}, lines l{n}" for n in range(700))
    found = read_view(Definition(f"SELECT 1 FROM {tables} WHERE {on}", "postgres"), columns_of)
    assert len(found.joins) <= 1, "all say the same"
    many = " AND ".join(f"a.c{n} = b.c{n}" for n in range(700))
    found = read_view(Definition(f"SELECT 1 FROM a, b WHERE {many}", "postgres"))
    assert (found.joins, found.problem) == ((), None)
