"""What is told of each column, beside figures that DuckDB and Python count from all rows."""

import math
import random
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pneuma_assets.core.tables import MISSING, ColumnProfile
from pneuma_assets.core.terms import collect
from pneuma_assets.core.terms.collect import TermCollector, collect_rows, hide_columns
from pneuma_assets.core.terms.column_profiles import BINS, FREQUENT, PROFILED_COLUMNS

NUMBERS = (
    st.integers(-(10**18), 10**18).map(str)
    | st.floats(-1e9, 1e9).map(repr)
    | st.sampled_from(["007", "+5", "-0", ".5", "1e3", "5."])
)
DAYS = st.dates().filter(lambda day: day.year >= 1000).map(str)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=5)
COLUMNS = st.one_of(*(st.lists(st.none() | cells, max_size=60) for cells in (NUMBERS, DAYS, TEXTS)))


def profiled(cells, cuts=()) -> ColumnProfile:
    """Return the profile of a column that comes in batches that end at these places."""
    collector, ends = TermCollector(0, MISSING), sorted({*cuts, len(cells)})
    for first, last in pairwise([0, *ends]):
        collector.add(pa.record_batch([pa.array(cells[first:last], pa.string())], ["c"]))
    (found,) = collector.collected().profiles
    return found


def counted(cells):
    """Return what Python counts: the share of nulls, and the cells that say something, in order."""
    there = Counter(cell for cell in cells if cell is not None and cell not in MISSING)
    return (len(cells) - there.total()) / max(1, len(cells)), there


@given(COLUMNS)
def test_a_small_column_is_told_exactly(cells):
    found = profiled(cells)
    nulls, there = counted(cells)
    said = [*there.elements()]
    assert (found.nulls, found.distinct, found.distinct_exact) == (nulls, len(there), True)
    often = sorted((cell for cell in there if there[cell] > 1), key=lambda c: (-there[c], c))
    assert found.frequent == tuple((c, there[c] / len(cells)) for c in often[:FREQUENT])
    if found.histogram:
        assert sum(rows for *_, rows in found.histogram) == len(said)
        assert len(found.histogram) <= BINS
        assert all(low < high for low, high, _ in found.histogram) or len(found.histogram) == 1
        assert None not in (found.least, found.greatest)
    elif found.least is None:
        assert found.greatest is None
    else:
        assert float(found.least) <= float(found.greatest)


def test_ends_that_64_bits_do_not_tell_apart_are_told_exactly():
    cells = ["1234567890.123456790", "1234567894.5", "1234567890.123456789", "1234567894.50001"]
    many = ["18446744073709551615", "18446744073709551613", "18446744073709551614"]
    assert (profiled(cells).least, profiled(cells).greatest) == (cells[2], cells[3])
    assert (profiled(many).least, profiled(many).greatest) == (many[1], many[0])


@given(st.lists(NUMBERS, min_size=1, max_size=60))
def test_the_least_and_the_greatest_number_are_those_of_duckdb(cells):
    found = profiled(cells)
    with duckdb.connect() as connection:
        connection.register("t", pa.table({"c": pa.array(cells, pa.string())}))
        least, greatest = connection.execute(
            "SELECT min(CAST(c AS DOUBLE)), max(CAST(c AS DOUBLE)) FROM t"
        ).fetchone()
    assert (float(found.least), float(found.greatest)) == (least, greatest)
    assert {found.least, found.greatest} <= {*cells}
    assert found.histogram[0][0] == least
    assert found.histogram[-1][1] >= greatest


@settings(max_examples=30)
@given(COLUMNS, st.sets(st.integers(1, 59)), st.sampled_from([5, 20, 2_000]))
def test_how_rows_are_cut_into_batches_makes_no_difference(cells, cuts, kept):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collect, "_COLUMN_SEEN", kept)
        patch.setattr(collect, "_COLUMN_HASHES", kept)
        cuts = {cut for cut in cuts if cut < len(cells)}
        assert profiled(cells, cuts) == profiled(cells)


