"""Code that reads a table, for people to copy; every name in it is quoted for its language.

It reads text by the options of the reader that made the table's page, so that both show the same.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pneuma_assets.core.answers.infer_types import literal
from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.sources.files.names import PARTITION_MARK, split_inside
from pneuma_assets.core.sources.names import unescape
from pneuma_assets.core.tables import MISSING, Table

MOST_COLUMNS = 50
"""That a statement names; of a wider table it takes all."""

_ROWS = 100
_DUCKDB = {"csv": "read_csv", "tsv": "read_csv", "jsonl": "read_json", "parquet": "read_parquet"}
_PANDAS = {
    **dict.fromkeys(("csv", "tsv"), "read_csv({})"),
    "jsonl": "read_json({}, dtype=False)",
    "parquet": "read_parquet({})",
    "orc": "read_orc({})",
    "arrow": "read_feather({})",
    "excel": "read_excel({}, engine='calamine').dropna(how='all', ignore_index=True)",
}
_TYPES = {"BIGINT": "Int64", "DOUBLE": "float64", "BOOLEAN": "boolean", "VARCHAR": "str"}
_SPELLED = {
    "true_values": ["true", "True", "TRUE", "t", "T", "yes", "Yes", "YES"],
    "false_values": ["false", "False", "FALSE", "f", "F", "no", "No", "NO"],
}


def snippets(
    config: SourceConfig | None,
    table_id: str,
    location: str,
    format: str,  # noqa: A002
    table: Table | None,
    missing: Sequence[str],
    asset_key: str | None,
) -> Iterator[tuple[str, str]]:
    """Yield code and its kind, `sql`, `pandas` or `dagster`; what cannot be told is left out.

    Args:
        config: Of the table's source; None where it is not in the deployment file any more.
        table_id: The table.
        location: Where it lies, as its source spells it; empty where that is not to be told.
        format: As its source calls it.
        table: What was read of it; None before.
        missing: Its cells of text that are NULL.
        asset_key: Its key in Dagster, if it has one.
    """
    dialect = None if config is None else config.sql_dialect
    if dialect is not None:
        shown = () if table is None else [one.name for one in table.columns if not one.hidden]
        whole = shown if table is not None and len(shown) == len(table.columns) else ()
        statement = _statement(table_id, whole, dialect)
        yield "sql", f"{statement};"
        yield "pandas", f"import pandas as pd\n\ntable = pd.read_sql({statement!r}, connection)"
    elif location and table is not None:
        yield from _of_file(*split_inside(location, format), format, table, missing)
    if asset_key is not None:
        key = asset_key.split("/")
        yield "dagster", f"import dagster as dg\n\nkey = dg.AssetKey({key!r})"


def read_by_duckdb(
    path: str,
    format: str,  # noqa: A002
    table: Table | None = None,
    missing: Sequence[str] = MISSING,
) -> str | None:
    """Return what DuckDB selects from to read a file; None where it reads no such files."""
    if format not in _DUCKDB:
        return None
    options = {} if table is None else dict(table.reading)
    if "delim" in options and table is not None:
        options["nullstr"] = f"[{', '.join(map(literal, missing))}]"
        kinds = ", ".join(f"{literal(a)}: {literal(b)}" for a, b in _types(path, table).items())
        named = {"auto_detect": "false", "columns": f"{{{kinds}}}"}
        options |= named if kinds else {"sample_size": "-1"}
    if format == "parquet":
        options["utf8_validation"] = "'replace'"
    if path.endswith(PARTITION_MARK):
        path += "**/[!._]*.*"
        options |= {"hive_partitioning": "true", "union_by_name": "true"}
    given = (f"{name} = {value}" for name, value in options.items())
    return f"{_DUCKDB[format]}({', '.join([literal(path), *given])})"


def _types(path: str, table: Table) -> dict[str, str]:
    """Return the columns that code names with their types; none of wide tables and of folders."""
    wide = len(table.columns) > MOST_COLUMNS or path.endswith(PARTITION_MARK)
    return {} if wide else {one.name: one.type for one in table.columns}


def _of_file(
    file: str,
    name: str,
    format: str,  # noqa: A002
    table: Table,
    missing: Sequence[str],
) -> Iterator[tuple[str, str]]:
    path, options = unescape(file), {one: _plain(value) for one, value in table.reading}
    read = read_by_duckdb(path, format, table, missing)
    encodings = (None, "latin-1") if "delim" in options else (None,)  # without an extension
    if options.get("encoding") in encodings and options.get("compression") in {None, "gzip"}:
        yield from [] if read is None else [("sql", f"SELECT * FROM {read} LIMIT {_ROWS};")]
    is_file = format == "parquet" or not path.endswith(PARTITION_MARK)
    if format in _PANDAS and is_file and options.get("compression") != "lz4":
        given = _by_pandas(name, options, _types(path, table), missing)
        call = ",\n    ".join([repr(path), *(f"{one}={value!r}" for one, value in given.items())])
        yield "pandas", f"import pandas as pd\n\ntable = pd.{_PANDAS[format].format(call)}"


def _plain(value: str) -> Any:
    """Return what an option of DuckDB's readers says, of which all but texts are JSON."""
    return value[1:-1].replace("''", "'") if value.startswith("'") else json.loads(value)


def _by_pandas(
    sheet: str, options: Mapping[str, Any], types: Mapping[str, str], missing: Sequence[str]
) -> dict[str, Any]:
    """Return the arguments by which pandas reads a table with these options of DuckDB."""
    given = {one: options[one] for one in ("compression", "encoding") if one in options}
    given |= {"encoding_errors": "replace"} if "encoding" in given else {}
    if "delim" not in options:
        return given | ({"lines": options["format"] != "array"} if "format" in options else {})
    given |= {"sheet_name": sheet} if sheet else {}
    given |= {"skiprows": options["skip"], "header": 0 if options["header"] else None}
    given |= {"na_values": list(missing), "keep_default_na": False}
    if sheet:
        return given
    dates = {one: f"{kind.split()[0].lower()}format" for one, kind in types.items()}
    dates = {one: key for one, key in dates.items() if key in {"dateformat", "timestampformat"}}
    escape = options["escape"] != options["quote"] and options["escape"]
    others = {
        "sep": options["delim"],
        "quotechar": options["quote"] or None,
        "quoting": None if options["quote"] else 3,
        "escapechar": escape or None,
        "comment": options["comment"] or None,
        "decimal": options.get("decimal_separator"),
        "thousands": options.get("thousands"),
        "on_bad_lines": "skip" if "ignore_errors" in options else None,
        "skip_blank_lines": False if len(types) == 1 else None,
        "names": list(types) or None,
        "dtype": {one: _TYPES[kind] for one, kind in types.items() if kind in _TYPES} or None,
        "parse_dates": list(dates) or None,
        "date_format": {a: options[key] for a, key in dates.items() if key in options} or None,
        **(_SPELLED if "BOOLEAN" in types.values() else {}),
    }
    return given | {name: value for name, value in others.items() if value is not None}


def _statement(table_id: str, columns: Sequence[str], dialect: str) -> str:
    from sqlglot import exp

    *above, name = (unescape(part) for part in table_id.split("/")[1:])
    schema, catalog = [*above[::-1], None, None][:2]
    table = exp.table_(name, db=schema, catalog=catalog, quoted=True)
    named = [exp.column(one, quoted=True) for one in columns[:MOST_COLUMNS]]
    wanted = named if len(named) == len(columns) and named else [exp.Star()]
    statement = exp.select(*wanted).from_(table).limit(_ROWS)
    return statement.sql(dialect=dialect or None, pretty=True)
