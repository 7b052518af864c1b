"""Laws of the SQL that operators consist of, whatever the cells and names are."""

import datetime
from decimal import Decimal, InvalidOperation

import duckdb
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pneuma_assets.core.seek.operators import sql_match
from pneuma_assets.core.seek.operators.sql_convert import UNITS, converted
from pneuma_assets.core.seek.operators.sql_match import _matched, plain
from pneuma_assets.core.seek.operators.sql_text import as_wanted, pivot, quoted, union, unpivot

NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="\x00", exclude_categories=("Cs",)),
    min_size=1, max_size=8,
)  # fmt: skip
DATABASE = duckdb.connect()


def run(sql, **tables):
    for name, table in tables.items():
        DATABASE.register(name, table)
    return DATABASE.sql(sql).fetchall()


def columns(**tables):
    found = {}
    for name, table in tables.items():
        DATABASE.register(name, table)
        shape = DATABASE.sql(f"SELECT * FROM {quoted(name)}")
        found[name] = list(zip(shape.columns, map(str, shape.types), strict=True))
    return found


NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70).map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(str),
    st.sampled_from(["1.0", "1.5", "-0", "1e3", "+7", " 8 ", "", "x", "1,5", "NaN", "inf"]),
    st.text(max_size=6).filter(lambda text: "\x00" not in text),
)


def number(text):
    try:
        found = Decimal(text.strip())
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


@settings(max_examples=60, deadline=None)
@given(st.lists(NUMBERS, min_size=1, max_size=30))
@example(["681930611104000.938"])
@example(["0\r"])
def test_a_text_becomes_the_whole_number_that_it_is_or_none(cells):
    table = pa.table({"c": cells})
    sql = as_wanted([("c", "integer")], "t", columns(t=table))
    for cell, (found,) in zip(cells, run(sql, t=table), strict=True):
        exact = number(cell) if cell.isascii() and "_" not in cell else None
        if found is not None:
            assert found == exact
        elif exact is not None and exact == int(exact) and "e" not in cell.lower():
            assert abs(exact) >= 2**63


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(), min_size=1, max_size=10))
def test_a_number_becomes_the_whole_number_that_it_is_or_none(cells):
    table = pa.table({"c": cells})
    sql = as_wanted([("c", "integer")], "t", columns(t=table))
    for cell, (found,) in zip(cells, run(sql, t=table), strict=True):
        is_whole = cell.is_integer() and abs(cell) < 2**63
        assert (found == cell) if is_whole else (found is None)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.dates(datetime.date(1, 1, 1)), min_size=1, max_size=10))
def test_days_are_days_again(days):
    table = pa.table({"c": [day.isoformat() for day in days]})
    sql = as_wanted([("C", "date")], "t", columns(t=table))
    assert run(sql, t=table) == [(day,) for day in days]


@settings(max_examples=60, deadline=None)
@given(
    st.floats(-1e9, 1e9, allow_nan=False).map(lambda x: round(x, 2)),
    st.sampled_from([".", ","]),
    st.sampled_from(["", "€", "$ "]),
)
def test_a_number_written_for_people_is_the_number(value, decimal, sign):
    text = f"{sign}{value:,.2f}"
    if decimal == ",":
        text = text.translate(str.maketrans(",.", ".,"))
    how = {"to": "number", "column": "c", "decimal": decimal, "remove": []}
    ((found,),) = run(f"SELECT {converted(how, 't')} FROM t", t=pa.table({"c": [text]}))
    assert abs(found - value) < 1e-6 * max(1, abs(value))


CONVERTED = [
    ({"to": "number"}, ["1,234.50 €", "(300)", "12 %", "7", "1e3"], [1234.5, -300, 0.12, 7, 1000]),
    ({"to": "number", "decimal": ","}, ["1.234,5", "12,5", "7"], [1234.5, 12.5, 7]),
    ({"to": "number"}, ["1,5", "12 kg", "A12", "", None], [None] * 5),
    ({"to": "number", "remove": ["kg", "it's"]}, ["12 kg", "3 it's"], [12, 3]),
    (
        {"to": "date", "formats": ["%d.%m.%Y", "%B %d, %Y"]},
        ["31.12.2020", "March 4, 2021", "2020-01-01"],
        [datetime.date(2020, 12, 31), datetime.date(2021, 3, 4), None],
    ),
]


