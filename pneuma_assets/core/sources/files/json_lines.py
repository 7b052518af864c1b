"""How JSON is read: DuckDB's own guess first, then a look at all rows, then with losses.

The guess names the columns and their types. Cells are then read as text: a string exactly as it
is, a number without the zeros that a common type would add.
"""

import json
import re
from collections.abc import Sequence

import duckdb

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.sources.bounds import check_width
from pneuma_assets.core.sources.duckdb.relation import WIDE, Relation, readable_columns
from pneuma_assets.core.sources.files.text_layout import (
    SAMPLED_ROWS,
    Layout,
    Options,
    TextFile,
    Unread,
    literal,
    written,
)
from pneuma_assets.core.sources.files.unread_lines import without_empty_rows
from pneuma_assets.core.text import encoding

_OPTIONS: Options = {
    "hive_partitioning": "false",
    "maximum_depth": "3",
    # Objects with many or rarely used keys stay columns instead of becoming one MAP.
    "map_inference_threshold": "-1",
    "field_appearance_threshold": "0",
}


def find_layout(file: TextFile) -> Layout:
    """Read a file of JSON Lines, or of one array, by the strictest options that work.

    Raises:
        duckdb.Error: No options work.
    """
    array = is_array(encoding.decode(file.head))
    first = {**_OPTIONS, "format": "'array'" if array else "'newline_delimited'"}
    every = {**first, "sample_size": "-1"}
    # Of an array nothing can be left out.
    lossy = () if array else ({**every, "ignore_errors": "true"},)
    failure: duckdb.Error | None = None
    for options in (first, every, *lossy):
        try:
            return _read(file, options)
        except duckdb.Error as error:
            file.judge(error)
            failure = error
    raise failure or duckdb.InvalidInputException("it cannot be read")


def _read(file: TextFile, options: Options) -> Layout:
    typed = f"read_json(?, {written(options)})"
    columns = [row[:2] for row in file.ask(f"DESCRIBE SELECT * FROM {typed}").fetchall()]
    check_width(len(columns))
    names = [name for name, _ in columns]
    sql = _as_text(options, names) if _can_be_asked_for(names) else typed
    lossy, unread = "ignore_errors" in options, Unread()
    if lossy:
        sql, unread = without_empty_rows(file, sql, len(columns))
    row_count, _ = file.read(sql, len(columns))
    if row_count > SAMPLED_ROWS and "sample_size" not in options:
        # A key or a type that shows only in later rows is an error here. (A result that is not
        # read to its end keeps the connection from being scanned.)
        for some in chunks(range(len(columns)), WIDE):
            values = ", ".join(f"count(c{i})" for i in some)
            file.ask(f"SELECT {values} FROM {Relation(typed).aliased(len(columns))}").fetchall()
    return Layout(sql, tuple(readable_columns(columns)), row_count, lossy, unread, options=options)


def _can_be_asked_for(names: Sequence[str]) -> bool:
    """Tell whether these are the keys themselves: of keys that differ only in case, one is not."""
    lower = {name.lower() for name in names}
    numbered = (name.lower().rpartition("_") for name in names)
    renamed = any(number.isdecimal() and base in lower for base, _, number in numbered)
    return all(names) and not renamed


def _as_text(options: Options, names: list[str]) -> str:
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
    return f"read_json(?, {written({**options, 'columns': f'{{{columns}}}'})})"


_ARRAY = re.compile(r"\s*\[\s*\{")


def is_array(text: str) -> bool:
    """Tell whether JSON is one array of objects."""
    return _ARRAY.match(text) is not None


def is_one_document(text: str) -> bool:
    """Tell whether lines of JSON are parts of one: the first opens what a later one closes."""
    lines = text.strip().splitlines()
    first = lines[0].strip() if lines else ""
    if is_array(text) or len(lines) < 2 or not first.startswith(("{", "[")) or first.endswith("},"):
        return False
    return first.endswith((",", "{", "["))


def holds_rows(text: str) -> bool:
    """Tell whether a `.json` file is a table; one object is a document, whatever is in it.

    Raises:
        TableReadError: It is an array, of anything but objects.
    """
    if is_array(text):
        return True
    if text.lstrip().startswith("["):
        raise TableReadError(
            "it is a JSON array that does not begin with an object, so it has no columns; write it "
            "as an array of objects, or as CSV"
        )
    first, second, *_ = [*filter(None, map(str.strip, text.splitlines())), "", ""]
    return second.startswith("{") and _is_object(first)


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
