"""Questions of a warehouse with right statements: which of these are right in SQLite, too.

The statements are in PostgreSQL's dialect, several a question, and the rows of the right answer
stand beside them. A statement is kept if, respelled by sqlglot, it gives these rows on the
databases of SQLite that are made of the same tables.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from pneuma_assets.core.measure.evaluate import json_lines, refuse
from pneuma_bench.files import whole
from pneuma_bench.target.executing import StatementError, run

_DIGITS = Decimal("0.00001")


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question and the statements that are right; TARGET's package knows the first one alone."""

    question: str
    tables: tuple[str, ...]
    statements: tuple[str, ...]


def gold_questions(queries: Path, databases: Path) -> tuple[list[GoldQuestion], dict[str, int]]:
    """Return the questions that some statement answers rightly here, and why others are not there.

    Args:
        queries: Objects with `question`, `schema`, `tables`, `gold` and `answer`.
        databases: The folder of the databases; a schema is one of them.

    Raises:
        BenchmarkError: The file cannot be read.
    """
    kept: list[GoldQuestion] = []
    gone: dict[str, int] = {}
    for number, record in json_lines(queries):
        question, tables = _asked(queries, number, record)
        if not tables:
            reason = "no table answers it"
        elif not record.get("answer"):
            reason = "its answer is not known, or has no row"
        else:
            statements = _right(queries, number, record, databases)
            reason = "" if statements else "no statement gives its answer in SQLite"
            if statements:
                kept.append(GoldQuestion(question, tables, statements))
        if reason:
            gone[reason] = gone.get(reason, 0) + 1
    return kept, gone


def write_gold(path: Path, questions: Iterable[GoldQuestion]) -> None:
    """Write questions as a set's file: `answer` is the first statement, `answers` are all.

    Raises:
        BenchmarkError: The file cannot be written.
    """
    with whole(path) as stream:
        for one in questions:
            record = {"question": one.question, "tables": list(one.tables),
                      "answer": one.statements[0], "answers": list(one.statements)}  # fmt: skip
            stream.write(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n")


def respelled(sql: str) -> str:
    """Return a statement of PostgreSQL's in SQLite's dialect; empty where sqlglot cannot."""
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        return sqlglot.transpile(sql, read="postgres", write="sqlite")[0]
    except (SqlglotError, RecursionError, IndexError):
        return ""


def _asked(path: Path, number: int, record: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    question, tables = record.get("question"), record.get("tables") or []
    if not isinstance(question, str):
        refuse(path, number, "'question' must be a text")
    if not isinstance(tables, list) or not all(isinstance(one, str) for one in tables):
        refuse(path, number, "'tables' must be a list of ids")
    return question, tuple(tables)


def _right(path: Path, number: int, record: Mapping[str, Any], databases: Path) -> tuple[str, ...]:
    gold, answer = record.get("gold"), record["answer"]
    if not isinstance(gold, list) or not isinstance(answer, list):
        refuse(path, number, "'gold' must be a list of statements, 'answer' one of rows")
    wanted = [tuple(row) if isinstance(row, list) else (row,) for row in answer]
    found = []
    for sql in dict.fromkeys(respelled(str(one)) for one in gold):
        try:
            rows = run(databases, str(record.get("schema", "")), sql) if sql else []
        except StatementError:
            continue
        if rows and _values(rows) == _values(wanted):
            found.append(sql)
    return tuple(found)


def _values(rows: Iterable[Iterable[Any]]) -> set[tuple[str, ...]]:
    """Return rows as texts, numbers to five places: engines round in other ways."""
    return {tuple(map(_value, row)) for row in rows}


def _value(cell: Any) -> str:
    if isinstance(cell, bool):
        return str(int(cell))
    try:
        number = Decimal(str(cell))
        return str(number.quantize(_DIGITS).normalize() + 0) if number.is_finite() else str(cell)
    except InvalidOperation:
        return str(cell)
