"""What each operator makes of tables, and what it says of them."""

import datetime
import re

import pyarrow as pa
import pytest

from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.seek.operators import sql_match
from pneuma_assets.core.seek.operators.registry import OPERATORS, describe
from pneuma_assets.core.seek.results import MakeBounds, StepFailedError
from tests.support.arrow_relations import made_by, texts

ORDERS = pa.table({"id": [1, 2, 3], "shop": ["a", "b", "c"], "n": [10, 20, 30]})
SHOPS = texts(code=["a", "b"], city=["Rome", "Oslo"])
TWICE = texts(code=["a", "a", "b"], city=["Rome", "Bari", "Oslo"])


def rows(found):
    return sorted(zip(*found.rows.to_pydict().values(), strict=True), key=str)


def findings(found):
    return {one.rule: (str(one.severity), one.text) for one in found.findings}


def join(**more):
    on = {"table": "orders", "columns": ["shop"], "other": "shops", "other_columns": ["code"]}
    return {"operator": "join", "options": {"joins": [{**on, **more}]}}


def convert(*conversions):
    return {"operator": "convert", "options": {"conversions": list(conversions)}}


def test_a_join_keeps_rows_and_says_what_has_no_partner():
    found = made_by(join(), orders=ORDERS, shops=SHOPS)
    assert found.rows.schema.names == ["id", "shop", "n", "code", "city"]
    assert rows(found)[2] == (3, "c", 30, None, None)
    severity, text = findings(found)["join unmatched"]
    assert (severity, "1 of 3 rows have no partner in shops" in text) == ("warning", True)
    assert "'c'" in text


@pytest.mark.parametrize(("expect", "severity"), [("one", "error"), ("any", "note")])
def test_a_join_that_multiplies_rows_is_named(expect, severity):
    found = made_by(join(expect=expect, kind="inner"), orders=ORDERS, shops=TWICE)
    told, text = findings(found)["join multiplies"]
    assert (found.rows.num_rows, told) == (3, severity)
    assert "3 rows before, 3 after: it multiplies rows, 2 rows go with 3 of shops" in text


RAIN = pa.table(
    {
        "day": [datetime.date(2020, 1, 1), datetime.date(2020, 1, 3), datetime.date(2020, 1, 4)],
        "mm": [1.0, None, 4.0],
        "tags": [["a", "b"], ["c"], []],
        "line": ["a;b", "c", "d"],
    }
)
SQL = [
    ("SELECT g.n, r.mm FROM generate_series(1, 3) AS g(n) LEFT JOIN rain r ON day(r.day) = g.n",
     [(1, 1.0), (2, None), (3, None)]),
    ("SELECT count(*) AS days, count(r.mm) AS wet FROM generate_series(DATE '2020-01-01', "
     "DATE '2020-01-31', INTERVAL '1 day') AS g(d) LEFT JOIN rain r ON r.day = g.d", [(31, 2)]),
    ("SELECT day(day) AS d, coalesce(mm, (lag(mm) OVER w + lead(mm) OVER w) / 2) AS mm FROM rain "
     "WINDOW w AS (ORDER BY day)", [(1, 1.0), (3, 2.5), (4, 4.0)]),
    ("SELECT day(day) AS d, last_value(mm IGNORE NULLS) OVER (ORDER BY day) AS mm FROM rain",
     [(1, 1.0), (3, 1.0), (4, 4.0)]),
    ("SELECT g.n, r.mm FROM generate_series(2, 5, 3) AS g(n) ASOF JOIN rain r ON g.n >= day(r.day)",
     [(2, 1.0), (5, 4.0)]),
    ("SELECT day(day) AS d, unnest(tags) AS tag FROM rain", [(1, "a"), (1, "b"), (3, "c")]),
    ("SELECT part, count(*) AS n FROM (SELECT unnest(string_split(line, ';')) AS part FROM rain) q "
     "GROUP BY 1", [("a", 1), ("b", 1), ("c", 1), ("d", 1)]),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("code", "wanted"), SQL)
def test_sql_makes_calendars_fills_gaps_and_takes_lists_apart(code, wanted):
    assert rows(made_by({"operator": "sql", "code": code}, rain=RAIN)) == sorted(wanted, key=str)


@pytest.mark.slow
def test_the_last_join_of_a_long_path_is_counted_like_the_first():
    near = {f"t{n}": texts(k0=["a", "b"], **{f"k{n + 1}": ["a", "b"]}) for n in range(10)}
    far = {"t10": texts(code=["a", "a"])}
    on = [
        {"table": f"t{n - 1}", "columns": ["k0"], "other": f"t{n}", "other_columns": ["k0"]}
        for n in range(1, 10)
    ]
    on.append({"table": "t9", "columns": ["k0"], "other": "t10", "other_columns": ["code"]})
    found = made_by({"operator": "join", "options": {"joins": on}}, **near, **far)
    told = [one.rule for one in found.findings if one.rule.startswith("join")]
    assert told == [*["join"] * 9, "join multiplies", "join unmatched"]


