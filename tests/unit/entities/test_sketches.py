"""What a model's sketch of SQL mentions is read by a parser, strictly and within bounds."""

import pytest

from pneuma_assets.core.entities.sketches import (
    LONGEST,
    MOST_CHARACTERS,
    MOST_MENTIONS,
    sketch_mentions,
)
from pneuma_assets.core.lineage.parsing import UnreadableSQLError

FENCED = "Here it is:\n```sql\nSELECT price FROM t\n```\nIt selects the price where x = 'y'."


@pytest.mark.parametrize(
    ("sketch", "columns", "values"),
    [
        pytest.param(
            "SELECT COUNT(shopName) FROM t WHERE city = 'Lima' AND kinds_of_tea > 30",
            ("shop name", "city", "kinds of tea"),
            ("Lima", "30"),
            id="names as words, and what columns are compared with",
        ),
        pytest.param(
            "SELECT a.name AS n, COUNT(*) AS total FROM a GROUP BY n ORDER BY total LIMIT 5",
            ("name",),
            (),
            id="neither aliases nor limits",
        ),
        pytest.param(
            "SELECT city FROM t GROUP BY city HAVING COUNT(*) > 2 AND SUM(sold) >= 7",
            ("city", "sold"),
            (),
            id="no number that an aggregate is compared with",
        ),
        pytest.param(
            """SELECT x FROM t WHERE city = "San José" AND "Mar" <> town""",
            ("x", "city", "town"),
            ("San José", "Mar"),
            id="double quotes where a value stands",
        ),
        pytest.param(
            """SELECT "unit price" FROM t WHERE "first name" = 'Bo'""",
            ("unit price", "first name"),
            ("Bo",),
            id="double quotes where a column stands",
        ),
        pytest.param(
            """SELECT x FROM t WHERE "first name" = "Bo\"""",
            ("x", "first name"),
            ("Bo",),
            id="double quotes on both sides",
        ),
        pytest.param(
            "SELECT x FROM t WHERE y BETWEEN 2019 AND 2020 OR z IN ('a', ('b')) OR w LIKE '%Rome%'",
            ("x", "y", "z", "w"),
            ("2019", "2020", "a", "b", "Rome"),
            id="ranges, lists and patterns",
        ),
        pytest.param(
            "SELECT x FROM t WHERE day > DATE '2020-01-31' AND y = -3 AND LOWER(z) = 'bo'",
            ("x", "day", "y", "z"),
            ("2020-01-31", "3", "bo"),
            id="types, signs and functions around them",
        ),
        pytest.param(
            "SELECT ROUND(x, 2), 'Lima' FROM t WHERE 1 = 1",
            ("x",),
            (),
            id="no literal that no column is compared with",
        ),
        pytest.param(
            "WITH r AS (SELECT a FROM t WHERE b = 'c') SELECT a FROM r WHERE d > (SELECT e)",
            ("a", "b", "d", "e"),
            ("c",),
            id="queries within queries",
        ),
        pytest.param(FENCED, ("price",), (), id="a fence with words around it"),
        pytest.param("```\nSELECT price\n", ("price",), (), id="a fence that does not end"),
        pytest.param("select price from t", ("price",), (), id="small letters"),
        pytest.param("SELECT 1", (), (), id="nothing"),
        pytest.param("SELECT", (), (), id="nothing at all"),
    ],
)  # fmt: skip
def test_columns_and_values_are_mentions(sketch, columns, values):
    found = sketch_mentions(sketch)
    assert {*found.columns} == {*columns}
    assert {*found.values} == {*values}
    assert len(found.columns) == len(columns)
    assert len(found.values) == len(values)


@pytest.mark.parametrize(
    "sketch",
    [
        "",
        "There is no such query.",
        "SELECT ((((",
        "SELECT 'Lima",
        "with select selection",
        "DROP TABLE t",
        "COPY (SELECT x FROM t) TO 'x'",
        "SELECT " + "(" * 80 + "x" + ")" * 80,
        "SELECT x FROM t WHERE y = '" + LONGEST * "a" + "'",
    ],
    ids=range(9),
)
def test_what_is_no_query_is_refused(sketch):
    with pytest.raises(UnreadableSQLError):
        sketch_mentions(sketch)


def test_mentions_are_bounded():
    some = ", ".join(f"c{number}" for number in range(MOST_MENTIONS + 9))
    assert len(sketch_mentions(f"SELECT {some} FROM t").columns) == MOST_MENTIONS
    long = f"SELECT x FROM t WHERE y = '{(MOST_CHARACTERS + 9) * 'a'}'"
    assert sketch_mentions(long).values == (MOST_CHARACTERS * "a",)
