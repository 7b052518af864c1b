"""Reads tables and questions from two files of JSON lines.

A table is `{"id", "columns": [str], "rows": [[cell]]}`, and if known `"name"`, what people call it
(`hr/payroll`, `academic.author`, or a list of these parts), `"contexts"`, texts about it, and
`"described"`, texts about its columns. A question is `{"question", "tables": [id]}`; one without a
table is one that no table answers. `"kind"` says what sort of question it is, such as `content`:
figures are counted for each.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from pneuma_assets.core.bench.lines import refuse
from pneuma_assets.core.bench.sets import RetrievalSet
from pneuma_assets.core.bench.target.records import question_records, table_records
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
    asked = _questions(queries, ids)
    return replace(dataset, questions=asked.texts, relevant=asked.relevant, kinds=asked.kinds)


def read_tables(tables: Path) -> RetrievalSet:
    """Read the tables of a set alone, likewise; it has no questions."""
    return _tables(tables, ids_are_names=False)[0]


def read_questions(queries: Path, table_ids: Iterable[str]) -> RetrievalSet:
    """Read questions about tables that are indexed already, named by their ids.

    Raises:
        BenchmarkError: As `read_files`.
    """
    asked = _questions(queries, {one: one for one in table_ids})
    return RetrievalSet("", [], asked.texts, asked.relevant, kinds=asked.kinds)


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
        known = _text(tables, number, record, "id")
        if known in ids:
            refuse(tables, number, f"another table has the id {known!r}")
        name = _name(tables, number, record, known if ids_are_names else "")
        table_id = ids[known] = _table_id(source, name, known)
        read.append(_table(tables, number, table_id, record))
        if name:
            names[table_id] = name
        contexts[table_id] = _texts(tables, number, record, "contexts", [])
        texts = _texts(tables, number, record, "described", [])
        described[table_id] = {at: text for at, text in enumerate(texts) if text.strip()}
    if not read:
        raise BenchmarkError(f"{tables} holds no table; write one JSON object a line")
    return RetrievalSet(source, read, (), (), names, contexts, described=described), ids


def _name(path: Path, number: int, record: Mapping[str, Any], default: str) -> tuple[str, ...]:
    if isinstance(record.get("name"), list):
        return tuple(one for one in _texts(path, number, record, "name") if one.strip())
    return name_parts(_text(path, number, record, "name", default))


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


class _Questions(NamedTuple):
    texts: list[str]
    relevant: list[frozenset[str]]
    kinds: list[str]


def _questions(path: Path, ids: Mapping[str, str]) -> _Questions:
    """Return the questions, and of each the ids of its tables; `ids` are by those in the file."""
    asked = _Questions([], [], [])
    for number, record in question_records(path):
        question = _text(path, number, record, "question")
        try:
            asked.texts.append(checked_question(question))
        except QueryError as error:
            refuse(path, number, str(error))
        wanted = list(dict.fromkeys(_texts(path, number, record, "tables")))
        unknown = [repr(one) for one in wanted if one not in ids]
        if unknown:
            more = f" and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else ""
            refuse(path, number, f"no table has the id {', '.join(unknown[:_NAMED])}{more}")
        asked.relevant.append(frozenset(ids[one] for one in wanted))
        asked.kinds.append(_text(path, number, record, "kind", ""))
    if not asked.texts:
        raise BenchmarkError(f"{path} holds no question; write one JSON object a line")
    return asked


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
