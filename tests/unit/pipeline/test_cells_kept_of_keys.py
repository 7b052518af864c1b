"""A small column and a large key are compared by the cells that the index keeps of the key."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from pneuma_assets.core.pipeline import relate
from pneuma_assets.core.pipeline.relate import ValueOverlap
from pneuma_assets.core.relations.infer_joins import infer_joins
from pneuma_assets.core.relations.join_column_facts import JoinColumn, join_columns
from pneuma_assets.core.tables import Column, TableTerms
from pneuma_assets.core.terms.collect import collect_rows


class Index:
    """Has the evidence of some tables, and knows which were asked for."""

    def __init__(self) -> None:
        self.tables: dict[str, TableTerms] = {}
        self.asked: list[str] = []

    def evidence(self, table_ids: Sequence[str]) -> dict[str, TableTerms]:
        self.asked.extend(table_ids)
        return {one: self.tables[one] for one in table_ids if one in self.tables}


@pytest.fixture
def index() -> Index:
    return Index()


def column(index: Index, table_id: str, cells: Sequence[str], kind: str = "VARCHAR") -> JoinColumn:
    """Return a column of a table that is indexed, with a column of other words beside it."""
    rows = [(cell, f"note {n}") for n, cell in enumerate(cells)]
    gathered = collect_rows(rows, 2, 0)
    index.tables[table_id] = gathered.terms
    columns = [Column("film", kind), Column("note", "VARCHAR")]
    return next(join_columns(table_id, columns, len(rows), gathered.sketch))


def titles(count: int, begin: int = 0) -> list[str]:
    drawn = random.Random(7)
    words = [f"The {drawn.randrange(10**9):x} of {drawn.randrange(10**6):x}" for _ in range(20_000)]
    return words[begin : begin + count]


@pytest.mark.parametrize("size", [200, 450])
@pytest.mark.parametrize("inside", [0, 6, 12, 20])
def test_a_share_is_exact_where_all_of_a_key_is_kept(index, size, inside):
    key = column(index, "s/film", titles(size))
    small = column(index, "s/seen", titles(inside, 100) + titles(20 - inside, 10_000))
    assert ValueOverlap(index).share(small, key) == inside / 20


def test_a_share_is_told_by_the_part_of_a_key_that_is_kept(index):
    """Half of it is: what it has all of is never refused, what it has nothing of never believed."""
    key = column(index, "s/film", titles(1_100))
    told = ValueOverlap(index)
    inside = [column(index, "s/a", titles(31, begin)) for begin in range(0, 1_000, 40)]
    outside = [column(index, "s/b", titles(31, begin)) for begin in range(9_000, 10_000, 40)]
    shares = [told.share(small, key) for small in inside]
    assert {share is None or share >= 0.75 for share in shares} == {True}
    assert sum(share is not None for share in shares) > len(shares) / 2
    assert {told.share(small, key) for small in outside} == {0.0}


def test_what_cannot_be_told_is_not_guessed(index):
    share = ValueOverlap(index).share
    large = column(index, "s/large", titles(15_000))
    small = column(index, "s/seen", titles(20))
    numbers = column(index, "s/number", [str(n) for n in range(400)], "BIGINT")
    assert share(small, large) is None, "hardly any of the key is kept"
    assert share(column(index, "s/few", ["1", "2", "3"], "BIGINT"), numbers) is None
    assert share(large, column(index, "s/film", titles(200))) is None, "not all of it is known"
    assert share(column(index, "s/one", titles(1)), column(index, "s/film", titles(200))) is None
    assert share(small, replace(large, table_id="s/unknown")) is None
    assert share(small, replace(large, cells=large.cells[:0])) is None, "it is hidden"


def test_the_index_is_read_once_a_table_and_within_bounds(index, monkeypatch):
    monkeypatch.setattr(relate, "MOST_TABLES", 2)
    small = column(index, "s/seen", titles(20))
    keys = [column(index, f"s/film{n}", titles(200)) for n in range(3)]
    share = ValueOverlap(index).share
    assert [share(small, key) for key in keys] == [1.0, 1.0, None]
    assert [share(small, key) for key in keys] == [1.0, 1.0, None]
    assert index.asked == ["s/film0", "s/film1"]


def test_what_is_seen_so_decides_whether_a_join_is_inferred(index):
    key = column(index, "s/film", titles(450))
    inside = column(index, "s/seen", titles(20, 100))
    outside = column(index, "s/made", titles(20, 10_000))
    assert inside.share_in(key) is None
    tables = {one.table_id: [one] for one in (key, inside, outside)}
    assert {(e.table, e.share) for e in infer_joins(tables)} == {("s/made", None), ("s/seen", None)}
    [edge] = infer_joins(tables, ValueOverlap(index).share)
    assert (edge.table, edge.other, edge.share) == ("s/seen", "s/film", 1.0)
    assert edge.score > 0.9


def small_table(index: Index, size: int, different: int) -> list[JoinColumn]:
    rows = [(f"r{n % different}", f"note {n}", str(n % 7)) for n in range(size)]
    gathered = collect_rows(rows, 3, 0)
    index.tables["s/small"] = gathered.terms
    columns = [Column(name, "VARCHAR") for name in ("code", "note", "day")]
    return list(join_columns("s/small", columns, len(rows), gathered.sketch))


def test_all_cells_of_small_tables_count_and_not_an_estimate(index):
    columns = small_table(index, 50, 45)
    assert [one.whole for one in columns] == [False, False, True]
    exact = ValueOverlap(index).whole({"s/small": columns})["s/small"]
    assert [(one.whole, one.different) for one in exact] == [(True, 45), (True, 50), (True, 7)]
    assert [one.is_unique for one in exact] == [False, True, False]
    assert exact[2] is columns[2]


def test_a_sketch_counts_where_the_index_has_not_all_rows_or_others(index):
    columns = small_table(index, 51, 45)
    assert ValueOverlap(index).whole({"s/small": columns}) == {}
    assert index.asked == [], "it is too large"
    columns = small_table(index, 50, 45)
    small_table(index, 50, 44)
    index.tables["s/small"] = replace(
        index.tables["s/small"], rows=tuple(("x", *row[1:]) for row in index.tables["s/small"].rows)
    )
    (code, note, _) = ValueOverlap(index).whole({"s/small": columns})["s/small"]
    assert (code.whole, note.whole) == (False, True)
    del index.tables["s/small"]
    assert ValueOverlap(index).whole({"s/small": columns}) == {}
