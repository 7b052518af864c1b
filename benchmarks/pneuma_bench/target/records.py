"""Reads what is published for the TARGET benchmark (Ji et al., 2025), in JSON lines or Parquet.

A table there has `database_id`, `table_id`, `table` (rows of cells, the first one the header) and
`context` (what is known of it, by key); a question has `query`, `database_id` and `table_id`, one
or a list. Each becomes the record that `reading` takes; records of that shape pass unchanged.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.measure.evaluate import json_lines, refuse

Record = Mapping[str, Any]

_ROWS_AT_ONCE = 64


def table_records(path: Path) -> Iterator[tuple[int, Record]]:
    """Yield the tables of a file, with the number of each one's line or row.

    Raises:
        BenchmarkError: The file cannot be read, or a table of TARGET's has no header.
    """
    for number, record in _records(path):
        is_theirs = "table_id" in record and "columns" not in record
        yield number, _table(path, number, record) if is_theirs else record


def question_records(path: Path) -> Iterator[tuple[int, Record]]:
    """Yield the questions of a file, likewise."""
    for number, record in _records(path):
        yield number, _question(record) if "query" in record else record


def _records(path: Path) -> Iterator[tuple[int, Record]]:
    return _parquet_rows(path) if path.suffix.lower() == ".parquet" else json_lines(path)


def _parquet_rows(path: Path) -> Iterator[tuple[int, Record]]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            number = 0
            for batch in file.iter_batches(_ROWS_AT_ONCE):
                for record in batch.to_pylist():
                    number += 1
                    yield number, record
    except (OSError, pa.ArrowException) as error:
        raise BenchmarkError(f"cannot read {path} ({error}); is it a Parquet file?") from error


def _table(path: Path, number: int, record: Record) -> Record:
    table = record.get("table")
    if not isinstance(table, list) or not table or not isinstance(table[0], list):
        refuse(path, number, "'table' must be a list of rows, the first one the header")
    return {
        "id": _id(record.get("database_id"), record["table_id"]),
        "columns": ["" if name is None else str(name) for name in table[0]],
        "rows": table[1:],
        "name": record.get("name"),
        "contexts": _contexts(record.get("context")),
    }


def _question(record: Record) -> Record:
    wanted = record.get("table_id")
    several = wanted if isinstance(wanted, list) else [wanted]
    database = record.get("database_id")
    return {
        "question": record["query"],
        "tables": [_id(database, one) for one in several if one is not None],
    }


def _id(database: Any, table: Any) -> str:
    return str(table) if database is None else f"{database}.{table}"


def _contexts(context: Any) -> list[str]:
    """Return what is known of a table as one text, a line a key; empty values say nothing."""
    if isinstance(context, Mapping):
        lines = [f"{key}: {_shown(value)}" for key, value in context.items() if value]
        return ["\n".join(lines)] if lines else []
    return [context] if isinstance(context, str) and context.strip() else []


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
