"""Foreign keys that nobody declared are told by names and cells."""

from collections.abc import Sequence
from dataclasses import replace
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


def described(text: str) -> tuple[str, list[JoinColumn]]:
    """Return the table of a text such as `s/log id:9 kind=a,b year:3:INTEGER`.

    A number counts as in `numbers`; cells are written out behind `=`, and repeat.
    """
    table_id, *columns = text.split()
    cells, types = {}, {}
    for column in columns:
        name, _, given = column.partition("=")
        if given:
            cells[name] = given.split(",")
        else:
            name, count, *kind = column.split(":")
            cells[name] = [str(1 + row) for row in range(int(count))]
            types |= dict.fromkeys([name] * len(kind), *kind)
    rows = [
        [of[row % len(of)] for of in cells.values()] for row in range(max(map(len, cells.values())))
    ]
    return table(table_id, " ".join(cells), rows, **types)


AUTHORS = "s/author aid:9 name:9"
MEANT = {
    "a name that a key has, whose table begins with it": (
        [AUTHORS, "s/writes aid=1,1,4 pid=7,8,7"],
        {"s/writes.aid -> s/author.aid"},
    ),
    "the table and its bare key": (
        ["s/restaurant id:5 name:5", "s/location restaurant_id=1,1,3 street=a,b,c"],
        {"s/location.restaurant_id -> s/restaurant.id"},
    ),
    "names that end with the key, glued": (
        ["s/paper paperid:5 title:5", "s/cite citingpaperid=1,1,2 citedpaperid=2,3,3"],
        {"s/cite.citingpaperid -> s/paper.paperid", "s/cite.citedpaperid -> s/paper.paperid"},
    ),
    "a name that speaks of the table": (
        ["s/airports airport_code=JFK,LAX,ORD city:3", "s/flights number:2 from_airport=JFK"],
        {"s/flights.from_airport -> s/airports.airport_code"},
    ),
    "a plural counts, and refers to nothing": (
        ["s/airport airport_code:3 city:3", "s/country name=x,y,z airports=1,1,2"],
        set(),
    ),
    "cells that the key does not have": ([AUTHORS, "s/writes aid=71,72,4 pid=7,8,7"], set()),
    "bare keys of two tables": (["s/a id:5 x:2", "s/b id:5 y:2"], set()),
    "one home of a key that is one everywhere": (
        ["s/course course_id:4 name:4", "s/area course_id:4 area:4", "s/tags course_id:4 hard:2"],
        {"s/area.course_id -> s/course.course_id", "s/tags.course_id -> s/course.course_id"},
    ),
    "what is measured is no key, however different": (
        ["s/sensor sensor_id:40 heat:40:DOUBLE", "s/log sensor_id:40 heat:40:DOUBLE at:40"],
        {"s/log.sensor_id -> s/sensor.sensor_id"},
    ),
    "few cells of another schema": (
        ["s/raw/user user_id:9 x:2", "s/web/visit user_id:9 y:2"],
        set(),
    ),
    "many cells of another schema": (
        ["s/raw/user user_id:30 x:2", "s/web/visit user_id:30 y:2"],
        {"s/web/visit.user_id -> s/raw/user.user_id"},
    ),
    "a plural of ie": (
        ["s/film movie_id:90 x:9", "s/movies movie_id:60 title:60", "s/seen number:2 from_movie=2"],
        {"s/film.movie_id -> s/movies.movie_id", "s/seen.from_movie -> s/movies.movie_id"},
    ),
    "row names": (["s/cars rownames:90 speed:9", "s/houses rownames:300 price:9"], set()),
    "columns without a name": (
        ["s/cars column0:90 column1:9", "s/homes column0:300 column1:9"],
        set(),
    ),
    "names without a letter": (["s/cars \U0001f600:90 x:9", "s/homes \u20ac:300 y:9"], set()),
    "two columns that each number their rows": (
        ["s/deaths case:90:BIGINT x:9", "s/babies case:300:INTEGER y:9"],
        set(),
    ),
    "numbers that are the key of something, of one row each in both": (
        ["s/labs patient_id:90:BIGINT x:9", "s/stays patient_id:300:BIGINT y:9"],
        {"s/labs.patient_id -> s/stays.patient_id"},
    ),
    "how many there are": (["s/gdp population:90 x:9", "s/trade population:300 y:9"], set()),
    "of another source": (["one/user user_id:30 x:2", "two/visit user_id:30 y:2"], set()),
}


