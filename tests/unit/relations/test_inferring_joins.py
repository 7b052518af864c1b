"""Foreign keys that nobody declared are told by names and cells."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import pytest

from pneuma_assets.core.changes.sketch import TableSketch
from pneuma_assets.core.relations.infer_joins import infer_joins
from pneuma_assets.core.relations.join_column_facts import JoinColumn, join_columns
from pneuma_assets.core.tables import Column
from pneuma_assets.core.terms.collect import collect_rows

Rows = Sequence[Sequence[str | None]]


def table(table_id: str, names: str, rows: Rows, key: tuple[str, ...] = (), **types: str):
    """Return a table's columns as an index run would know them."""
    columns = [Column(name, types.get(name, "VARCHAR")) for name in names.split()]
    sketch = collect_rows(rows, len(columns), 0).sketch
    return table_id, list(join_columns(table_id, columns, len(rows), sketch, key))


def column_of(*cells: str | None, rows: int | None = None) -> JoinColumn:
    (column,) = table("s/t", "c", [(cell,) for cell in cells])[1]
    return column


def numbers(*counts: int) -> list[tuple[str, ...]]:
    """Return rows of which each column counts from 1 and begins again after so many."""
    return [tuple(str(1 + row % count) for count in counts) for row in range(max(counts))]


def found(*tables: tuple[str, list[JoinColumn]]) -> set[str]:
    return {
        f"{e.table}.{','.join(e.columns)} -> {e.other}.{','.join(e.other_columns)}"
        for e in infer_joins(dict(tables))
    }


AUTHORS = table("s/author", "aid name", [(str(n), f"Author {n}") for n in range(9)])