@pytest.mark.slow
def test_keys_of_other_types_and_capitals_go_together():
    shops = pa.table({"code": [1, 2], "city": ["Rome", "Oslo"]})
    orders = texts(shop=["1", "02", "x"])
    assert rows(made_by(join(kind="inner"), orders=orders, shops=shops)) == [
        ("02", 2, "Oslo"), ("1", 1, "Rome")]  # fmt: skip
    found = made_by(join(kind="inner", fold=True), orders=texts(shop=["A ", "B"]), shops=SHOPS)
    assert found.rows.num_rows == 2


@pytest.mark.slow
def test_what_is_spelled_otherwise_is_matched_and_what_may_be_two_is_not(monkeypatch):
    step = {"operator": "fuzzy_match", "options": {"column": "plant", "other_column": "name"}}
    left = texts(plant=["Nordglas GmbH", "nordglas gmbh.", "Plant 1", "Plant 3", "Anna Lee", "?"])
    right = texts(name=["NORDGLAS GMBH", "Plant 1", "Plant 2", "Anna Lea", "Anna Leo"])
    found = made_by(step, left=left, right=right)
    pairs = {row[0]: row[1] for row in rows(found)}
    assert pairs == {
        "Nordglas GmbH": "NORDGLAS GMBH",
        "nordglas gmbh.": "NORDGLAS GMBH",
        "Plant 1": "Plant 1",
        **{"Plant 3": None, "Anna Lee": None, "?": None},
    }
    assert "3 of 6 different values go with none" in findings(found)["unmatched values"][1]
    monkeypatch.setattr(sql_match, "MOST_COMPARED", 1)
    told = findings(made_by(step, left=left, right=right))["unmatched values"][1]
    assert "not compared, for there are too many" in told


def test_like_tables_stand_under_each_other_and_what_differs_is_told():
    first = texts(year=["2019"], amount=["5"]), {"year": "BIGINT", "amount": "BIGINT"}
    second = texts(year=["2020"], total=["n/a"], city=["Rome"]), {"year": "BIGINT"}
    step = {
        "operator": "union",
        "options": {
            "member": "of",
            "labels": {"first": "old"},
            "rename": {"second": {"total": "amount"}},
        },
    }
    found = made_by(step, first=first, second=second)
    assert rows(found) == [(2019, "5", None, "old"), (2020, "n/a", "Rome", "second")]
    assert found.rows.schema.names == ["year", "amount", "city", "of"]
    told = findings(found)
    assert "'city' is NULL in 1 of 2 tables, such as 'first'" in told["columns differ"][1]
    assert "'amount' is BIGINT in 1, VARCHAR in 1" in told["types differ"][1]


@pytest.mark.slow
def test_cells_that_are_not_converted_are_told():
    how = [{"to": "number", "column": "c"},
           {"to": "date", "column": "d", "into": "day", "formats": ["%d.%m.%Y"]}]  # fmt: skip
    table = texts(c=["1,5", "12 kg", "7", None], d=["31.12.2020", "", None, "1.1.2021"])
    found = made_by(convert(*how), one=table)
    assert found.rows.column("c").to_pylist() == [None, None, 7, None]
    assert found.rows.column("day").to_pylist()[::3] == [
        datetime.date(2020, 12, 31), datetime.date(2021, 1, 1)]  # fmt: skip
    (told,) = [one.text for one in found.findings if one.rule == "not converted"]
    assert told.startswith("2 cells of 'c' become NULL")
    assert told.endswith("such as '1,5', '12 kg'")


@pytest.mark.slow
def test_units_of_each_row_become_one_unit():
    table = pa.table({"w": [1.0, 2.0, 3.0], "unit": ["kg", "LB", "stone"]})
    how = {"to": "unit", "column": "w", "into": "kg", "unit_column": "unit", "into_unit": "kg"}
    found = made_by(convert(how), one=table)
    assert found.rows.column("kg").to_pylist() == pytest.approx([1.0, 0.90718474, None])
    assert "'3.0 stone'" in findings(found)["not converted"][1]
    how = {"to": "unit", "column": "t", "unit": "f", "into_unit": "c"}
    found = made_by(convert(how), one=pa.table({"t": [212.0, 32.0]}))
    assert found.rows.column("t").to_pylist() == pytest.approx([100, 0])
    with pytest.raises(StepFailedError, match="do not measure the same"):
        made_by(convert({**how, "into_unit": "m"}), one=pa.table({"t": [212.0]}))


def test_values_become_columns_and_columns_values():
    long = pa.table(
        {"shop": ["a", "a", "b", "a"], "q": ["q1", "q2", "q1", "q9"], "n": [1, 2, 3, 4]}
    )
    how = {"rows": ["shop"], "column": "q", "value": "n", "values": ["q1", "q2"]}
    found = made_by({"operator": "pivot", "options": how}, long=long)
    assert rows(found) == [("a", 1, 2), ("b", 3, None)]
    assert "there is no column, such as 'q9'" in findings(found)["pivot leaves out"][1]
    back = made_by({"operator": "unpivot", "options": {"keep": ["shop"]}}, wide=found.rows)
    assert rows(back) == [("a", "q1", 1), ("a", "q2", 2), ("b", "q1", 3)]


