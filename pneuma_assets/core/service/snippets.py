"""Code that reads a table, for people to copy; every name in it is quoted for its language.

It reads text by the options of the reader that made the table's page, so that both show the same.
"""

from collections.abc import Iterator, Sequence

from pneuma_assets.core.answers.infer_types import literal
from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.sources.files.names import PARTITION_MARK, split_inside
from pneuma_assets.core.sources.names import unescape
from pneuma_assets.core.tables import MISSING, Table

MOST_COLUMNS = 50
"""That a statement names; of a wider table it takes all."""

_ROWS = 100
_DUCKDB = {"csv": "read_csv", "tsv": "read_csv", "jsonl": "read_json", "parquet": "read_parquet"}
_PANDAS = {"orc": "read_orc", "arrow": "read_feather"}
_BY_OPTIONS = {**dict.fromkeys(("csv", "tsv", "excel"), "delim"), "jsonl": "format"}
"""Formats that are read by options, and one that each reading of them has."""


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
        wide = len(table.columns) > MOST_COLUMNS or path.endswith(PARTITION_MARK)
        kinds = ", ".join(f"{literal(one.name)}: {literal(one.type)}" for one in table.columns)
        named = {"auto_detect": "false", "columns": f"{{{kinds}}}"}
        options |= {"sample_size": "-1"} if wide or not kinds else named
    if format == "parquet":
        options["utf8_validation"] = "'replace'"
    if path.endswith(PARTITION_MARK):
        path += "**/[!._]*.*"
        options |= {"hive_partitioning": "true", "union_by_name": "true"}
    given = (f"{name} = {value}" for name, value in options.items())
    return f"{_DUCKDB[format]}({', '.join([literal(path), *given])})"


def _of_file(
    file: str,
    name: str,
    format: str,  # noqa: A002
    table: Table,
    missing: Sequence[str],
) -> Iterator[tuple[str, str]]:
    path, options = unescape(file), dict(table.reading)
    read = read_by_duckdb(path, format, table, missing)
    if _BY_OPTIONS.get(format, "") not in {"", *options} or "encoding" in options:
        return
    if read is not None:
        yield "sql", f"SELECT * FROM {read} LIMIT {_ROWS};"
        yield "pandas", f"import duckdb\n\ntable = duckdb.sql({f'SELECT * FROM {read}'!r}).df()"
    elif format == "excel" and "decimal_separator" not in options:
        header = 0 if options["header"] == "true" else None
        call = (
            f"read_excel({path!r}, sheet_name={name!r}, engine='calamine', header={header},\n"
            f"    skiprows={options['skip']}, na_values={[*missing]!r}, keep_default_na=False)\n"
            "table = table.dropna(how='all', ignore_index=True)"
        )
        yield "pandas", f"import pandas as pd\n\ntable = pd.{call}"
    elif format in _PANDAS:
        yield "pandas", f"import pandas as pd\n\ntable = pd.{_PANDAS[format]}({path!r})"


def _statement(table_id: str, columns: Sequence[str], dialect: str) -> str:
    from sqlglot import exp

    *above, name = (unescape(part) for part in table_id.split("/")[1:])
    schema, catalog = [*above[::-1], None, None][:2]
    table = exp.table_(name, db=schema, catalog=catalog, quoted=True)
    named = [exp.column(one, quoted=True) for one in columns[:MOST_COLUMNS]]
    wanted = named if len(named) == len(columns) and named else [exp.Star()]
    statement = exp.select(*wanted).from_(table).limit(_ROWS)
    return statement.sql(dialect=dialect or None, pretty=True)
