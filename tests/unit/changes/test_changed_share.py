"""The share of rows that changed, against exact counts."""

import random
from collections import Counter
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.changes.changed_share import Change, Extent, Measure, measured, shared_share
from pneuma_assets.core.changes.sketch import ROWS_KEPT
from tests.unit.changes.test_sketch import sketched, spread

FEW = st.lists(st.integers(0, 20), max_size=60)


def exact(before, now) -> float:
    in_both = (Counter(before) & Counter(now)).total()
    return (max(len(before), len(now)) - in_both) / max(1, len(before))


def by_sketch(before, now) -> Change:
    return measured(
        Extent(len(before), sketch=sketched(before)), Extent(len(now), sketch=sketched(now))
    )


@given(FEW, FEW)
def test_of_few_different_rows_it_is_exact(before, now):
    found = by_sketch(before, now)
    assert found.share == pytest.approx(exact(before, now))
    assert found.measured_by == Measure.SKETCH


@pytest.mark.parametrize("share", [0.01, 0.1, 0.2, 0.5])
@pytest.mark.parametrize("kind", ["append", "delete", "update"])
@pytest.mark.parametrize("times", [1, 4])
def test_of_many_it_is_right_within_its_error(kind, share, times):
    """Whether or not each row stands there `times`."""
    count = 20_000
    rows, others = spread(count), spread(count, first=1 << 40)
    changed = int(share * count)
    now = {
        "append": rows + others[:changed],
        "delete": rows[changed:],
        "update": rows[changed:] + others[:changed],
    }[kind]
    before, now = rows * times, now * times
    random.Random(0).shuffle(now)
    error = abs(by_sketch(before, now).share - exact(before, now))
    assert error < 3 * sqrt(share * (1 - share) / ROWS_KEPT) * (1 + share)


def test_small_and_whole_changes_are_told_exactly():
    rows = spread(50_000)
    assert by_sketch(rows, rows[::-1]).share == 0.0
    assert shared_share(sketched(rows), sketched(rows[::-1])) == 1.0
    rows = [7] * 1_000 + spread(10)
    assert by_sketch(rows, rows[300:]).share == pytest.approx(300 / 1_010)
    assert by_sketch([], [1, 2, 3]).share == 3.0
    assert by_sketch([1, 2, 3], []).share == 1.0
    assert by_sketch([], []).share == 0.0


def test_without_a_sketch_the_number_of_rows_is_left():
    assert measured(Extent(100), Extent(121)) == Change(0.21, Measure.ROWS)
    one_end = Extent(100, sketched([]))
    assert measured(one_end, Extent(80)) == Change(0.2, Measure.ROWS)