def test_a_column_of_many_different_cells_is_estimated_and_says_so():
    number = random.Random(7)
    numbers = [number.gauss(0, 100) for _ in range(40_000)]
    cells = ["0" if at % 4 == 0 else f"{value:.6f}" for at, value in enumerate(numbers)]
    cells[123] = None
    found = profiled(cells, cuts=range(7_000, 40_000, 7_000))
    assert found == profiled(cells, cuts=range(1_000, 40_000, 1_000))
    nulls, there = counted(cells)
    assert (found.distinct, found.distinct_exact) == (len(there), True)
    assert not found.shares_exact
    assert found.nulls == nulls
    assert (found.least, found.greatest) == (min(there, key=float), max(there, key=float))
    ((cell, share),) = found.frequent
    assert cell == "0"
    assert share == pytest.approx(0.25, abs=0.06)
    assert sum(rows for *_, rows in found.histogram) == pytest.approx(40_000, rel=0.01)
    for low, high, rows in found.histogram:
        exact = sum(low <= float(cell) < high for cell in cells if cell is not None)
        assert rows == pytest.approx(exact, abs=0.06 * 40_000)


@pytest.mark.parametrize("distinct", [2_000, 2_001, 5_000, 30_000])
def test_different_cells_are_counted_up_to_a_bound_and_estimated_beyond(monkeypatch, distinct):
    cells = [None, *(f"key {n % distinct}" for n in range(60_000)), None]
    found = profiled(cells, cuts=range(0, 60_000, 900))
    assert (found.distinct, found.distinct_exact) == (distinct, True)
    monkeypatch.setattr(collect, "_COLUMN_HASHES", 3_000)
    found = profiled(cells, cuts=range(0, 60_000, 900))
    assert found.distinct_exact == (distinct <= 3_000)
    assert found.distinct == pytest.approx(distinct, rel=0 if found.distinct_exact else 0.1)


@given(st.integers(1, 400), st.integers(0, 30))
def test_no_estimate_is_above_the_number_of_rows_with_a_value(unique, nulls):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collect, "_COLUMN_SEEN", 4)
        patch.setattr(collect, "_COLUMN_HASHES", 4)
        found = profiled([None] * nulls + [f"key {n}" for n in range(unique)])
    assert found.distinct <= unique


def test_a_key_of_a_wide_table_is_counted_exactly():
    rows = [[str(row), *["x"] * 59] for row in range(779)]
    key, *_ = collect_rows(rows, 60, 0).profiles
    assert (key.distinct, key.distinct_exact) == (779, True)


LARGE = [str(2**60 + number) for number in range(3)]
FAR = [f"{-9 * 10**18}", f"{9 * 10**18}"]
TIMES = ["2024-01-31 10:00:00", "2024-01-31T11:00:00.5+00"]
ARABIC = ["\u0661", "\u0662"]

KINDS = {
    "nothing": ([], None, None, 0),
    "only nulls": ([None] * 3, None, None, 0),
    "only signs of no value": (["", "-", "N/A"], None, None, 0),
    "numbers by value": (["10", "9", "-3"], "-3", "10", 3),
    "as they are spelled": (["007", "+9.50", ".5"], ".5", "+9.50", 3),
    "beside signs of no value": (["10", "", "9", "NA", "-"], "9", "10", 2),
    "whole numbers beyond those of floats": ([LARGE[1], LARGE[0], LARGE[2]], LARGE[0], LARGE[2], 3),
    "a range beyond whole numbers": (FAR, *FAR, 2),
    "one number": (["5", "5"], "5", "5", 2),
    "a number beyond all": (["1", "1e999"], None, None, 0),
    "words that floats know": (["1", "inf", "2"], None, None, 0),
    "a range beyond all": (["-1.7e308", "1.7e308"], "-1.7e308", "1.7e308", 0),
    "a range up to all": (["0", "1.797e308"], "0", "1.797e308", 2),
    "the smallest range": (["0", "5e-324"], "0", "5e-324", 2),
    "numbers and a word": (["10", "9", "x"], None, None, 0),
    "hexadecimal": (["10", "0x1f", "9"], None, None, 0),
    "digits of others": (ARABIC, None, None, 0),
    "days": (["2024-02-01", "", "2024-01-31"], "2024-01-31", "2024-02-01", 2),
    "no day": (["2024-02-30", "2024-01-31"], None, None, 0),
    "times": (TIMES, *TIMES, 2),
    "text": (["b", "a", "Z", "é"], None, None, 0),
    "days and a word": (["2024-01-31", "soon"], None, None, 0),
    "a long number": (["9" * 300], "9" * 80, "9" * 80, 1),
}  # fmt: skip


