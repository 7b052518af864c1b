from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.describe.texts import (
    CELL_CHARACTERS,
    ROW_CHARACTERS,
    DrawnRows,
    row_text,
    row_texts,
)
from pneuma_assets.core.sources.sampling import sample_positions
from pneuma_assets.core.tables import Column, Table


@given(st.integers(0, 10**12), st.integers(0, 50), st.integers(0, 2**32))
def test_positions_are_distinct_and_in_order(row_count: int, rows: int, seed: int):
    drawn = sample_positions(row_count, rows, seed)
    assert len(drawn) == min(rows, row_count)
    assert drawn == sorted(set(drawn)) == sample_positions(row_count, rows, seed)
    assert all(0 <= position < row_count for position in drawn)


def test_positions_are_uniform():
    counts = Counter(
        position // 100 for seed in range(2000) for position in sample_positions(1000, 5, seed)
    )
    expected = 1000
    chi_squared = sum((counts[tenth] - expected) ** 2 / expected for tenth in range(10))
    assert chi_squared < 27.9  # 9 degrees of freedom: exceeded once in a thousand.


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (("Ann", 3), "name: Ann | age: 3"),
        (("Ann", None), "name: Ann"),
        (("  ", 0), "age: 0"),
        ((None, None), ""),
        (("a\nb\0c\x1b[31m", False), "name: a b c [31m | age: False"),
        (("x" * 5000, 1), f"name: {'x' * (CELL_CHARACTERS - 1)}… | age: 1"),
    ],
)
def test_row_text(row: tuple[object, ...], expected: str):
    assert row_text(["name", "age"], row) == expected


def test_wide_rows_are_bounded_and_say_so():
    text = row_text([f"c{i}" for i in range(2000)], ("x" * 100,) * 2000)
    assert len(text) < ROW_CHARACTERS + 50
    assert text.endswith("more columns)")


def test_rows_of_nothing_have_no_document():
    table = Table("s/a", (Column("a\nb", "VARCHAR"),), 2, "a.csv")
    assert row_texts(DrawnRows(table, [("x",), (None,)])) == ["a b: x"]
