"""What is said of a column, and its type, speak for or against a join; cells have the last word."""

from dataclasses import replace

import pytest

from pneuma_assets.core.changes.sketch import TableSketch
from pneuma_assets.core.relations.infer_joins import infer_joins
from pneuma_assets.core.relations.join_column_facts import JoinColumn, join_columns, said_entities
from pneuma_assets.core.tables import Column
from pneuma_assets.core.terms.collect import collect_rows


def column(table_id: str, name: str, cells: str, said: str = "", kind: str = "") -> JoinColumn:
    rows = [(cell,) for cell in cells.split()]
    sketch: TableSketch | None = collect_rows(rows, 1, 0).sketch if rows else None
    given = join_columns(table_id, [Column(name, kind)], len(rows), sketch, said={name: said})
    return next(iter(given))


PAPER = column("s/publication", "pid", "7 8 9 10 11 12")


def found(*columns: JoinColumn) -> list[str]:
    return [f"{e.table}.{e.columns[0]}" for e in infer_joins({c.table_id: [c] for c in columns})]


@pytest.mark.parametrize(
    "said",
    [
        "ID of the publication being cited",
        "Identifier for the Publications, see there",
        "Foreign key referencing the publication table's primary key (pid)",
        "The unique identifier for a publication in the table",
    ],
)
def test_a_description_brings_a_column_to_a_key_that_has_its_cells(said):
    assert found(PAPER, column("s/cite", "cited", "7 8 8 12", said)) == ["s/cite.cited"]
    assert found(PAPER, column("s/cite", "cited", "7 8 8 44", said)) == []
    assert found(PAPER, column("s/cite", "cited", "", said)) == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cited", "Number of times that the publication was cited"),
        ("cited", "The key of whatever was printed by anybody anywhere in this publication"),
        ("test_id", "The ID of the publication of the test"),
        ("cited", ""),
    ],
)
def test_a_description_that_speaks_of_something_else_brings_nothing(name, said):
    assert found(PAPER, column("s/cite", name, "7 8 8 12", said)) == []


def test_a_name_that_begins_as_what_is_said_of_it_does(request):
    column_said = column("s/cite", "publ_id", "7 8 8 12", "The ID of the publication")
    assert found(PAPER, column_said) == ["s/cite.publ_id"]


def test_what_strangers_write_is_looked_at_in_part():
    words = list(said_entities("id of " + "x" * 10_000_000 + " publication " * 1_000_000))
    assert len(words) <= 24
    assert max(map(len, words)) <= 100


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
    key = column("s/shop", "id", "", kind=theirs)
    assert bool(found(key, column("s/sale", "shop_id", "", kind=mine))) is joined


def test_cells_decide_before_types():
    key = column("s/shop", "id", "1 2 3 4", kind="integer")
    assert found(key, column("s/sale", "shop_id", "1 1 2", kind="text")) == ["s/sale.shop_id"]
    assert replace(key, type="interval").kind == "time"