@pytest.mark.parametrize("many", [False, True], ids=["few", "many"])
@pytest.mark.parametrize(("cells", "least", "greatest", "in_bins"), KINDS.values(), ids=KINDS)
def test_the_least_the_greatest_and_what_has_a_histogram(cells, least, greatest, in_bins, many):
    with pytest.MonkeyPatch.context() as patch:
        if many:
            patch.setattr(collect, "_COLUMN_SEEN", 1)
            patch.setattr(collect, "_SEEN_AT_LEAST", 1)
        found = profiled(cells, cuts=range(1, len(cells)))
    assert (found.least, found.greatest) == (least, greatest)
    assert sum(rows for *_, rows in found.histogram) == in_bins
    assert all(math.isfinite(low) and math.isfinite(high) for low, high, _ in found.histogram)


def test_bins_of_whole_numbers_and_of_days_hold_as_many_of_them_each():
    found = profiled([str(number) for number in range(30)])
    assert found.histogram == tuple((2.0 * n, 2.0 * n + 2, 2) for n in range(15))
    first = date(2024, 1, 1)
    found = profiled([str(first + timedelta(day)) for day in range(60)])
    begin = datetime(2024, 1, 1, tzinfo=UTC).timestamp()
    width = 3 * 86_400.0
    assert found.histogram == tuple(
        (begin + n * width, begin + (n + 1) * width, 3) for n in range(20)
    )


def test_the_most_frequent_cells_come_first_and_none_that_is_there_once():
    cells = [*"aaabbbccd", "x" * 100, "x" * 100, None]
    share = 1 / len(cells)
    assert profiled(cells).frequent == (
        ("a", 3 * share),
        ("b", 3 * share),
        ("c", 2 * share),
        ("x" * 80, 2 * share),
    )


def test_hidden_columns_have_no_profile_and_empty_ones_say_so():
    with hide_columns(frozenset({1}), 3):
        first, hidden, last = collect_rows([("1", "secret", "2")], 3, 0).profiles
    assert hidden is None
    assert (first.least, last.least) == ("1", "2")
    wide = collect_rows([[str(n) for n in range(PROFILED_COLUMNS + 1)]], PROFILED_COLUMNS + 1, 0)
    assert [one is None for one in wide.profiles] == [False] * PROFILED_COLUMNS + [True]
    collector = TermCollector(0)
    collector.add(pa.record_batch([pa.array([], pa.int32())], ["c"]))
    assert collector.collected().profiles == (ColumnProfile(0.0, 0, True),)


def test_typed_columns_are_told_as_they_are_spelled():
    batch = pa.record_batch(
        [pa.array([3, None, 20]), pa.array([date(2024, 1, 2), None, date(2023, 1, 1)])], ["a", "b"]
    )
    collector = TermCollector(0)
    collector.add(batch)
    whole, days = collector.collected().profiles
    assert (whole.least, whole.greatest, whole.nulls) == ("3", "20", pytest.approx(1 / 3))
    assert (days.least, days.greatest, len(days.histogram)) == ("2023-01-01", "2024-01-02", 2)
