"""What became of a table's columns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.changes.schema_diff import same_cells, schema_diff
from pneuma_assets.core.tables import Column
from tests.unit.changes.test_sketch import of_cells


def columns(*names, kind="VARCHAR", identities=()):
    identities = identities or [""] * len(names)
    return [Column(n, kind, identity=i) for n, i in zip(names, identities, strict=True)]


def cells_of(*columns):
    return of_cells(*columns).columns


TOWNS = [f"town {i}" for i in range(300)]
PRICES = [f"{i}.50" for i in range(300)]
FLAGS = ["yes", "no"] * 150


def same(diff):
    return diff.same_cells and not diff.renamed


def test_columns_are_told_by_their_names():
    diff = schema_diff(columns("a", "b"), columns("a", "b"))
    assert same(diff)
    assert diff.came_from == {0: 0, 1: 1}
    diff = schema_diff(columns("a", "b", "c"), columns("c", "new", "a"))
    assert (diff.added, diff.dropped, diff.renamed) == (["new"], ["b"], {})
    assert diff.reordered
    assert not same(diff)
    diff = schema_diff(columns("a"), columns("a", kind="DATE"))
    assert (diff.retyped, diff.added, diff.dropped) == (["a"], [], [])


def test_identities_tell_columns_where_each_has_one():
    before = columns("a", "b", identities=["1", "2"])
    diff = schema_diff(before, columns("b", "a", identities=["1", "2"]))
    assert diff.renamed == {"a": "b", "b": "a"}
    assert not diff.reordered
    # A table that was written anew by its engine.
    assert same(schema_diff(before, columns("a", "b", identities=["8", "9"])))
    before = columns("a", "b", identities=["1", "1"])
    diff = schema_diff(before, columns("c", "b", identities=["1", "1"]))
    assert (diff.added, diff.dropped) == (["c"], ["a"])


def test_values_tell_a_renamed_column_wherever_it_stands():
    diff = schema_diff(
        columns("town", "price"),
        columns("cost", "place"),
        cells_of(TOWNS, PRICES),
        cells_of(PRICES[:200] + ["9"] * 100, TOWNS),
    )
    assert diff.renamed == {"town": "place", "price": "cost"}


def test_other_values_or_another_type_make_another_column():
    cells = cells_of(TOWNS)
    assert schema_diff(columns("a"), columns("b"), cells, cells_of(PRICES)).renamed == {}
    other_type = columns("b", kind="DATE")
    assert schema_diff(columns("a"), other_type, cells, cells).renamed == {}
    assert schema_diff(columns("a"), columns("b")).renamed == {}


def test_a_flag_is_recognised_where_it_stood():
    before, cells = columns("open", "x"), cells_of(FLAGS, TOWNS)
    there = schema_diff(before, columns("is_open", "x"), cells, cells)
    assert there.renamed == {"open": "is_open"}
    elsewhere = schema_diff(before, columns("x", "paid"), cells, cells_of(TOWNS, FLAGS))
    assert (elsewhere.renamed, elsewhere.added) == ({}, ["paid"])


def test_of_two_columns_of_the_same_values_the_nearest_is_taken():
    cells = cells_of(TOWNS, TOWNS, PRICES)
    diff = schema_diff(columns("a", "b", "c"), columns("p", "q", "c"), cells, cells)
    assert diff.renamed == {"a": "p", "b": "q"}


@given(st.lists(st.integers(0, 60), unique=True), st.lists(st.integers(0, 60), unique=True))
def test_likeness_of_few_cells_is_exact(one, other):
    union = {*one} | {*other}
    expected = len({*one} & {*other}) / len(union) if one and other else 0.0
    assert same_cells(sorted(one), sorted(other), most=200) == pytest.approx(expected)


NAMES = st.lists(st.sampled_from("abcdef"), unique=True)


@given(NAMES, NAMES)
def test_every_column_is_accounted_for_once(before, now):
    diff = schema_diff(columns(*before), columns(*now))
    assert set(diff.dropped) == {*before} - {*now}
    assert set(diff.added) == {*now} - {*before}
    assert len(set(diff.came_from.values())) == len(diff.came_from)
    assert same(diff) == (before == now)