@pytest.mark.parametrize(
    ("tables", "joins"),
    [
        pytest.param(
            [AUTHORS, table("s/writes", "aid pid", [("1", "7"), ("1", "8"), ("4", "7")])],
            {"s/writes.aid -> s/author.aid"},
            id="a name that a key has, whose table begins with it",
        ),
        pytest.param(
            [
                table("s/restaurant", "id name", [(str(n), f"r{n}") for n in range(5)]),
                table("s/location", "restaurant_id street", [("1", "a"), ("1", "b"), ("3", "c")]),
            ],
            {"s/location.restaurant_id -> s/restaurant.id"},
            id="the table and its bare key",
        ),
        pytest.param(
            [
                table("s/paper", "paperid title", [(str(n), f"t{n}") for n in range(5)]),
                table("s/cite", "citingpaperid citedpaperid", [("1", "2"), ("1", "3"), ("2", "3")]),
            ],
            {"s/cite.citingpaperid -> s/paper.paperid", "s/cite.citedpaperid -> s/paper.paperid"},
            id="names that end with the key, glued",
        ),
        pytest.param(
            [
                table(
                    "s/airports", "airport_code city", [("JFK", "a"), ("LAX", "b"), ("ORD", "c")]
                ),
                table("s/flights", "number from_airport", [("1", "JFK"), ("2", "JFK")]),
            ],
            {"s/flights.from_airport -> s/airports.airport_code"},
            id="a name that speaks of the table",
        ),
        pytest.param(
            [
                table("s/airport", "airport_code city", [("1", "a"), ("2", "b"), ("3", "c")]),
                table("s/country", "name airports", [("x", "1"), ("y", "1"), ("z", "2")]),
            ],
            set(),
            id="a plural counts, and refers to nothing",
        ),
        pytest.param(
            [AUTHORS, table("s/writes", "aid pid", [("71", "7"), ("72", "8"), ("4", "7")])],
            set(),
            id="cells that the key does not have",
        ),
        pytest.param(
            [table("s/a", "id x", numbers(5, 2)), table("s/b", "id y", numbers(5, 2))],
            set(),
            id="bare keys of two tables",
        ),
        pytest.param(
            [
                table("s/course", "course_id name", [(str(n), f"c{n}") for n in range(4)]),
                table("s/area", "course_id area", [(str(n), f"a{n}") for n in range(4)]),
                table("s/tags", "course_id hard", [(str(n), f"h{n % 2}") for n in range(4)]),
            ],
            {"s/area.course_id -> s/course.course_id", "s/tags.course_id -> s/course.course_id"},
            id="one home of a key that is one everywhere",
        ),
        pytest.param(
            [
                table("s/sensor", "sensor_id temperature", numbers(40, 40), temperature="DOUBLE"),
                table(
                    "s/log", "sensor_id temperature at", numbers(40, 40, 40), temperature="DOUBLE"
                ),
            ],
            {"s/log.sensor_id -> s/sensor.sensor_id"},
            id="what is measured is no key, however different",
        ),
        pytest.param(
            [
                table("s/raw/user", "user_id x", numbers(9, 2)),
                table("s/web/visit", "user_id y", numbers(9, 2)),
            ],
            set(),
            id="few cells of another schema",
        ),
        pytest.param(
            [
                table("s/raw/user", "user_id x", numbers(30, 2)),
                table("s/web/visit", "user_id y", numbers(30, 2)),
            ],
            {"s/web/visit.user_id -> s/raw/user.user_id"},
            id="many cells of another schema",
        ),
        pytest.param(
            [
                table("s/film", "movie_id x", numbers(90, 9)),
                table("s/movies", "movie_id title", numbers(60, 60)),
                table("s/seen", "number from_movie", [("1", "2"), ("2", "2")]),
            ],
            {"s/film.movie_id -> s/movies.movie_id", "s/seen.from_movie -> s/movies.movie_id"},
            id="a plural of ie",
        ),
        pytest.param(
            [
                table("s/cars", "rownames speed", numbers(90, 9)),
                table("s/houses", "rownames price", numbers(300, 9)),
            ],
            set(),
            id="row names, which say what is in no other table",
        ),
        pytest.param(
            [
                table("s/cars", "column0 column1", numbers(90, 9)),
                table("s/houses", "column0 column1", numbers(300, 9)),
            ],
            set(),
            id="columns without a name, which a reader numbers",
        ),
        pytest.param(
            [
                table("s/cars", "\U0001f600 x", numbers(90, 9)),
                table("s/houses", "\u20ac y", numbers(300, 9)),
            ],
            set(),
            id="names without a letter or digit",
        ),
        pytest.param(
            [
                table("s/deaths", "case x", numbers(90, 9), case="BIGINT"),
                table("s/babies", "case y", numbers(300, 9), case="INTEGER"),
            ],
            set(),
            id="two columns that each number their rows",
        ),
        pytest.param(
            [
                table("s/labs", "patient_id x", numbers(90, 9), patient_id="BIGINT"),
                table("s/stays", "patient_id y", numbers(300, 9), patient_id="BIGINT"),
            ],
            {"s/labs.patient_id -> s/stays.patient_id"},
            id="numbers that are the key of something, of one row each in both",
        ),
        pytest.param(
            [
                table("s/gdp", "population x", numbers(90, 9)),
                table("s/trade", "population y", numbers(300, 9)),
            ],
            set(),
            id="how many there are is no key",
        ),
        pytest.param(
            [
                table("one/user", "user_id x", numbers(30, 2)),
                table("two/visit", "user_id y", numbers(30, 2)),
            ],
            set(),
            id="of another source",
        ),
    ],
)
def test_columns_refer_to_the_keys_that_they_mean(tables, joins):
    assert found(*tables) == joins
    assert found(*reversed(tables)) == joins


def test_names_alone_tell_where_no_cells_are_known():
    names = {"s/author": "author_id name", "s/writes": "author_id pid"}
    tables = {
        table_id: list(join_columns(table_id, [Column(n, "") for n in some.split()], 10**6, None))
        for table_id, some in names.items()
    }
    [edge] = infer_joins(tables)
    assert (edge.table, edge.other, edge.share) == ("s/writes", "s/author", None)
    assert edge.score < 1


def test_a_hidden_column_has_no_cells():
    sketch = TableSketch(2, (1 << 63) - 1, (1, 2), (1, 1), ((1, 2), (3, 4)))
    columns = [Column("a", "", hidden=True), Column("b", "")]
    hidden, seen = join_columns("s/t", columns, 2, sketch)
    assert (len(hidden.cells), hidden.whole) == (0, False)
    assert (len(seen.cells), seen.whole) == (2, True)


