"""Rows whose cells a question names, where no model is asked what the question means.

Words of the question that are whole cells of a table are looked up in the index, and the rows that
have them are read as they are now. Nothing is computed of them, and nobody says that they answer.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from sqlglot import exp

from pneuma_assets.core.answers.attempt import Attempts
from pneuma_assets.core.answers.guard import checked
from pneuma_assets.core.answers.results import UNREAD, AnswerTable, NamedRows
from pneuma_assets.core.answers.values import folded
from pneuma_assets.core.errors import (
    SourceError,
    SqlEmptyError,
    SqlFailedError,
    SqlRefusedError,
    TableReadError,
)
from pneuma_assets.core.progress import report
from pneuma_assets.core.sources.base import StatementRows
from pneuma_assets.core.tables import Problem
from pneuma_assets.core.terms.fields import cell_term

MOST_TABLES = 5
"""Tables of which rows are read for a question, those found first."""
MOST_COLUMNS = 40
"""Columns of a table that are compared and shown."""
_MOST_SPELLINGS = 10
"""Spellings of cells that one statement looks for: with all columns it stays within the guard's."""
_WHOLE = re.compile("[0-9]+")


@dataclass(frozen=True, slots=True)
class _Named:
    """What of a question is a cell of one table.

    Attributes:
        table: Its columns are read as the text they are.
        columns: Those that are compared and shown.
        spelled: Of each run of words the cells that it names, as they are stored.
    """

    table: AnswerTable
    columns: Sequence[str]
    spelled: Mapping[str, Sequence[str]]


def named_rows(
    question: str,
    held: Mapping[str, Sequence[str]],
    tables: Sequence[AnswerTable],
    attempts: Attempts,
) -> tuple[list[NamedRows], list[Problem]]:
    """Return rows of tables that have the cells that a question names, and why others gave none.

    Args:
        question: In plain language.
        held: Runs of its words that are whole cells, and the ids of the tables that have them
            (`entities.looking_up.held_values`).
        tables: Those that were found, best first; what rules hide is not among their columns.
        attempts: Where statements run, how many rows are shown, and until when.
    """
    found: list[NamedRows] = []
    problems: list[Problem] = []
    named = [some for one in tables if (some := _named(question, held, one)).spelled]
    for place, one in enumerate(named):
        report("reading rows", place, len(named))
        if place >= MOST_TABLES or attempts.late:
            cause = f"has {_quoted(one.spelled)}, too, and was not read: name it to see its rows"
            problems.append(Problem(one.table.table_id, UNREAD, cause))
            continue
        try:
            found.append(_read(one, attempts))
        except (SqlRefusedError, SqlFailedError, SourceError, TableReadError) as error:
            problems.append(Problem(one.table.table_id, UNREAD, str(error)))
    return found, problems


def _named(question: str, held: Mapping[str, Sequence[str]], table: AnswerTable) -> _Named:
    texts = {cell_term(text): text for text, ids in held.items() if table.table_id in ids}
    spelled: dict[str, set[str]] = {}
    seen_in = set()
    for column, cell in _cells(table) if texts else ():
        text = texts.get(cell_term(cell))
        if text is not None:
            spelled.setdefault(text, set()).add(cell)
            seen_in.add(column)
    meant = (
        (text, cell) for text, some in spelled.items() for cell in _meant(text, some, question)
    )
    kept: dict[str, list[str]] = {}
    for text, cell in islice(meant, _MOST_SPELLINGS):
        kept.setdefault(text, []).append(cell)
    names = [one.name for one in table.columns]
    first = frozenset(sorted(names, key=lambda name: name not in seen_in)[:MOST_COLUMNS])
    as_text = replace(table, columns=tuple(replace(one, type="VARCHAR") for one in table.columns))
    return _Named(as_text, [name for name in names if name in first], kept)


def _cells(table: AnswerTable) -> Iterator[tuple[str, str]]:
    """Yield the cells that the index keeps with their columns; of some nobody knows these: ''."""
    for column in table.columns:
        for cell in table.spellings(column.name):
            yield column.name, cell
    for cell in table.evidence.cells:
        yield "", cell


def _meant(text: str, spelled: set[str], question: str) -> list[str]:
    """Return the cells that a run of words means, of those that differ from it in signs alone.

    That are those that stand in the question with their signs, the longest of them (`C++`, not
    `C`); else all, but of a number none: 500 is neither -500 nor 5.00.
    """
    asked = _plain(question)
    said = {
        cell: len(_plain(cell))
        for cell in spelled
        if re.search(rf"(?<!\w){re.escape(_plain(cell))}(?!\w)", asked)
    }
    if not said:
        return [] if _WHOLE.fullmatch(text) else sorted(spelled)
    return sorted(cell for cell, length in said.items() if length == max(said.values()))


def _plain(text: str) -> str:
    return folded(text).replace(",", "")


def _read(named: _Named, attempts: Attempts) -> NamedRows:
    """Return rows that have all of the words as cells; where none has, those that have any."""
    table = named.table
    dialect = attempts.runner.dialect([table])
    for together in (True, False) if len(named.spelled) > 1 else (True,):
        sql = _statement(named, together=together).sql(dialect=dialect)
        statement = checked(sql, [table.read], dialect, attempts.most_rows)
        found = attempts.runner.run(statement, [table])
        if found.rows:
            matched = _matched(named, found)
            return NamedRows(
                *(table.table_id, found.columns, found.rows, found.more, matched, together),
                sql=statement.sql,
                unread=table.unread,
            )
    raise SqlEmptyError(
        f"no row has {_quoted(named.spelled)} now, in the {len(named.columns)} columns that were "
        "read; if it has changed, index it again"
    )


def _statement(named: _Named, *, together: bool) -> exp.Select:
    """Return the query of rows of which any column is as one of the spellings, in any capitals."""
    names = [exp.column(one, quoted=True) for one in named.columns]
    texts = [exp.Lower(this=exp.cast(name, "text")) for name in names]
    held = [
        exp.or_(
            *(
                exp.In(
                    this=exp.Lower(this=exp.Literal.string(cell)),
                    expressions=[text.copy() for text in texts],
                )
                for cell in _as_engines_write(cells)
            )
        )
        for cells in named.spelled.values()
    ]
    table = exp.Table(this=exp.to_identifier(named.table.read.name, quoted=True))
    where = exp.and_(*held) if together else exp.or_(*held)
    return exp.select(*names).from_(table).where(where)


def _as_engines_write(cells: Sequence[str]) -> list[str]:
    """Return cells with whole numbers as an engine writes them of a column of floats, too."""
    return [*cells, *(f"{cell}.0" for cell in cells if _WHOLE.fullmatch(cell))]


def _matched(named: _Named, found: StatementRows) -> dict[str, tuple[str, ...]]:
    """Return of each run of words the columns in which the rows have it."""
    columns = list(zip(*found.rows, strict=True))
    said = [{folded(_text(cell)) for cell in cells if cell is not None} for cells in columns]
    having = {
        text: tuple(
            name
            for name, some in zip(found.columns, said, strict=True)
            if not some.isdisjoint(map(folded, cells))
        )
        for text, cells in named.spelled.items()
    }
    return {text: names for text, names in having.items() if names}


def _text(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _quoted(texts: Mapping[str, Any]) -> str:
    return ", ".join(map(repr, texts))
