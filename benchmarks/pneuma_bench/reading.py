"""Reads tables and questions from two files of JSON lines.

A table is `{"id", "columns": [str], "rows": [[cell]]}`, and if known `"name"`, what people call it
(`hr/payroll`, `academic.author`, or a list of these parts), `"contexts"`, texts about it, and
`"described"`, texts about its columns. A question is `{"question", "tables": [id]}`; one without a
table is one that no table answers. `"kind"` says what sort of question it is, such as `content`:
figures are counted for each.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.measure.evaluate import questions_of, refuse, text_of, texts_of
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.sources.names import escape_segment
from pneuma_assets.core.tables import Column, Table
from pneuma_assets.core.text.safe import well_formed
from pneuma_bench.sets import RetrievalSet
from pneuma_bench.target.records import question_records, table_records

MOST_COLUMNS = 10_000
"""As `limits.columns`: a table of more is none that indexing takes by default."""


def read_set(folder: Path, name: str) -> RetrievalSet:
    """Read `name.tables.jsonl` and `name.queries.jsonl`; see `read_files`."""
    return read_files(folder / f"{name}.tables.jsonl", folder / f"{name}.queries.jsonl")


def read_files(tables: Path, queries: Path, *, ids_are_names: bool = False) -> RetrievalSet:
    """Read a set, called after the file of its tables; TARGET's shape is read, too.

    Rows are cut or filled with None to the width of their table, and cells that are no text are
    spelled as the file has them.

    Args:
        tables: The file of the tables.
        queries: The file of the questions.
        ids_are_names: Whether a table without a name is known to people by its id.

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