@pytest.mark.parametrize(("how", "cells", "wanted"), CONVERTED)
def test_cells_are_converted_or_become_null(how, cells, wanted):
    one = {"column": "c", "decimal": ".", "remove": [], **how}
    found = run(f"SELECT {converted(one, 't')} FROM t", t=pa.table({"c": cells}))
    assert [cell for (cell,) in found] == pytest.approx(wanted)


def test_every_unit_is_itself_again():
    by_measure = {}
    for name, (measure, *_) in UNITS.items():
        by_measure.setdefault(measure, []).append(name)
    for names in by_measure.values():
        for one in names:
            for other in names:
                there = {"to": "unit", "column": "c", "unit": one, "into_unit": other}
                back = {**there, "unit": other, "into_unit": one}
                sql = f"SELECT {converted(there, 't')} AS c FROM t"
                ((found,),) = run(f"SELECT {converted(back, 'u')} FROM ({sql}) AS u",
                                  t=pa.table({"c": [12.5]}))  # fmt: skip
                assert abs(found - 12.5) < 1e-9, (one, other)


@settings(max_examples=60, deadline=None)
@given(st.lists(NAMES, min_size=1, max_size=5, unique_by=str.casefold), st.data())
def test_columns_that_became_rows_become_columns_again(names, data):
    names = [name for name in names if name.lower() not in {"key", "value", "name"}] or ["a"]
    height = data.draw(st.integers(1, 5))
    cells = {
        name: data.draw(st.lists(st.integers(-9, 9), min_size=height, max_size=height))
        for name in names
    }
    wide = pa.table({"key": list(range(height)), **cells})
    sql = unpivot({"keep": ["key"], "columns": [], "name": "name", "value": "value"},
                  columns(wide=wide), None)  # fmt: skip
    long = DATABASE.sql(sql).to_arrow_table()
    assert long.num_rows == height * len(names)
    how = {"rows": ["key"], "column": "name", "value": "value", "aggregate": "only"}
    how["values"] = names
    again = run(pivot(how, columns(long=long), None) + " ORDER BY 1", long=long)
    assert again == list(zip(*wide.to_pydict().values(), strict=True))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 9), max_size=4), min_size=1, max_size=4), NAMES)
def test_each_member_of_a_union_is_what_it_was(parts, member):
    tables = {
        f"part {at}": pa.table(
            {
                "n": pa.array(cells, pa.int64()),
                f"own{at}": pa.array(["x" for _ in cells], pa.string()),
            }
        )
        for at, cells in enumerate(parts)
    }
    member = member if not member.lower().startswith(("n", "own")) else "m"
    sql = union({"member": member}, columns(**tables))
    whole = DATABASE.sql(sql).to_arrow_table()
    assert whole.num_rows == sum(map(len, parts))
    for at, cells in enumerate(parts):
        own = [row for row in whole.to_pylist() if row[member] == f"part {at}"]
        assert sorted(row["n"] for row in own) == sorted(cells)
        others = [name for name in whole.schema.names if name.startswith("own")]
        assert all((row[name] is None) == (name != f"own{at}") for row in own for name in others)


def test_matching_is_bounded_and_keeps_what_is_the_same(monkeypatch):
    mine = [f"Company {at} Ltd" for at in range(3_000)]
    theirs = [f"COMPANY {at} LTD." for at in range(1_500)]
    monkeypatch.setattr(sql_match, "MOST_COMPARED", 1_000)
    rows = list(_matched(mine, theirs, 88))
    found = {value: match for value, match, _ in rows}
    assert sum(match is not None for match in found.values()) == 1_500
    assert found["Company 7 Ltd"] == "COMPANY 7 LTD."
    assert sum(score == 0 for *_, score in rows) == 1_499


@given(st.text(max_size=20))
def test_a_plain_text_is_plain(text):
    assert plain(plain(text)) == plain(text)


def test_a_value_that_is_the_same_goes_before_those_that_differ_in_signs():
    assert [*_matched(["C++"], ["C", "C#", "C++"], 88)] == [("C++", "C++", 100.0)]
    (alone,) = _matched(["plant \u0661"], ["plant \u0662"], 50)
    assert alone[1] is None, "numbers of any script have to be the same"


@pytest.mark.parametrize(
    ("cell", "number"),
    [("5 10", None), ("1 234,5", 1234.5), ("1 234 567", 1234567.0), ("12 3456", None)],
)
def test_two_numbers_in_a_cell_are_none(cell, number):
    sql = converted({"to": "number", "column": "c", "decimal": ",", "remove": []}, "cells")
    assert run(f"SELECT {sql} FROM cells", cells=pa.table({"c": [cell]})) == [(number,)]
