"""Reads sets of tables and questions, as this package or TARGET writes them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.evaluation.evaluate import (
    json_lines,
    questions_of,
    refuse,
    text_of,
    texts_of,
)
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.sources.names import escape_segment
from pneuma_assets.core.tables import Column, Table
from pneuma_assets.core.text.safe import well_formed
from pneuma_bench.sets import RetrievalSet

Record = Mapping[str, Any]

_ROWS_AT_ONCE = 64


def table_records(path: Path) -> Iterator[tuple[int, Record]]:
    """Yield the tables of a file, with the number of each one's line or row.

    Raises:
        BenchmarkError: The file cannot be read, or a table of TARGET's has no header.
    """
    for number, record in _records(path):
        is_theirs = "table_id" in record and "columns" not in record
        yield number, _table_record(path, number, record) if is_theirs else record


def question_records(path: Path) -> Iterator[tuple[int, Record]]:
    """Yield the questions of a file, likewise."""
    for number, record in _records(path):
        yield number, _question_record(record) if "query" in record else record


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


def _table_record(path: Path, number: int, record: Record) -> Record:
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


def _question_record(record: Record) -> Record:
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


MOST_COLUMNS = 10_000
"""A table of more is none that indexing takes."""


def read_set(folder: Path, name: str) -> RetrievalSet:
    """Read `name.tables.jsonl` and `name.queries.jsonl`; see `read_files`."""
    return read_files(folder / f"{name}.tables.jsonl", folder / f"{name}.queries.jsonl")


def read_files(tables: Path, queries: Path, *, ids_are_names: bool = False) -> RetrievalSet:
    """Read a set, called after the file of its tables; TARGET's shape is read, too.

    Rows are cut or filled with None to the width of their table, and cells that are no text are
    spelled as the file has them.

    With `ids_are_names`, a table without a name is known to people by its id.

    Raises:
        BenchmarkError: A file cannot be read, a line is not what it must be, two tables share an
            id, or a question names a table that there is not.
    """
    dataset, ids = _tables(tables, ids_are_names=ids_are_names)
    asked = questions_of(queries, question_records(queries), ids)
    return replace(
        dataset,
        questions=[one.text for one in asked],
        relevant=[one.relevant for one in asked],
        kinds=[one.kind for one in asked],
    )


def read_tables(tables: Path) -> RetrievalSet:
    """Read the tables of a set alone, likewise; it has no questions."""
    return _tables(tables, ids_are_names=False)[0]


def name_parts(name: str) -> tuple[str, ...]:
    """Return folders and name of `hr/payroll`, or where there is no slash, of `hr.payroll`."""
    parts = name.split("/" if "/" in name else ".")
    return tuple(part.strip() for part in parts if part.strip())


def _tables(tables: Path, *, ids_are_names: bool) -> tuple[RetrievalSet, dict[str, str]]:
    """Return a set without questions, and the ids of its tables by those in the file."""
    source = escape_segment(well_formed(tables.name.split(".")[0])) or "set"
    read: list[tuple[Table, list[Row]]] = []
    ids: dict[str, str] = {}
    names: dict[str, tuple[str, ...]] = {}
    contexts: dict[str, list[str]] = {}
    described: dict[str, dict[int, str]] = {}
    for number, record in table_records(tables):
        known = text_of(tables, number, record, "id")
        if known in ids:
            refuse(tables, number, f"another table has the id {known!r}")
        name = _name(tables, number, record, known if ids_are_names else "")
        table_id = ids[known] = _table_id(source, name, known)
        read.append(_table(tables, number, table_id, record))
        if name:
            names[table_id] = name
        contexts[table_id] = texts_of(tables, number, record, "contexts", [])
        texts = texts_of(tables, number, record, "described", [])
        described[table_id] = {at: text for at, text in enumerate(texts) if text.strip()}
    if not read:
        raise BenchmarkError(f"{tables} holds no table; write one JSON object a line")
    return RetrievalSet(source, read, (), (), names, contexts, described=described), ids


def _name(path: Path, number: int, record: Mapping[str, Any], default: str) -> tuple[str, ...]:
    if isinstance(record.get("name"), list):
        return tuple(one for one in texts_of(path, number, record, "name") if one.strip())
    return name_parts(text_of(path, number, record, "name", default))


def _table(
    path: Path, number: int, table_id: str, record: Mapping[str, Any]
) -> tuple[Table, list[Row]]:
    names = texts_of(path, number, record, "columns")
    if len(names) > MOST_COLUMNS:
        refuse(path, number, f"{len(names):,} columns; at most {MOST_COLUMNS:,} can be")
    rows = record.get("rows")
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        refuse(path, number, "'rows' must be a list of lists of cells")
    width = len(names)
    cells: list[Row] = [
        tuple(map(_cell, row[:width])) + (None,) * (width - len(row)) for row in rows
    ]
    columns = tuple(Column(name, "VARCHAR") for name in names)
    return Table(table_id, columns, len(cells), f"{path}#{number}"), cells


def _table_id(source: str, name: Sequence[str], known: str) -> str:
    """Return an id with the folders of a name, as the product's have them, and then the set's own.

    What has no name has no folder: an id says nothing of where its table lies.
    """
    return "/".join(map(escape_segment, (source, *name[:-1], known)))


def _cell(value: Any) -> str | None:
    if value is None:
        return None
    return well_formed(
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    )
