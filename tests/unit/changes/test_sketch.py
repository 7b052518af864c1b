"""The sample of a table's rows that is kept, as bytes and as it is drawn."""

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pneuma_assets.core.changes.sketch import (
    CELLS_KEPT,
    EVERYTHING,
    MOST_BYTES,
    ROWS_KEPT,
    TABLE_CELLS,
    RowSampler,
    SketchError,
    TableSketch,
)
from pneuma_assets.core.terms.collect import TermCollector
from pneuma_assets.core.terms.distinct_cells import mixed

NUMBERS = st.lists(st.integers(0, EVERYTHING - 1), max_size=50)


def sketched(numbers, cuts=()):
    sampler = RowSampler()
    ends = sorted({*cuts, len(numbers)})
    for first, last in zip([0, *ends], ends, strict=False):
        sampler.add(np.array(numbers[first:last], np.uint64))
    return sampler.sketch()


def spread(count, first=0):
    return mixed(np.arange(first, first + count, dtype=np.uint64)).tolist()


def of_cells(*columns):
    gatherer = TermCollector(0)
    arrays = [pa.array(column, pa.string()) for column in columns]
    gatherer.add(pa.record_batch(arrays, [f"c{i}" for i in range(len(arrays))]))
    return gatherer.collected().sketch


@given(NUMBERS)
def test_few_rows_are_all_kept_with_their_number(numbers):
    sketch = sketched(numbers)
    assert (sketch.rows, sketch.limit) == (len(numbers), EVERYTHING)
    assert sorted(sketch.counts) == sorted(Counter(numbers).values())


def test_the_greatest_hash_counts_as_the_one_below_it():
    sketch = sketched([EVERYTHING, EVERYTHING - 1])
    assert (sketch.rows, sketch.hashes, sketch.counts) == (2, (EVERYTHING - 1,), (2,))


@settings(max_examples=20)
@given(st.integers(), st.integers(1, 4_000))
def test_neither_the_order_of_rows_nor_their_batches_matter(seed, batch):
    numbers = [*spread(3_000), *spread(500)]
    random.Random(seed).shuffle(numbers)
    cuts = range(batch, len(numbers), batch)
    assert sketched(numbers, cuts) == sketched([*spread(500), *spread(3_000)])


def test_of_many_rows_those_of_the_lowest_hashes_are_kept_and_counted():
    numbers = spread(20_000)
    lowest = sorted(numbers)[: ROWS_KEPT + 1]
    sketch = sketched(numbers, [5_000, 5_001])
    assert list(sketch.hashes) == lowest[:ROWS_KEPT]
    assert sketch.limit == lowest[ROWS_KEPT]
    assert set(sketch.counts) == {1}
    numbers = spread(30_000) * 3
    random.Random(0).shuffle(numbers)
    sketch = sketched(numbers, range(1_000, 90_000, 1_000))
    assert sketch.rows == 90_000
    assert set(sketch.counts) == {3}


def test_it_is_the_same_on_every_machine():
    sketch = of_cells(["a", None, "a"], ["1", "2", "1"])
    assert sketch.hashes == (12215035670618493742, 16194406551807265695)
    assert sketch.counts == (1, 2)
    assert sketch.columns == ((4042172616,), (1574623291, 3137864388))


@given(NUMBERS, st.lists(st.lists(st.text(max_size=4) | st.none(), min_size=3, max_size=3)))
def test_it_is_read_as_it_was_written(numbers, columns):
    sketch = sketched(numbers)
    if columns:
        sketch = replace(sketch, columns=of_cells(*columns).columns)
    assert TableSketch.from_json(sketch.to_json()) == sketch


@settings(max_examples=300)
@given(st.binary(max_size=60) | st.data())
def test_other_bytes_are_refused_or_a_sketch(drawn):
    if isinstance(drawn, bytes):
        data = drawn
    else:
        whole = bytearray(of_cells([str(i) for i in range(30)]).to_json())
        for _ in range(drawn.draw(st.integers(1, 3))):
            whole[drawn.draw(st.integers(0, len(whole) - 1))] = drawn.draw(st.integers(0, 255))
        data = bytes(whole[: drawn.draw(st.integers(0, len(whole)))])
    try:
        sketch = TableSketch.from_json(data)
    except SketchError:
        return
    assert TableSketch.from_json(sketch.to_json()) == sketch


GOOD = TableSketch(5, EVERYTHING, (3, 7), (2, 3), ((1, 2),))


@pytest.mark.parametrize(
    "change",
    [
        {"rows": -1},
        {"rows": 1 << 64},
        {"rows": 6},
        {"limit": EVERYTHING + 1},
        {"limit": 7},
        {"hashes": (7, 3)},
        {"hashes": (3, 3)},
        {"hashes": (3,)},
        {"hashes": ("3", "x")},
        {"hashes": tuple(range(ROWS_KEPT + 1)), "counts": (1,) * (ROWS_KEPT + 1)},
        {"counts": (0, 5)},
        {"counts": (5, 5)},
        {"columns": ((2, 1),)},
        {"columns": (tuple(range(CELLS_KEPT + 1)),)},
        {"columns": (tuple(range(CELLS_KEPT)),) * (TABLE_CELLS // CELLS_KEPT + 1)},
        {"columns": ((1 << 32,),)},
        {"columns": None},
    ],
)
def test_what_no_reading_gives_is_refused(change):
    assert GOOD.to_json()
    with pytest.raises(SketchError):
        replace(GOOD, **change).to_json()


@pytest.mark.parametrize(("rows", "width"), [(3_000, 1), (50, 300), (2, 10_000)])
def test_it_is_small_whatever_the_table(rows, width):
    sketch = of_cells(*[[f"{i} {row}" for row in range(rows)] for i in range(width)])
    assert len(sketch.to_json()) < MOST_BYTES
    assert len(sketch.columns) == (width if width <= TABLE_CELLS else 0)


def test_which_cell_stands_where_makes_a_row():
    rows = of_cells(["a", "b"], ["b", "a"])
    assert len(rows.hashes) == 2
    assert of_cells(["a", "b"], ["a", "b"]).hashes != rows.hashes
    assert of_cells(["", None]).counts == (1, 1)


def test_rows_are_the_same_whether_a_column_has_few_cells_or_many():
    """Cells are hashed once each at first, and a row at a time where they are many."""
    few, many = ["x", None, "y"] * 2_000, [str(i) for i in range(6_000)]
    together = of_cells(few, many)
    gatherer = TermCollector(0)
    for first in range(0, 6_000, 500):
        arrays = [pa.array(column[first : first + 500], pa.string()) for column in (few, many)]
        gatherer.add(pa.record_batch(arrays, ["a", "b"]))
    assert gatherer.collected().sketch == together
    assert len(together.columns[0]) == 2