@pytest.mark.parametrize(
    ("mine", "theirs", "share"),
    [
        (["a", "b"], ["a", "b", "c"], 1.0),
        (["a", "b", "x", "y"], ["a", "b", "c"], 0.5),
        (["a"], ["a"], 1.0),
        (["a"], ["b"], 0.0),
        ([None], ["b"], None),
        (["a"], [None], None),
    ],
)
def test_of_few_cells_the_share_is_exact(mine, theirs, share):
    assert column_of(*mine).share_in(column_of(*theirs)) == share


def test_of_many_cells_the_share_is_estimated():
    many = column_of(*map(str, range(2000)))
    half = column_of(*map(str, range(1000, 3000)))
    assert many.share_in(many) == 1.0
    assert 0.2 < (half.share_in(many) or 0) < 0.8
    assert abs(many.different - 2000) < 1000
    assert many.is_unique


def test_a_column_with_a_gap_or_a_repeat_is_no_key():
    assert column_of("a", "b", "c").is_unique
    assert not column_of("a", "b", None).is_unique
    assert not column_of("a", "b", "b").is_unique


def schema(**tables: str) -> dict[str, list[JoinColumn]]:
    """Return tables of which names alone are known."""
    return {
        f"s/{name}": list(
            join_columns(f"s/{name}", [Column(one, "") for one in columns.split()], 10**6, None)
        )
        for name, columns in tables.items()
    }


@pytest.mark.parametrize(
    ("tables", "joined"),
    [
        pytest.param(
            {
                "sbCustomer": "sbCustId sbCustName sbCustCity",
                "sbTransaction": "sbTxId sbTxCustId sbTxAmount",
                "sbTicker": "sbTickerId sbTickerSymbol sbTickerType",
            },
            "sbTransaction.sbTxCustId -> sbCustomer.sbCustId",
            id="prefixes of the schema and of tables",
        ),
        pytest.param(
            {
                "dim_customer": "customer_key customer_city",
                "dim_product": "product_key product_kind",
                "fct_sale": "sale_key customer_key amount",
                "fct_return": "return_key reason",
            },
            "fct_sale.customer_key -> dim_customer.customer_key",
            id="layers of a warehouse",
        ),
        pytest.param(
            {"customers": "id place", "orders": "orderid custid"},
            "orders.custid -> customers.id",
            id="glued and cut short",
        ),
        pytest.param(
            {"customers": "cstmr_id place", "orders": "order_id cstmr_id"},
            "orders.cstmr_id -> customers.cstmr_id",
            id="without vowels",
        ),
        pytest.param(
            {"Kunde": "Kundennummer Ort", "Bestellung": "Bestellnummer Kundennummer"},
            "Bestellung.Kundennummer -> Kunde.Kundennummer",
            id="German compounds",
        ),
        pytest.param(
            {"employees": "employee_id city reports_to"},
            "employees.reports_to -> employees.employee_id",
            id="a table that refers to itself",
        ),
        pytest.param(
            {"author": "aid title", "writes": "aid pid"},
            "writes.aid -> author.aid",
            id="the first letter of a table",
        ),
    ],
)
def test_names_are_read_as_the_schema_writes_them(tables: dict[str, str], joined: str):
    edges = infer_joins(schema(**tables))
    assert [
        f"{e.table[2:]}.{e.columns[0]} -> {e.other[2:]}.{e.other_columns[0]}" for e in edges
    ] == [joined]


@pytest.mark.parametrize(
    "tables",
    [
        {"users": "id name", "shops": "id name"},
        {"customers": "customer_id city", "orders": "order_id customer_name"},
        {"status": "status_id label", "orders": "order_id order_status_text"},
    ],
)
def test_names_that_say_something_else_join_nothing(tables: dict[str, str]):
    assert infer_joins(schema(**tables)) == []


