"""What the cells of a column are, by its type: one answer for joins and for templates."""

import pytest

from pneuma_assets.core.answers.templates.fields import Kind
from pneuma_assets.core.answers.templates.fields import kind_of as kind_of_field
from pneuma_assets.core.joins.types import kind_of

NUMBERS = """int integer BIGINT UBIGINT HUGEINT smallint(6) int2 INT64 bigserial BIGNUM BIGNUMERIC
dec decimal(10,2) NUMERIC NUMBER(38,0) double real float8 FLOAT64 money year tinyint"""


@pytest.mark.parametrize(
    ("types", "joins", "field"),
    [
        ([*NUMBERS.split(), "double precision", "int unsigned"], "number", Kind.NUMBER),
        (["text", "varchar(9)", "VARCHAR", "uuid", "enum('a')", "character"], "text", Kind.TEXT),
        (["date", "DATETIME", "timestamp with time zone", "smalldatetime"], "time", Kind.DATE),
        (["time", "time without time zone", "interval", "INTERVAL"], "time", Kind.TIME),
        (["boolean", "bool"], "truth", Kind.TRUTH),
        (["integer[]", "DECIMAL(18,3)[]", "text[]", "INTEGER[3]", "date[]"], None, Kind.TEXT),
        (["int4range", "daterange", "tsrange", "int8multirange"], None, Kind.TEXT),
        (["json", "ARRAY<INT64>", "STRUCT(a INTEGER)", "point", "mood", ""], None, Kind.TEXT),
    ],
)
def test_what_the_cells_of_a_type_are(types, joins, field):
    for one in types:
        assert kind_of(one) == joins, one
        assert kind_of_field(f" {one.title()} ") == field, one
