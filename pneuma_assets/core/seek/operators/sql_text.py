"""How names, values and types are spelled in the SQL of DuckDB that operators consist of.

This file and those called `sql_*` beside it stand in the scripts that run without this project
(`seek.script`), too, so they need nothing else of it. Their `options` are those of an operator's
model as JSON has them, their `columns` the names and types of the columns of each table that a step
reads, in the order in which it reads them.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Columns = Mapping[str, Sequence[tuple[str, str]]]
Ask = Callable[[str], Sequence[Sequence[Any]]]
"""Returns the rows of a query over the tables that a step reads."""


def quoted(name: str) -> str:
    """Return a name as DuckDB reads it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as DuckDB reads it."""
    return "'" + text.replace("'", "''") + "'"


def of(table: str, column: str) -> str:
    """Return a column of a table."""
    return f"{quoted(table)}.{quoted(column)}"


def as_text(value: str) -> str:
    """Return a value as text without blanks around it."""
    return f"trim(CAST({value} AS VARCHAR))"


def kind_of(duckdb_type: str) -> str:
    """Return whether a type is of a number, a day, a truth value, a text, or what it is."""
    upper = duckdb_type.upper()
    if re.match(r"U?(TINY|SMALL|BIG|HUGE)?INT|U?INTEGER|DECIMAL|DOUBLE|FLOAT|REAL|BIGNUM", upper):
        return "number"
    return "text" if upper == "VARCHAR" else upper.partition(" ")[0]


def type_of(columns: Sequence[tuple[str, str]], name: str) -> str:
    """Return the type of a column, whatever the capitals of its name."""
    return next((kind for own, kind in columns if own.lower() == name.lower()), "VARCHAR")


def common_type(kinds: Sequence[str]) -> str:
    """Return the type that holds what columns of these types hold; '' where it is the same."""
    if len(set(kinds)) == 1:
        return ""
    if {kind_of(kind) for kind in kinds} == {"number"}:
        return "DOUBLE"
    return "TIMESTAMP" if {*kinds} == {"DATE", "TIMESTAMP"} else "VARCHAR"


TYPES = {
    "text": "VARCHAR",
    "integer": "BIGINT",
    "number": "DOUBLE",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "boolean": "BOOLEAN",
}


def typed(name: str, wanted: str, table: str, kind: str) -> str:
    """Return a column as the type that people call so; NULL where a cell is none of it."""
    cell, has = of(table, name), kind_of(kind)
    if wanted == "text":
        return f"CAST({cell} AS VARCHAR)"
    if wanted == "number" and has == "number":
        return cell
    if wanted == "integer":
        digits = f"regexp_full_match({as_text(cell)}, '[+-]?[0-9]+([.]0*)?')"
        whole = f"{cell} = trunc({cell})" if has == "number" else digits
        return f"CASE WHEN {whole} THEN TRY_CAST({cell} AS BIGINT) END"
    if wanted == "boolean" and has == "number":
        return f"CASE {cell} WHEN 0 THEN false WHEN 1 THEN true END"
    return f"TRY_CAST({cell} AS {TYPES[wanted]})"


def as_wanted(wanted: Sequence[tuple[str, str]], table: str, has: Columns) -> str:
    """Return the query of a table's columns that are wanted, of their types, in their order."""
    kinds = {name.lower(): (name, kind) for name, kind in has[table]}
    cells = [
        f"{typed(own, kind, table, own_kind)} AS {quoted(name)}"
        for name, kind in wanted
        for own, own_kind in [kinds[name.lower()]]
    ]
    return f"SELECT {', '.join(cells)} FROM {quoted(table)}"