@pytest.mark.parametrize("case", MEANT)
def test_columns_refer_to_the_keys_that_they_mean(case):
    tables = [described(one) for one in MEANT[case][0]]
    assert found(*tables) == found(*reversed(tables)) == MEANT[case][1]


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


def test_shares_of_many_cells_are_estimated_and_keys_are_whole():
    many = column_of(*map(str, range(2000)))
    half = column_of(*map(str, range(1000, 3000)))
    assert many.share_in(many) == 1.0
    assert 0.2 < (half.share_in(many) or 0) < 0.8
    assert abs(many.different - 2000) < 1000
    assert many.is_unique
    assert column_of("a", "b", "c").is_unique
    assert not column_of("a", "b", None).is_unique
    assert not column_of("a", "b", "b").is_unique


def schema(**tables: str) -> dict[str, list[JoinColumn]]:
    return {
        f"s/{name}": list(
            join_columns(f"s/{name}", [Column(one, "") for one in columns.split()], 10**6, None)
        )
        for name, columns in tables.items()
    }


WRITTEN = {
    "prefixes of the schema and of tables": (
        "sbCustomer: sbCustId sbCustName; sbTransaction: sbTxId sbTxCustId; sbTicker: sbTickerId",
        "sbTransaction.sbTxCustId -> sbCustomer.sbCustId",
    ),
    "layers of a warehouse": (
        "dim_customer: customer_key city; dim_product: product_key kind; "
        "fct_sale: sale_key customer_key amount; fct_return: return_key reason",
        "fct_sale.customer_key -> dim_customer.customer_key",
    ),
    "glued and cut short": (
        "customers: id place; orders: orderid custid",
        "orders.custid -> customers.id",
    ),
    "without vowels": (
        "customers: cstmr_id place; orders: order_id cstmr_id",
        "orders.cstmr_id -> customers.cstmr_id",
    ),
    "German compounds": (
        "Kunde: Kundennummer Ort; Bestellung: Bestellnummer Kundennummer",
        "Bestellung.Kundennummer -> Kunde.Kundennummer",
    ),
    "a table that refers to itself": (
        "employees: employee_id city reports_to",
        "employees.reports_to -> employees.employee_id",
    ),
    "the first letter of a table": (
        "author: aid title; writes: aid pid",
        "writes.aid -> author.aid",
    ),
}


@pytest.mark.parametrize("case", WRITTEN)
def test_names_are_read_as_the_schema_writes_them(case: str):
    names, joined = WRITTEN[case]
    edges = infer_joins(schema(**dict(one.split(": ") for one in names.split("; "))))
    told = [f"{e.table[2:]}.{e.columns[0]} -> {e.other[2:]}.{e.other_columns[0]}" for e in edges]
    assert told == [joined]


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


@pytest.mark.parametrize(
    ("mine", "theirs", "joined"),
    [
        ("text", "bigint", False),
        ("VARCHAR(20)", "NUMBER(38,0)", False),
        ("date", "integer", False),
        ("interval", "integer", False),
        ("double precision", "integer", True),
        ("character varying", "text", True),
        ("geography", "integer", True),
        ("", "integer", True),
    ],
)
def test_types_refuse_where_no_cells_are_known(mine, theirs, joined):
    key = list(join_columns("s/shop", [Column("id", theirs)], 0, None))
    column = list(join_columns("s/sale", [Column("shop_id", mine)], 0, None))
    assert bool(found(("s/shop", key), ("s/sale", column))) is joined


def test_cells_decide_before_types():
    key = table("s/shop", "id", [(str(n),) for n in range(1, 5)], id="integer")
    sale = table("s/sale", "shop_id", [("1",), ("1",), ("2",)], shop_id="text")
    assert found(key, sale) == {"s/sale.shop_id -> s/shop.id"}
    assert replace(key[1][0], type="interval").kind == "time"
