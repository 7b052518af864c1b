"""SQL of a model is read into the template or not at all, and compared part by part."""

import random
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.lineage.parse import UnreadableSQLError
from pneuma_bench.generator.drawing import draw_query
from pneuma_bench.generator.queries import (
    Condition,
    Order,
    Selected,
    SqlQuery,
    Subject,
    exact_match,
)
from pneuma_bench.generator.reading_back import LONGEST, ColumnNames, read_back

ROWS = [("Oslo", 709037, "007", 2.5), ("Bergen", 291189, "x", -1.5), ("Kiel", 246601, "DE", 0.0)]
CITIES = Subject(
    "s/cities", ("City Name", "numPeople", "land", "wt.loss"), (False, True, False, True), ROWS
)
CITY, PEOPLE, LAND, LOSS = range(4)


def where(*conditions):
    return SqlQuery((Selected(CITY),), tuple(conditions))


def on(column, operator, *values):
    return Condition(Selected(column), operator, *values)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ('SELECT "City Name"', where()),
        ("select city_name from cities", where()),
        ("SELECT `City Name`", where()),
        ("SELECT t.city_name AS c FROM t;\nThis query selects...", where()),
        ("Here it is:\n```sql\nSELECT CITYNAME FROM x\n```\nDone.", where()),
        ('SELECT "City Name" WHERE land = \'a;b\'', where(on(LAND, "=", "a;b"))),
        ('SELECT "City Name" WHERE land = "007"', where(on(LAND, "=", "007"))),
        ('SELECT "City Name" WHERE land = 007', where(on(LAND, "=", "007"))),
        ('SELECT "City Name" WHERE land = \'O\'\'x\'', where(on(LAND, "=", "O'x"))),
        ('SELECT "City Name" WHERE wt.loss > -1.50', where(on(LOSS, ">", -1.5))),
        ('SELECT "City Name" WHERE 3 > "wt.loss"', where(on(LOSS, "<", 3))),
        ('SELECT "City Name" WHERE numpeople = \'5.0\'', where(on(PEOPLE, "=", 5))),
        (
            'SELECT "City Name" WHERE (num_people BETWEEN 1 AND 2) AND (land = \'x\')',
            where(on(LAND, "=", "X"), on(PEOPLE, "between", 1, 2.0)),
        ),
        (
            'SELECT "City Name" WHERE num_people <= 2 AND num_people >= 1',
            where(on(PEOPLE, "between", 1, 2)),
        ),
        (
            "SELECT MAX(wt_loss) m, land GROUP BY land HAVING m > 2",
            SqlQuery(
                (Selected(LAND), Selected(LOSS, "MAX")),
                group_by=LAND,
                having=Condition(Selected(LOSS, "MAX"), ">", 2),
            ),
        ),
        (
            'SELECT "City Name" ORDER BY num_people DESC NULLS LAST LIMIT 3',
            replace(where(), order=Order(PEOPLE, descending=True, limit=3)),
        ),
    ],
)  # fmt: skip
def test_what_is_of_the_template_is_read(text, query):
    assert exact_match(read_back(text, CITIES), query) == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I do not know.", "no SELECT"),
        ("SELECT " + "x" * LONGEST, "too long"),
        ("SELECT ((((", "."),
        ("SELECT " + "(" * 500 + "1", "nested"),
        ("SELECT", "nothing"),
        ("SELECT *", "Star"),
        ("SELECT COUNT(land)", "Count"),
        ("SELECT land + 1", "Add"),
        ("SELECT MAX(DISTINCT land)", "Distinct"),
        ("SELECT MAX(land, 3)", "Max"),
        ("SELECT DISTINCT land", "distinct"),
        ("SELECT colour", "no column"),
        ("SELECT land FROM a JOIN b ON a.x = b.x", "joins"),
        ("SELECT land FROM (SELECT land)", "from a query"),
        ("SELECT land UNION SELECT land", "no plain SELECT"),
        ("SELECT land WHERE land = 'a' OR land = 'b'", "Or"),
        ("SELECT land WHERE NOT land = 'a'", "Not"),
        ("SELECT land WHERE land LIKE 'a%'", "Like"),
        ("SELECT land WHERE land = numpeople", "no value"),
        ("SELECT land WHERE land IN ('a')", "In"),
        ("SELECT land GROUP BY land, numpeople", "groups by other"),
        ("SELECT land GROUP BY ROLLUP (land)", "Rollup"),
        ("SELECT land ORDER BY numpeople", "one of ORDER BY and LIMIT"),
        ("SELECT land LIMIT 1", "one of ORDER BY and LIMIT"),
        ("SELECT land ORDER BY MAX(numpeople) LIMIT 1", "aggregate"),
        ("SELECT land ORDER BY numpeople, land LIMIT 1", "more than one"),
        ("SELECT land ORDER BY numpeople LIMIT 1.5", "whole number"),
        ("SELECT land ORDER BY numpeople LIMIT 1 OFFSET 2", "offset"),
        ("SELECT MAX(wt_loss) GROUP BY land HAVING MAX(wt_loss) > 1 AND MIN(wt_loss) < 9", "two"),
    ],
)
def test_what_is_not_of_the_template_is_refused(text, said):
    with pytest.raises(UnreadableSQLError, match=said):
        read_back(text, CITIES)


