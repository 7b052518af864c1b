"""What a column of a SQL engine is where DuckDB runs a statement about it.

Rows of all engines but those that run statements themselves come as text, and texts are compared
letter by letter: 9 is more than 10. So they are cast to what their engine's type means.
"""

from functools import lru_cache

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

from pneuma_assets.core.answers.statement_types import CANDIDATES

_Type = exp.DataType.Type

_SPELLED = {"mssql": "tsql", "postgresql": "postgres"}
"""Engines that sqlglot calls otherwise than SQLAlchemy."""

_MEANT = {
    **dict.fromkeys(exp.DataType.REAL_TYPES, "DECIMAL"),  # sums of cents are exact
    **dict.fromkeys((_Type.FLOAT, _Type.DOUBLE, _Type.UDOUBLE, _Type.DECFLOAT), "DOUBLE"),
    **dict.fromkeys(exp.DataType.INTEGER_TYPES - {_Type.BIT}, "BIGINT"),
    **dict.fromkeys((_Type.SMALLSERIAL, _Type.SERIAL, _Type.BIGSERIAL, _Type.YEAR), "BIGINT"),
    **dict.fromkeys((_Type.DATE, _Type.DATE32), "DATE"),
    # Those with a zone, too: `TIMESTAMP` is tried first, and loses no zone that a cell has.
    **dict.fromkeys(
        (
            _Type.DATETIME, _Type.DATETIME2, _Type.DATETIME64, _Type.SMALLDATETIME, _Type.TIMESTAMP,
            _Type.TIMESTAMPLTZ, _Type.TIMESTAMPNTZ, _Type.TIMESTAMPTZ, _Type.TIMESTAMP_MS,
            _Type.TIMESTAMP_NS, _Type.TIMESTAMP_S,
        ),
        "TIMESTAMP",
    ),
    _Type.BOOLEAN: "BOOLEAN",
    _Type.TIME: "TIME",
}  # fmt: skip
"""To which of `CANDIDATES` texts of a type are cast; those of others stay text."""


@lru_cache(maxsize=4096)
def statement_type(type_name: str, engine: str) -> str:
    """Return what a column is to a statement; of a type that is not known here, the type itself.

    Args:
        type_name: As the engine spells it: `decimal(10,2)`, `int unsigned`, `TIMESTAMP_NTZ(9)`.
        engine: What SQLAlchemy calls it, without a driver.
    """
    if type_name in CANDIDATES:
        return type_name
    spelled = _SPELLED.get(engine, engine)
    dialect = spelled if Dialect.get(spelled) else None
    try:
        kind = exp.DataType.build(type_name, dialect=dialect).this
    except (SqlglotError, ValueError):  # of its own, as `mood`, or no SQL at all
        return type_name
    return _MEANT.get(kind, type_name)
