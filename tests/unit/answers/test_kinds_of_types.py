"""What the cells of a column are, by its type."""

import pytest

from pneuma_assets.core.relations.join_column_facts import kind_of

NUMBERS = """int integer BIGINT UBIGINT HUGEINT smallint(6) int2 INT64 bigserial BIGNUM BIGNUMERIC
dec decimal(10,2) NUMERIC NUMBER(38,0) double real float8 FLOAT64 money year tinyint"""


@pytest.mark.parametrize(
    ("types", "kind"),
    [
        ([*NUMBERS.split(), "double precision", "int unsigned"], "number"),
        (["text", "varchar(9)", "VARCHAR", "uuid", "enum('a')", "character"], "text"),
        (["date", "DATETIME", "timestamp with time zone", "smalldatetime"], "time"),
        (["time", "time without time zone", "interval", "INTERVAL"], "time"),
        (["boolean", "bool"], "truth"),
        (["integer[]", "DECIMAL(18,3)[]", "text[]", "INTEGER[3]", "date[]"], None),
        (["int4range", "daterange", "tsrange", "int8multirange"], None),
        (["json", "ARRAY<INT64>", "STRUCT(a INTEGER)", "point", "mood", ""], None),
    ],
)
def test_what_the_cells_of_a_type_are(types, kind):
    assert {kind_of(one) for one in types} == {kind}
