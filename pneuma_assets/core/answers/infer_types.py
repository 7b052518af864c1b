"""What texts of a file or an engine are in a statement: numbers, days and truth values."""

from collections.abc import Mapping, Sequence
from typing import Any

_WHOLE = ("HUGEINT", "BIGNUM", "DOUBLE", "DECIMAL")
CANDIDATES: Mapping[str, Sequence[str]] = {
    "BIGINT": ("BIGINT", *_WHOLE),
    "HUGEINT": _WHOLE,
    "BIGNUM": _WHOLE,
    "DOUBLE": ("DOUBLE", "DECIMAL"),
    "DECIMAL": ("DECIMAL", "DOUBLE"),
    "BOOLEAN": ("BOOLEAN",),
    "DATE": ("DATE", "TIMESTAMP"),
    "TIME": ("TIME",),
    "TIMESTAMP": ("TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"),
    "TIMESTAMP WITH TIME ZONE": ("TIMESTAMP WITH TIME ZONE",),
}
"""What a column of texts is cast to, by its type: the first in which no cell is lost or rounded.

The types are those of profiles of text files; `run_duckdb` says which ones those of engines are.
DECIMAL has as many places as the cells have.
"""

_DIGITS = 38
_INTEGERS = frozenset({"BIGINT", "HUGEINT", "BIGNUM"})
_ALWAYS_EXACT = 15
"""Characters of a number without exponent that DOUBLE keeps whatever the digits are."""
_NUMBER = "a cell that is no number, or of more digits than a number keeps here"
_SAID = {
    "BOOLEAN": "a cell that is neither true nor false",
    "DATE": "a cell that is no day as 2020-12-31",
    "TIME": "a cell that is no time as 23:59:00",
    "TIMESTAMP": "a cell that is no day and time as 2020-12-31 23:59:00",
    "TIMESTAMP WITH TIME ZONE": "a cell that is no day and time as 2020-12-31 23:59:00+00",
}


class CellsError(Exception):
    """A column has a cell that is not what statements were told of it; the message says which."""


def typed(
    connection: Any, held: str, table: str, types: Mapping[str, str], nulls: Sequence[str]
) -> str:
    """Return what is selected of a table so that its texts are what a statement was told.

    Args:
        connection: To DuckDB, which holds the table.
        held: What it calls the table.
        table: What the statement calls it.
        types: Of columns of text, those of `CANDIDATES`.
        nulls: Texts that stand for no value; in these columns they are none.

    Raises:
        CellsError: A cell of a column is none of that, or cannot be kept exactly.
    """
    cells = {name: _cell(name, nulls) for name in types}
    pending = {name: list(CANDIDATES[kind]) for name, kind in types.items()}
    chosen: dict[str, str] = {}
    while pending:
        tried = {name: left.pop(0) for name, left in pending.items()}
        for name, kind in tried.items():
            if kind == "DECIMAL":
                tried[name] = f"DECIMAL({_DIGITS}, {_places(connection, held, cells[name])})"
        # With FILTER, DuckDB keeps room for a batch of every column for each of the counts.
        lost = (
            f"count(CASE WHEN {_lost(cells[n], kind)} THEN {cells[n]} END)"
            for n, kind in tried.items()
        )
        (counts,) = connection.execute(f"SELECT {', '.join(lost)} FROM {quoted(held)}").fetchall()
        for (name, kind), count in zip(tried.items(), counts, strict=True):
            if not count:
                chosen[name] = kind
                del pending[name]
            elif not pending[name]:
                raise CellsError(_message(name, table, types[name]))
    cast = (f"CAST({cells[n]} AS {chosen[n]}) AS {quoted(n)}" for n in types)
    return f"* REPLACE ({', '.join(cast)})" if types else "*"


def _cell(name: str, nulls: Sequence[str]) -> str:
    no_value = ", ".join(map(literal, nulls))
    return f"CASE WHEN {quoted(name)} NOT IN ({no_value}) THEN {quoted(name)} END"


def _lost(cell: str, kind: str) -> str:
    """Return SQL that tells whether a cast of a cell fails, or gives another value."""
    value = f"TRY_CAST({cell} AS {kind})"
    lost = f"{value} IS NULL"
    if kind in _INTEGERS:  # a cast rounds; an E may be a digit of a hexadecimal number
        lost += f" OR regexp_matches({cell}, '^[^xX]*[.eE]')"
    elif kind == "DOUBLE" or kind.startswith("DECIMAL"):
        # The same digits: rounding changes some, as does what is too large or too small.
        spelled = f"CAST({value} AS VARCHAR)"
        lost += (
            f" OR CASE WHEN length({cell}) <= {_ALWAYS_EXACT} AND NOT contains(lower({cell}), 'e') "
            f"THEN false WHEN {spelled} = {cell} THEN false "
            f"ELSE {_significant(cell)} <> {_significant(spelled)} END"
        )
    elif kind == "DATE":
        lost += f" OR regexp_matches({cell}, '[0-9][ T]+[0-9]')"
    elif kind.startswith("TIMESTAMP") and "ZONE" not in kind:
        digits = "" if kind == "TIMESTAMP_NS" else "[.][0-9]{7}|"
        lost += f" OR regexp_matches({cell}, '{digits}:[0-9.]+ *[A-Za-z+-]')"
    return f"({lost})"


def _significant(text: str) -> str:
    """Return SQL of the significant digits of a number as text."""
    mantissa = f"regexp_replace(lower({text}), 'e.*$', '')"
    return f"trim(regexp_replace({mantissa}, '[^0-9]', '', 'g'), '0')"


def _places(connection: Any, held: str, cell: str) -> int:
    """Return how many digits behind the point the cells of a column need."""
    behind = f"length(regexp_extract({cell}, '[.]([0-9]*?)0*([eE]|$)', 1))"
    exponent = f"coalesce(TRY_CAST(regexp_extract({cell}, '[eE](.*)$', 1) AS INTEGER), 0)"
    found = connection.execute(f"SELECT max({behind} - {exponent}) FROM {quoted(held)}").fetchall()
    return min(max(found[0][0] or 0, 0), _DIGITS)


def _message(column: str, table: str, kind: str) -> str:
    return (
        f"column {column[:60]!r} of table {table[:60]!r} is of type {kind} and has "
        f"{_SAID.get(kind, _NUMBER)}; mend that cell, or ask without that column; of a file, "
        "indexing it again makes a column of such cells text"
    )


def quoted(name: str) -> str:
    """Return a name as DuckDB reads it."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: object) -> str:
    """Return a value as DuckDB reads it."""
    if isinstance(value, bool | int):
        return str(value).lower()
    text = str(value).replace("'", "''")
    return f"'{text}'"
