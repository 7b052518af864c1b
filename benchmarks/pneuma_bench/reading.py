"""Reads sets of tables and questions, as this package or TARGET writes them."""

import json
import re
from collections.abc import Iterator, Mapping
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
from pneuma_assets.core.relations.join_graph import JoinEdge, JoinKind
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.sources.files.text_table import common_kind, kind_of_value
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
        "answer": record.get("answer"),
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


def read_files(
    tables: Path,
    queries: Path,
    joins: Path | None = None,
    *,
    hide_names: bool = False,
    documents: bool = False,
) -> RetrievalSet:
    """Read a set, called after the file of its tables; TARGET's shape is read, too.

    Rows are cut or filled with None to the width of their table, and cells that are no text are
    spelled as the file has them. A table without a name is known to people by its id.

    Args:
        tables: The file of the tables.
        queries: The file of the questions.
        joins: A file of the joins that the set declares.
        hide_names: Whether tables are without the names that they have, and so without relations.
        documents: Whether descriptions of columns are a data dictionary beside each table.

    Raises:
        BenchmarkError: A file cannot be read, a line is not what it must be, two tables share an
            id, or a question or join names a table that there is not.
    """
    dataset, ids = _tables(tables, hide_names=hide_names, documents=documents)
    asked = questions_of(queries, question_records(queries), ids)
    return replace(
        dataset,
        joins=[] if joins is None else [_join(joins, *one, ids) for one in json_lines(joins)],
        questions=[one.text for one in asked],
        relevant=[one.relevant for one in asked],
        kinds=[one.kind for one in asked],
    )


def read_tables(tables: Path, *, hide_names: bool = False) -> RetrievalSet:
    """Read the tables of a set alone, likewise; it has no questions."""
    return _tables(tables, hide_names=hide_names)[0]


def _join(path: Path, number: int, record: Record, ids: Mapping[str, str]) -> JoinEdge:
    """Return a join of a file's line; only a foreign key says which table refers to which."""
    one, other = (text_of(path, number, record, side) for side in "ab")
    mine, theirs = (tuple(texts_of(path, number, record, f"{side}_columns")) for side in "ab")
    if unknown := {one, other} - ids.keys():
        refuse(path, number, f"no table has the id {min(unknown)!r}")
    if not mine or len(mine) != len(theirs):
        refuse(path, number, "'a_columns' and 'b_columns' must be equally many, and not none")
    kind = JoinKind.DECLARED if record.get("from") == "foreign key" else JoinKind.VIEW
    return JoinEdge(ids[one], mine, ids[other], theirs, kind, 1.0)


def name_parts(name: str) -> tuple[str, ...]:
    """Return folders and name of `hr/payroll`, or where there is no slash, of `hr.payroll`."""
    parts = name.split("/" if "/" in name else ".")
    return tuple(part.strip() for part in parts if part.strip())


def _tables(
    tables: Path, *, hide_names: bool, documents: bool = False
) -> tuple[RetrievalSet, dict[str, str]]:
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
        name = () if hide_names else _name(tables, number, record, known)
        table_id = "/".join(map(escape_segment, (source, *(name or (known,)))))
        while table_id in contexts:  # tables of one name
            table_id += "." + escape_segment(known)
        ids[known] = table_id
        read.append(_table(tables, number, table_id, record))
        if name:
            names[table_id] = name
        contexts[table_id] = texts_of(tables, number, record, "contexts", [])
        texts = texts_of(tables, number, record, "descriptions", [])
        described[table_id] = {at: text for at, text in enumerate(texts) if text.strip()}
        if documents and described[table_id]:
            named = zip(texts_of(tables, number, record, "columns"), texts, strict=False)
            lines = [f"{column}: {text}" for column, text in named if text.strip()]
            contexts[table_id].append("\n".join([*(f"# {one}\n" for one in name[-1:]), *lines]))
    if not read:
        raise BenchmarkError(f"{tables} holds no table; write one JSON object a line")
    spelled = {table_id: known for known, table_id in ids.items()}
    dataset = RetrievalSet(source, read, (), (), names, contexts, (), described, spelled)
    return dataset, ids


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
    columns = tuple(
        Column(name, common_kind({_kind(row[at]) for row in cells}))
        for at, name in enumerate(names)
    )
    return Table(table_id, columns, len(cells), f"{path}#{number}"), cells


_NUMBER = re.compile(r"[-+]?(?=\.?\d)(?!0\d)\d*+(?:\.\d++)?(?:[eE][-+]?\d++)?")


def _kind(cell: str | None) -> str:
    """Return the type that a cell would have in a CSV file, where columns of numbers are numbers.

    What is said of a column without a model depends on that.
    """
    kind = kind_of_value(cell or None)
    return "DOUBLE" if kind == "VARCHAR" and _NUMBER.fullmatch(cell or "") else kind


def _cell(value: Any) -> str | None:
    if value is None:
        return None
    return well_formed(
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    )
