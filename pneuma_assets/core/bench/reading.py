"""Reads tables and questions from two files of JSON lines.

A table is `{"id", "columns": [str], "rows": [[cell]]}`, and if known `"name"`, what people call it
(`hr/payroll`, `academic.author`), and `"contexts"`, texts about it. A question is
`{"question", "tables": [id]}`; one without a table is one that no table answers.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pneuma_assets.core.bench.lines import refuse
from pneuma_assets.core.bench.sets import RetrievalSet
from pneuma_assets.core.bench.target import question_records, table_records
from pneuma_assets.core.errors import BenchmarkError, QueryError
from pneuma_assets.core.search.options import checked_question
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.sources.names import escape_segment
from pneuma_assets.core.tables import Column, Table
from pneuma_assets.core.text.clean import well_formed

MOST_COLUMNS = 10_000
"""As `limits.columns`: a table of more is none that indexing takes by default."""

_NAMED = 5


def read_set(folder: Path, name: str) -> RetrievalSet:
    """Read `name.tables.jsonl` and `name.queries.jsonl`; see `read_files`."""
    return read_files(folder / f"{name}.tables.jsonl", folder / f"{name}.queries.jsonl")


def read_files(tables: Path, queries: Path, *, ids_are_names: bool = False) -> RetrievalSet:
    """Read a set, called after the file of its tables; TARGET's shape (`target`) is read, too.

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
    source = escape_segment(well_formed(tables.name.split(".")[0])) or "set"
    read: list[tuple[Table, list[Row]]] = []
    ids: dict[str, str] = {}
    names: dict[str, tuple[str, ...]] = {}
    contexts: dict[str, list[str]] = {}
    for number, record in table_records(tables):
        known = _text(tables, number, record, "id")
        if known in ids:
            refuse(tables, number, f"another table has the id {known!r}")
        name = name_parts(_text(tables, number, record, "name", known if ids_are_names else ""))
        table_id = ids[known] = _table_id(source, name, known)
        read.append(_table(tables, number, table_id, record))
        if name:
            names[table_id] = name
        contexts[table_id] = _texts(tables, number, record, "contexts", [])
    if not read:
        raise BenchmarkError(f"{tables} holds no table; write one JSON object a line")
    return RetrievalSet(source, read, *_questions(queries, ids), names, contexts)


def read_questions(queries: Path, table_ids: Iterable[str]) -> RetrievalSet:
    """Read questions about tables that are indexed already, named by their ids.

    Raises:
        BenchmarkError: As `read_files`.
    """
    return RetrievalSet("", [], *_questions(queries, {one: one for one in table_ids}))


def name_parts(name: str) -> tuple[str, ...]:
    """Return folders and name of `hr/payroll`, or where there is no slash, of `hr.payroll`."""
    parts = name.split("/" if "/" in name else ".")
    return tuple(part.strip() for part in parts if part.strip())


def _table(
    path: Path, number: int, table_id: str, record: Mapping[str, Any]
) -> tuple[Table, list[Row]]:
    names = _texts(path, number, record, "columns")
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


def _questions(path: Path, ids: Mapping[str, str]) -> tuple[list[str], list[frozenset[str]]]:
    """Return the questions, and of each the ids of its tables; `ids` are by those in the file."""
    questions: list[str] = []
    relevant: list[frozenset[str]] = []
    for number, record in question_records(path):
        question = _text(path, number, record, "question")
        try:
            questions.append(checked_question(question))
        except QueryError as error:
            refuse(path, number, str(error))
        wanted = list(dict.fromkeys(_texts(path, number, record, "tables")))
        unknown = [repr(one) for one in wanted if one not in ids]
        if unknown:
            more = f" and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else ""
            refuse(path, number, f"no table has the id {', '.join(unknown[:_NAMED])}{more}")
        relevant.append(frozenset(ids[one] for one in wanted))
    if not questions:
        raise BenchmarkError(f"{path} holds no question; write one JSON object a line")
    return questions, relevant


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


def _text(
    path: Path, number: int, record: Mapping[str, Any], key: str, default: str | None = None
) -> str:
    value = record.get(key)
    value = default if value is None else value
    if not isinstance(value, str) or (default is None and not value.strip()):
        refuse(path, number, f"'{key}' must be a text that is not empty")
    return well_formed(value)


def _texts(
    path: Path,
    number: int,
    record: Mapping[str, Any],
    key: str,
    default: Sequence[str] | None = None,
) -> list[str]:
    value = record.get(key)
    value = default if value is None else value
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        refuse(path, number, f"'{key}' must be a list of texts")
    return [well_formed(one) for one in value]
