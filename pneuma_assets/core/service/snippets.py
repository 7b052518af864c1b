"""Code that reads a table, for people to copy; every name in it is quoted for its language."""

from collections.abc import Iterator, Sequence

from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.sources.files.names import split_inside
from pneuma_assets.core.sources.names import unescape

MOST_COLUMNS = 50
"""That a statement names; of a wider table it takes all."""

_ROWS = 100
_DUCKDB = {"csv": "read_csv", "tsv": "read_csv", "jsonl": "read_json", "parquet": "read_parquet"}
_PANDAS = {
    "csv": "read_csv({path})",
    "tsv": 'read_csv({path}, sep="\\t")',
    "jsonl": "read_json({path}, lines=True)",
    "parquet": "read_parquet({path})",
    "orc": "read_orc({path})",
    "arrow": "read_feather({path})",
    "excel": "read_excel({path}, sheet_name={name})",
}


def snippets(
    config: SourceConfig | None,
    table_id: str,
    location: str,
    format: str,  # noqa: A002
    columns: Sequence[str],
    asset_key: str | None,
) -> dict[str, str]:
    """Return code by kind: `sql`, `pandas`, `dagster`; what cannot be told is left out.

    Args:
        config: Of the table's source; None where it is not in the deployment file any more.
        table_id: The table.
        location: Where it lies, as its source spells it; empty where that is not to be told.
        format: As its source calls it.
        columns: Its columns as its own engine spells them, hidden ones left out.
        asset_key: Its key in Dagster, if it has one.
    """
    return dict(_snippets(config, table_id, location, format, columns, asset_key))


def _snippets(
    config: SourceConfig | None,
    table_id: str,
    location: str,
    format: str,  # noqa: A002
    columns: Sequence[str],
    asset_key: str | None,
) -> Iterator[tuple[str, str]]:
    dialect = None if config is None else config.sql_dialect
    if dialect is not None:
        statement = _statement(table_id, columns, dialect)
        yield "sql", f"{statement};"
        yield "pandas", f"import pandas as pd\n\ntable = pd.read_sql({statement!r}, connection)"
    elif location:
        yield from _of_file(*split_inside(location, format), format)
    if asset_key is not None:
        key = asset_key.split("/")
        yield "dagster", f"import dagster as dg\n\nkey = dg.AssetKey({key!r})"


def read_by_duckdb(path: str, format: str) -> str | None:  # noqa: A002
    """Return what DuckDB selects from to read a file; None where it reads no such files."""
    literal = path.replace("'", "''")
    return f"{_DUCKDB[format]}('{literal}')" if format in _DUCKDB else None


def _of_file(file: str, name: str, format: str) -> Iterator[tuple[str, str]]:  # noqa: A002
    path = unescape(file)
    if (read := read_by_duckdb(path, format)) is not None:
        yield "sql", f"SELECT * FROM {read} LIMIT {_ROWS};"
    if format in _PANDAS:
        call = _PANDAS[format].format(path=repr(path), name=repr(name))
        yield "pandas", f"import pandas as pd\n\ntable = pd.{call}"


def _statement(table_id: str, columns: Sequence[str], dialect: str) -> str:
    from sqlglot import exp

    *above, name = (unescape(part) for part in table_id.split("/")[1:])
    schema, catalog = [*above[::-1], None, None][:2]
    table = exp.table_(name, db=schema, catalog=catalog, quoted=True)
    named = [exp.column(one, quoted=True) for one in columns[:MOST_COLUMNS]]
    wanted = named if len(named) == len(columns) and named else [exp.Star()]
    statement = exp.select(*wanted).from_(table).limit(_ROWS)
    return statement.sql(dialect=dialect or None, pretty=True)