@pytest.mark.slow
def test_a_cell_of_several_values_is_an_error_unless_it_is_said_what_becomes_of_them():
    twice = pa.table({"shop": ["a", "a"], "q": ["q1", "q1"], "n": [1, 2]})
    how = {"rows": ["shop"], "column": "q", "value": "n"}
    told = findings(made_by({"operator": "pivot", "options": how}, twice=twice))
    assert told["pivot loses"][0] == "error"
    found = made_by({"operator": "pivot", "options": {**how, "aggregate": "sum"}}, twice=twice)
    assert rows(found) == [("a", 3)]


BAD = [
    ({"operator": "merge"}, "unknown operator 'merge'"),
    ({"operator": "join", "options": {}}, "joins: is missing"),
    (join(other="nothing"), "has to read the second"),
    (join(columns=["shop", "id"]), "give as many of each"),
    (join(columns=["shp"]), "did you mean 'shop'"),
    ({"operator": "pivot", "options": {}}, "pivot reads 1 tables, not 2"),
    ({"operator": "fuzzy_match", "options": {"column": "x", "other_column": "code"}},
     "no column 'x'"),
    ({"operator": "convert", "options": {}}, "convert reads 1 tables, not 2"),
    ({"operator": "sql", "code": "SELECT nam FROM orders"}, "there is no column 'nam'"),
    ({"operator": "sql", "code": "SELECT id, id AS ID FROM orders"}, "two columns 'id'"),
    ({"operator": "sql", "code": "SELECT CAST(city AS date) AS n FROM shops"}, "invalid date"),
    ({"operator": "sql", "code": "SELECT * FROM read_csv('/etc/passwd')"}, "READCSV is not"),
    ({"operator": "sql", "code": "DROP TABLE orders"}, "which is no query"),
]  # fmt: skip


@pytest.mark.parametrize(("step", "said"), BAD)
def test_a_step_that_fails_says_why_and_what_it_reads(step, said):
    with pytest.raises(StepFailedError, match=re.escape(said)) as caught:
        made_by(step, orders=ORDERS, shops=SHOPS)
    assert (caught.value.table, caught.value.step) == ("t", "t")
    assert "orders (id BIGINT, shop VARCHAR, n BIGINT); shops (code VARCHAR" in str(caught.value)


@pytest.mark.slow
def test_wide_tables_are_within_the_guards_bounds():
    wide = pa.table({"id": [1, 2], **{f"in {1820 + at}": [at, None] for at in range(200)}})
    step = {"operator": "unpivot", "options": {"keep": ["id"], "name": "of", "value": "n"}}
    long = made_by(step, wide=wide).rows
    assert long.num_rows == 200
    how = {"rows": ["id"], "column": "of", "value": "n", "aggregate": "only"}
    few = long.slice(0, 150)
    found = made_by({"operator": "pivot", "options": how}, long=few)
    assert found.rows.num_columns == 151
    with pytest.raises(StepFailedError, match="more than 150 columns would come of it"):
        made_by({"operator": "pivot", "options": how}, long=long)


def test_more_rows_than_a_step_may_make_are_an_error():
    step = {"operator": "sql", "code": "SELECT a.id FROM orders a JOIN orders b ON a.n + b.n > 0"}
    with pytest.raises(PneumaError, match="more than 8 rows"):
        made_by(step, MakeBounds(rows=8), orders=ORDERS)


def test_operators_are_described_for_prompts():
    told = describe()
    assert all(f"{name}: " in told for name in OPERATORS)
    assert "expect?: one|any" in describe("join")
    assert "\n" not in describe("join")
    assert len(told) < 4_000


def test_columns_of_a_join_have_a_table():
    step = join()
    step["options"]["columns"] = {"x": "orders"}
    with pytest.raises(StepFailedError, match="is no `table"):
        made_by(step, orders=ORDERS, shops=SHOPS)


def test_integers_that_a_double_does_not_tell_apart_are_told_apart_from_texts():
    ids = pa.table({"shop": [2**53 + 1, 2**53, 7]})
    found = made_by(
        join(), orders=ids, shops=texts(code=[str(2**53), "007"], city=["Rome", "Oslo"])
    )
    cities = dict(found.rows.select(["shop", "city"]).to_pylist()[at].values() for at in range(3))
    assert cities == {2**53 + 1: None, 2**53: "Rome", 7: "Oslo"}


def test_capitals_of_names_do_not_make_two_columns_of_one():
    step = {"operator": "union", "options": {"member": "year"}}
    found = made_by(step, a=texts(Country=["Rome"]), b=texts(country=["Oslo"]))
    assert rows(found) == [("Oslo", "b"), ("Rome", "a")]
    assert found.rows.schema.names == ["Country", "year"]
    assert "columns differ" not in findings(found)