def test_a_column_may_be_called_as_a_keyword():
    subject = Subject("s/x", ("row", "Group", "max", "order of birth"), (True,) * 4, [])
    sql = "SELECT row, MAX(max) FROM x WHERE group = 'by row' GROUP BY row"
    assert read_back(sql, subject) == SqlQuery(
        (Selected(0), Selected(2, "MAX")), (on(1, "=", "by row"),), group_by=0
    )


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("labour_cost_share", [0]),
        ("weight loss", [1]),
        ("energy price", [2]),
        ("time", [4, 5]),
        ("", []),
    ],
)
def test_a_column_is_found_by_its_meaning_where_no_name_spells_it(name, columns):
    described = {0: "Labour cost share, in percent.", 3: "energy price", 4: "time", 5: "Time."}
    names = ("sl", "wt.loss", "energy_price", "a", "b", "c")
    subject = Subject("s/x", names, (True,) * 6, [], described)
    assert [*ColumnNames(subject).places([name])] == columns


def test_a_name_of_two_columns_is_none():
    subject = Subject("s/x", ("a b", "A_B", "a b c"), (False,) * 3, [])
    assert read_back('SELECT "A_B"', subject).select == (Selected(1),)
    with pytest.raises(UnreadableSQLError, match="more than one column"):
        read_back("SELECT aB", subject)


names = st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=4, unique=True)
texts = st.text(max_size=8).filter(lambda text: "\x00" not in text)
numbers = st.integers(-(10**6), 10**6) | st.floats(-1e9, 1e9)


@st.composite
def drawn(draw):
    """Draw a query of a table of any names and values."""
    columns = tuple(draw(names))
    numeric = tuple(draw(st.booleans()) for _ in columns)
    row = st.tuples(*(numbers if one else texts for one in numeric))
    subject = Subject("s/x", columns, numeric, draw(st.lists(row, min_size=1, max_size=5)))
    query = draw_query(subject, random.Random(draw(st.integers(0, 999))))
    return subject, query


@given(drawn())
def test_the_sql_of_a_query_matches_it(one):
    subject, query = one
    if query is not None:
        assert exact_match(read_back(query.sql(subject.columns), subject), query) == ()


def changes(query):
    """Yield the name of a part and the query with this part changed."""
    first, *more = query.select
    yield "select", replace(query, select=(*more,))
    yield "select", replace(query, select=(replace(first, column=first.column + 1), *more))
    yield "select", replace(query, select=(replace(first, aggregate="COUNT"), *more))
    yield "where", replace(query, where=(*query.where, on(9, "=", "another")))
    for at, one in enumerate(query.where):
        rest = query.where[:at] + query.where[at + 1 :]
        yield "where", replace(query, where=rest)
        yield "where", replace(query, where=(*rest, replace(one, operator="<>")))
        yield "where", replace(query, where=(*rest, replace(one, value="another one")))
    other = None if query.group_by is not None else 0
    yield "group by", replace(query, group_by=other)
    yield "having", replace(query, having=None if query.having else on(0, ">", 1))
    if query.order is None:
        yield "order by", replace(query, order=Order(0, descending=True, limit=3))
    else:
        yield "limit", replace(query, order=replace(query.order, limit=9))
        down = not query.order.descending
        yield "order by", replace(query, order=replace(query.order, descending=down))


@given(drawn())
def test_every_changed_part_is_named(one):
    _, query = one
    if query is not None:
        for part, changed in changes(query):
            assert part in exact_match(query, changed)
            assert part in exact_match(changed, query)


@given(st.text(max_size=300) | st.text("SELECT MAX(land)\"' =<>,;`").map("SELECT ".__add__))
def test_whatever_is_said_is_read_or_refused(text):
    with suppress(UnreadableSQLError):
        assert read_back(text, CITIES).select
