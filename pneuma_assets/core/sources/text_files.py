"""How CSV and JSON Lines are read: DuckDB's own guess first, then ever more lenient.

Each attempt reads the whole table once. A table that only reads with losses says so in a note.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.relation import Relation, count_values, describe
from pneuma_assets.core.sources.staging import OpenTable
from pneuma_assets.core.tables import Column

Options = Mapping[str, str]
"""DuckDB reader options; the values are SQL, and only this module writes them."""

_CSV_OPTIONS: Options = {
    # Rows of up to 16 MB, in buffers that still fit the memory limit.
    "max_line_size": "16777216",
    "buffer_size": "33554432",
}
_JSON_OPTIONS: Options = {
    "format": "'newline_delimited'",
    "maximum_depth": "3",
    # Objects with many or rarely used keys stay columns instead of becoming one MAP.
    "map_inference_threshold": "-1",
    "field_appearance_threshold": "0",
}
_RAGGED: Options = {"null_padding": "true", "strict_mode": "false"}
_DELIMITERS = frozenset(",;|\t")

LOSSY = "lines that do not fit the other lines were left out"
"""The note of a table that could only be read without some of its lines."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a text table was read without an error, so that it need not be found out again."""

    options: Options
    transcoded: bool
    row_count: int

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know of the reading."""
        return (LOSSY,) if "ignore_errors" in self.options else ()


def relation(table: OpenTable, options: Options) -> Relation:
    """Return what to select from."""
    function = "read_json" if table.format == "jsonl" else "read_csv"
    options = {
        **options,
        "hive_partitioning": str(table.partitioned).lower(),
        "union_by_name": str(table.partitioned).lower(),
    }
    written = ", ".join(f"{name} = {value}" for name, value in options.items())
    return Relation(f"{function}(?, {written})", (table.files,))


def find_recipe(table: OpenTable) -> tuple[Recipe, list[Column]]:
    """Read the whole table, by the strictest options that work.

    Raises:
        duckdb.Error: No options work.
        TableReadError: There is nothing in it.
    """
    json_lines = table.format == "jsonl"
    options = _JSON_OPTIONS if json_lines else _CSV_OPTIONS
    if table.format == "tsv":
        options = {**options, "delim": "'\t'"}
    transcoded = False
    while True:
        try:
            recipe, columns, values = _attempt(table, options, transcoded)
        except duckdb.OutOfMemoryException:
            raise
        except duckdb.Error as error:
            if not transcoded and _is_encoding_error(error):
                table.transcode()
                transcoded = True
                continue
            looser = loosened(options, error, json_lines=json_lines)
            if looser is None:
                raise
        else:
            looser = None if json_lines else undelimited(options, columns)
            if looser is None:
                _require_content(columns, values, recipe)
                return recipe, columns
        options = looser


def undelimited(options: Options, columns: Sequence[Column]) -> Options | None:
    """Return what to try when the only column's name holds a delimiter, None if all is well.

    Either the delimiter is not the one that the extension promised, or ragged rows hid it.
    """
    if len(columns) != 1 or not any(sign in columns[0].name for sign in _DELIMITERS):
        return None
    if "delim" in options:
        return _without_delimiter(options)
    return None if "null_padding" in options else {**options, **_RAGGED}


def loosened(options: Options, error: duckdb.Error, *, json_lines: bool) -> Options | None:
    """Return the next options to try after an error, None when there are none left.

    A value that does not fit its column's type asks for a look at all rows before the types are
    chosen; anything else for padding of short rows; then every column becomes text; and at last
    lines that cannot be read are left out.
    """
    if "delim" in options:
        return _without_delimiter(options)
    if json_lines:
        steps: tuple[Options, ...] = ({"sample_size": "-1"}, {"ignore_errors": "true"})
    elif isinstance(error, duckdb.ConversionException):
        steps = ({"sample_size": "-1"}, {"all_varchar": "true"}, {"ignore_errors": "true"})
    else:
        steps = (_RAGGED, {"all_varchar": "true"}, {"ignore_errors": "true"})
    for step in steps:
        if not step.keys() <= options.keys():
            return {**options, **step}
    return None


def _attempt(
    table: OpenTable, options: Options, transcoded: bool
) -> tuple[Recipe, list[Column], list[int]]:
    source = relation(table, options)
    columns = describe(table.connection, source)
    row_count, values = count_values(table.connection, source, len(columns))
    return Recipe(options, transcoded, row_count), columns, values


def _is_encoding_error(error: duckdb.Error) -> bool:
    text = str(error).lower()
    return any(sign in text for sign in ("unicode", "utf-8", "utf8", "control character"))


def _without_delimiter(options: Options) -> Options:
    return {name: value for name, value in options.items() if name != "delim"}


def _require_content(columns: list[Column], values: list[int], recipe: Recipe) -> None:
    named = any(column.name not in {f"column{i}", "json"} for i, column in enumerate(columns))
    if not named and not any(values):
        raise TableReadError("it holds neither column names nor values; write the file again")
    if "ignore_errors" in recipe.options and recipe.row_count == 0:
        raise TableReadError("none of its lines can be read; write the file again")