@pytest.mark.parametrize("one", ["warehouse", "cause", "cache", "niche", "movie", "customer"])
@pytest.mark.parametrize("several", ["", "s"])
@pytest.mark.parametrize("key", ["_id", "id", "Id", ""])
def test_a_key_of_one_refers_to_the_table_of_one_or_several(one, several, key):
    many = table(f"s/{one}{several}", "id place", [(str(n), f"p{n}") for n in range(5)])
    stock = table("s/stock", f"{one}{key} item", [("1", "a"), ("1", "b"), ("3", "c")])
    assert found(many, stock) == {f"s/stock.{one}{key} -> s/{one}{several}.id"}


@pytest.mark.parametrize("one", ["warehouse", "cache", "movie", "customer"])
def test_a_column_of_several_counts_them_and_refers_to_none(one):
    many = table(f"s/{one}s", "id place", [(str(n), f"p{n}") for n in range(5)])
    assert not found(many, table("s/city", f"city {one}s", [("a", "1"), ("b", "1"), ("c", "3")]))


class Counted(JoinColumn):
    """Counts the comparisons of all such columns."""

    calls: ClassVar[list[int]] = []

    def share_in(self, other: JoinColumn) -> float | None:
        self.calls.append(1)
        return super().share_in(other)


def counted(table_id: str, *names: str, declared: str = "") -> list[JoinColumn]:
    """Return columns of which no cells are known."""
    return [
        Counted(table_id, name, at, 10, np.zeros(0, np.uint64), False, declared=name == declared)
        for at, name in enumerate(names)
    ]


def own_keys(tables: int) -> dict[str, list[JoinColumn]]:
    """Each table has a key of its own, and refers to another's."""
    return {
        f"s/t{t}": counted(f"s/t{t}", "id", f"t{(t * 7) % tables}_id", "created", "name")
        for t in range(tables)
    }


def one_key(tables: int) -> dict[str, list[JoinColumn]]:
    """Each table has the key of one name."""
    columns = "order_id", "parent_order_id"
    return {f"s/t{t}": counted(f"s/t{t}", *columns, declared="order_id") for t in range(tables)}


@pytest.mark.parametrize(("lake", "few", "least"), [(own_keys, 200, 100), (one_key, 60, 60)])
def test_ten_times_the_tables_take_ten_times_the_comparisons(lake, few, least):
    counts = []
    for tables in (few, 10 * few):
        Counted.calls.clear()
        infer_joins(lake(tables))
        counts.append(len(Counted.calls))
    assert counts[0] > least
    assert counts[1] < 15 * counts[0]


def test_tables_of_the_same_columns_are_parts_of_one_and_not_joined():
    parts = [table(f"s/sales_{year}", "shop_id total", numbers(9, 9)) for year in (1, 2)]
    shops = table("s/shop", "shop_id town", numbers(9, 9))
    assert found(*parts) == set()
    assert found(*parts, shops) == {
        "s/sales_1.shop_id -> s/shop.shop_id",
        "s/sales_2.shop_id -> s/shop.shop_id",
    }


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ("doctors last_name", "patients last_name"),
        ("customers LastName", "salespersons LastName"),
        ("users email", "subscribers email"),
        ("people email_address", "addresses id"),
        ("address rowguid", "person rowguid"),
        ("film rental_duration", "rental rental_id"),
        ("invoice customer_phone", "customer customer_id"),
        ("orders product_price", "products product_id"),
        ("orders tax_rate", "rates tax_rate"),
        ("film rental_kind_text", "rental rental_id"),
    ],
)
def test_names_of_people_addresses_guids_and_measures_refer_to_nothing(mine: str, theirs: str):
    cells = [(str(number),) for number in range(40)]
    tables = [table(f"s/{name}", column, cells) for name, column in map(str.split, (mine, theirs))]
    assert found(*tables) == set()


def test_a_declared_key_is_one_whatever_its_name():
    cells = [(f"{number}@example.org",) for number in range(40)]
    tables = [table("s/users", "email", cells, ("email",)), table("s/orders", "email", cells)]
    assert found(*tables) == {"s/orders.email -> s/users.email"}
