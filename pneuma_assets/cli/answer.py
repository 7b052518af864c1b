"""`pneuma-assets answer`: the cells that answer a question, and the statement that gave them.

Without a model: the rows with cells that the question names.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.options import (
    ConfigOption,
    HomeOption,
    JsonOption,
    ReadersOption,
    SourceOption,
    load,
)
from pneuma_assets.cli.output import counted, print_indented, print_json, print_line, print_table
from pneuma_assets.cli.progress import showing_progress
from pneuma_assets.core.text.safe import one_line

if TYPE_CHECKING:
    from pneuma_assets.core.answers.results import CellAnswer, NamedRows, TableAnswer
    from pneuma_assets.core.tables import Problem

_CELL = 60
"""Characters of a cell that are shown; `--json` has all of them."""
_PROBLEMS = 5
_WORDS = 8


def answer(
    context: typer.Context,
    question: Annotated[list[str], typer.Argument(help="The question, quoted or not.")],
    k: Annotated[int | None, typer.Option("-k", help="Sets of tables to look at.")] = None,
    model: Annotated[
        bool | None,
        typer.Option("--model/--no-model", help="Let the language model write SQL, or show rows."),
    ] = None,
    source: SourceOption = None,
    readers: ReadersOption = None,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Answer a question with the cells of a table, or of several joined, and show the SQL.

    Without a language model nothing is answered: it shows the rows with cells that the question
    names. Set answers.enabled and answers.model in the deployment file to have SQL written.
    """
    loaded = load(context, home, config)
    from pneuma_assets.core.index.base import IndexFilter
    from pneuma_assets.core.service.workspace import Workspace

    where = IndexFilter(
        sources=tuple(source or ()), readers=None if readers is None else tuple(readers)
    )
    with Workspace(loaded) as workspace, showing_progress(lasting=False):
        found = workspace.answer(" ".join(question), k=k, model=model, where=where)
    if as_json:
        print_json(found.to_dict())
        return
    _print(found)


def _print(found: "CellAnswer") -> None:
    from pneuma_assets.core.answers.results import BESIDE

    for one in found.answers:
        _print_answer(one)
    for rows in found.named:
        _print_named(rows)
    if found.reason:
        print_indented(found.reason, margin=0, most_lines=5)
    there = bool(found.answers or found.named)
    problems = [one for one in found.problems if not there or one.stage in BESIDE]
    _print_problems(problems, margin=0 if there else 2)
    if found.nearest and not there:
        print_line("nearest tables: " + ", ".join(found.nearest))


def _print_problems(problems: "Sequence[Problem]", margin: int) -> None:
    """Print problems, those together that have the same cause."""
    subjects: dict[str, list[str]] = {}
    for problem in problems:
        subjects.setdefault(problem.cause, []).append(problem.subject)
    for cause, some in list(subjects.items())[:_PROBLEMS]:
        text = f"{'; '.join(some)}: {cause}"
        print_indented(text, margin=margin, most_lines=3)
    if len(subjects) > _PROBLEMS:
        print_line(f"{'':{margin}}and {len(subjects) - _PROBLEMS} more: see --json")


def _print_answer(one: "TableAnswer") -> None:
    print_line(", ".join(one.tables))
    _print_rows(one)
    print_indented(one.sql, margin=2, most_lines=12)
    for change in one.corrections:
        print_line(f"  {change.said!r} is spelled {change.stored!r} in {change.column}")
    print_line(f"  by {one.made_by}{', the second try' if one.repaired else ''}")
    if one.unmatched:
        words = ", ".join(one.unmatched[:_WORDS]) + ("…" if len(one.unmatched) > _WORDS else "")
        print_indented(
            f"not in the SQL or its tables: {words}; does it answer your question?",
            margin=2,
            most_lines=3,
        )
    print_line()


def _print_named(one: "NamedRows") -> None:
    words = [f"{text!r} in {', '.join(columns)}" for text, columns in one.matched.items()]
    print_line(f"{one.table}: {(' and ' if one.together else ' or ').join(words)}")
    _print_rows(one)
    print_line()


def _print_rows(one: "NamedRows | TableAnswer") -> None:
    print_table(one.columns, [[_shown(cell) for cell in row] for row in one.rows])
    more = ", and there are more" if one.more else ""
    print_line(f"({counted(len(one.rows), 'row', 'rows')}{more})")


def _shown(cell: object) -> str:
    text = one_line("" if cell is None else str(cell), _CELL * 4)
    return text if len(text) <= _CELL else text[: _CELL - 1] + "…"
