"""Finds the columns of a text file that are numbers with a decimal comma: 3,5 or 1.234,56.

A column is one where every cell is such a number and one cell at least can be nothing else. So
1,234 and 12,345 stay text: they may be thousands. A comma in a file that is parted by commas is
more often that of a list, so there a cell has to have what no list has: points between
thousands, or a fraction that begins with a nought.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import duckdb

from pneuma_assets.core.sources.duckdb.relation import Relation
from pneuma_assets.core.sources.files.layout import literal
from pneuma_assets.core.text.encoding import HEAD_BYTES, read_head

_FIRST_ROWS = 1_000
"""A column that has other cells in these is not looked at further."""

_WHOLE = "(0|[1-9][0-9]{0,17}|[1-9][0-9]{0,2}([.][0-9]{3}){1,5})"
_NUMBER = f" *[+-]?{_WHOLE}(,[0-9]{{1,30}})? *"
_CERTAIN = " *[+-]?([0-9.]+[.][0-9]{3},[0-9]+|[0-9]+,0([0-9]|[0-9]{3,30})) *"
_LIKELY = f"{_CERTAIN}| *[+-]?([0-9]+,([0-9]{{1,2}}|[0-9]{{4,}})|(0|[0-9]{{4,}}),[0-9]+) *"
_SEEN = re.compile(rb"[0-9],[0-9]")
_SEEN_QUOTED = re.compile(rb'"[ +-]*[0-9][0-9.]*,[0-9]+ *"')


def decimal_columns(
    connection: duckdb.DuckDBPyConnection,
    file: str,
    sql: str,
    kinds: Sequence[str],
    nulls: str,
    delimiter: str,
) -> list[int]:
    """Return the positions of the columns that are such numbers.

    Args:
        connection: Where to read.
        file: The file's name.
        sql: How it is read, cells as text.
        kinds: The types of its columns; only those of text are looked at.
        nulls: Spellings of no value, as SQL.
        delimiter: What parts its cells.
    """
    by_commas = delimiter == ","
    head, _ = read_head(Path(file))
    if not (_SEEN_QUOTED if by_commas else _SEEN).search(head):
        return []
    found = [position for position, kind in enumerate(kinds) if kind == "VARCHAR"]
    for rows in (f" LIMIT {_FIRST_ROWS}", ""):
        if not found:
            return []
        cells = f"SELECT * FROM {Relation(sql).aliased(len(kinds))}{rows}"
        told = (
            f"bool_and(CASE WHEN c{at} NOT IN ({nulls}) "
            f"THEN regexp_full_match(c{at}, {literal(_NUMBER)}) END), "
            f"bool_or(regexp_full_match(c{at}, {literal(_CERTAIN if by_commas else _LIKELY)}))"
            for at in found
        )
        (answers,) = connection.execute(
            f"SELECT {', '.join(told)} FROM ({cells})", [file]
        ).fetchall()
        pairs = zip(found, answers[::2], answers[1::2], strict=True)
        found = [at for at, every, one in pairs if every and (one or rows)]
    return found


def evident_delimiter(file: str) -> str:
    """Return what parts the cells of a file whose commas may be decimal; empty: nothing is evident.

    It stands in every line equally often, and in the first there is no comma. DuckDB takes the
    commas for delimiters where every cell has one.
    """
    head, _ = read_head(Path(file))
    complete = head if len(head) < HEAD_BYTES else head.rpartition(b"\n")[0]
    lines = [line for line in complete.splitlines() if line.strip()][:_FIRST_ROWS]
    if len(lines) < 2 or b"," in lines[0] or not any(_SEEN.search(line) for line in lines):
        return ""
    signs = (sign for sign in (";", "\t", "|") if sign.encode() in lines[0])
    return next(
        (sign for sign in signs if len({line.count(sign.encode()) for line in lines}) == 1), ""
    )


def with_points(sql: str, width: int, positions: Sequence[int]) -> str:
    """Return how to read a file so that these columns have a decimal point: 1234.56."""
    cells = (
        f"replace(replace(c{at}, '.', ''), ',', '.')" if at in positions else f"c{at}"
        for at in range(width)
    )
    return f"(SELECT {', '.join(cells)} FROM {Relation(sql).aliased(width)})"
