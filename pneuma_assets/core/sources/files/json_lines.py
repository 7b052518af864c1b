"""How JSON is read: DuckDB's own guess first, then a look at all rows, then with losses.

The guess names the columns and their types. Cells are then read as text: a string exactly as it
is, a number without the zeros that a common type would add.
"""

from collections.abc import Sequence
from pathlib import Path

import duckdb

from pneuma_assets.core.sources.bounds import check_width
from pneuma_assets.core.sources.duckdb.relation import Relation, readable_columns
from pneuma_assets.core.sources.files.json_shape import is_array
from pneuma_assets.core.sources.files.layout import Layout, Look, Options, literal, written
from pneuma_assets.core.text import encoding

SAMPLED_ROWS = 20_000
"""DuckDB guesses from this many rows; a longer file is also read by its types, to check them."""

_OPTIONS: Options = {
    "hive_partitioning": "false",
    "maximum_depth": "3",
    # Objects with many or rarely used keys stay columns instead of becoming one MAP.
    "map_inference_threshold": "-1",
    "field_appearance_threshold": "0",
}


def find_layout(connection: duckdb.DuckDBPyConnection, file: str, look: Look) -> Layout:
    """Read a file of JSON Lines, or of one array, by the strictest options that work.

    Raises:
        duckdb.Error: No options work.
    """
    array = is_array(encoding.decode(encoding.read_head(Path(file))[0]))
    first = {**_OPTIONS, "format": "'array'" if array else "'newline_delimited'"}
    every = {**first, "sample_size": "-1"}
    # Of an array nothing can be left out.
    lossy = () if array else ({**every, "ignore_errors": "true"},)
    failure: duckdb.Error | None = None
    for options in (first, every, *lossy):
        try:
            return _read(connection, file, options, look)
        except duckdb.Error as error:
            look.judge(error)
            failure = error
    raise failure or duckdb.InvalidInputException("it cannot be read")


def _read(connection: duckdb.DuckDBPyConnection, file: str, options: Options, look: Look) -> Layout:
    typed = f"read_json(?, {written(options)})"
    found = connection.execute(f"DESCRIBE SELECT * FROM {typed}", [file]).fetchall()
    check_width(len(found))
    columns = [(row[0], row[1]) for row in found]
    names = [name for name, _ in columns]
    sql = _as_text(options, names) if _can_be_asked_for(names) else typed
    row_count, _ = look(file, sql, len(columns))
    if row_count > SAMPLED_ROWS and "sample_size" not in options:
        values = ", ".join(f"count(c{i})" for i in range(len(columns)))
        # A key or a type that shows only in later rows is an error here. (A result that is not
        # read to its end keeps the connection from being scanned.)
        every = f"SELECT {values} FROM {Relation(typed).aliased(len(columns))}"
        connection.execute(every, [file]).fetchall()
    lossy = "ignore_errors" in options
    return Layout(sql, tuple(readable_columns(columns)), row_count, lossy)


def _can_be_asked_for(names: Sequence[str]) -> bool:
    """Tell whether these are the keys themselves: of keys that differ only in case, one is not."""
    lower = {name.lower() for name in names}
    numbered = (name.lower().rpartition("_") for name in names)
    renamed = any(number.isdecimal() and base in lower for base, _, number in numbered)
    return all(names) and not renamed


def _as_text(options: Options, names: list[str]) -> str:
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
    return f"read_json(?, {written({**options, 'columns': f'{{{columns}}}'})})"
