"""`pneuma-assets confirm` and `confirmed`: what people say of answers, and questions that fail."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import AuthorOption, JsonOption, ReadersOption, read_input
from pneuma_assets.cli.output import print_json, print_line, print_table

if TYPE_CHECKING:
    from pneuma_assets.core.service.usage import ConfirmedAnswer
    from pneuma_assets.workspace import Workspace

_LISTED = 1_000
_MOST_SQL_BYTES = 64 * 1024


def confirm(
    workspace: "Workspace",
    question: Annotated[str, typer.Argument(help="The question, quoted.")],
    tables: Annotated[
        list[str], typer.Argument(metavar="TABLE...", help="The tables, as search shows them.")
    ],
    sql: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The statement that answers; - is standard input."),
    ] = None,
    wrong: Annotated[
        bool, typer.Option("--wrong", help="Say that this does not answer the question.")
    ] = False,
    author: AuthorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say that tables, or a statement over them, answer a question, or that they do not.

    Whoever asks the same in other words is shown what was confirmed; a table that was said to be
    wrong stands behind the others for them.
    """
    statement = None if sql is None else _statement(sql)
    answer_id = workspace.confirm_answer(
        question, tables, sql=statement, confirmed=not wrong, author=author, door="cli"
    )
    if as_json:
        print_json({"answer_id": answer_id})
    else:
        print_line(f"{'rejected' if wrong else 'confirmed'} as {answer_id}")


def confirmed(
    workspace: "Workspace",
    question: Annotated[
        str | None,
        typer.Argument(help="Show what was confirmed for questions like this.", show_default=False),
    ] = None,
    forget: Annotated[
        str | None, typer.Option(metavar="ID", help="Forget what was said of this answer.")
    ] = None,
    failing: Annotated[
        bool, typer.Option("--failing", help="Show questions that had no good answer.")
    ] = False,
    clear: Annotated[
        bool, typer.Option("--clear", help="With --failing: forget them all.")
    ] = False,
    readers: ReadersOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what people confirmed or rejected of answers, or questions that fail."""
    if bool(question) + bool(forget) + failing > 1:
        raise UsageError("give one of QUESTION, --forget and --failing")
    if clear and not failing:
        raise UsageError("--clear goes with --failing")
    if failing and readers is not None:
        raise UsageError("questions that fail are for operators alone, who see all")
    if forget is not None:
        workspace.forget_answer(forget, readers=readers)
        print_line(f"forgot {forget}")
    elif clear:
        print_line(f"forgot {workspace.forget_questions():,} questions")
    elif failing:
        _print_failing(workspace, as_json=as_json)
    else:
        found = workspace.confirmed_answers(question, readers=readers, limit=_LISTED)
        _print_answers(found, as_json=as_json)


def _statement(file: Path) -> str:
    name, data = read_input(file, _MOST_SQL_BYTES, "--sql")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not UTF-8; save it as UTF-8") from error


def _print_answers(found: "list[ConfirmedAnswer]", *, as_json: bool) -> None:
    if as_json:
        print_json(found)
    elif not found:
        print_line("No answers confirmed or rejected.")
    else:
        headings = ["id", "", "question", "tables", "by", "on"]
        print_table(headings, [_row(one) for one in found])


def _row(one: "ConfirmedAnswer") -> list[str]:
    verdict = "confirmed" if one.confirmed else "rejected"
    tables = [f"{table} (gone)" if table in one.gone else table for table in one.tables]
    said = [*tables, *(["SQL" if one.resolved else "SQL (author)"] if one.sql else [])]
    return [one.answer_id, verdict, one.question, ", ".join(said), one.author, one.said_at[:10]]


def _print_failing(workspace: "Workspace", *, as_json: bool) -> None:
    total, some = workspace.failing_questions(limit=_LISTED)
    if as_json:
        print_json({"total": total, "questions": some})
        return
    days = workspace.loaded.deployment.web.usage_days
    print_line(f"{total:,} questions failed within {days:,} days")
    rows = []
    for one in some:
        last = f"{datetime.fromtimestamp(one.asked_at, UTC):%Y-%m-%d}"
        rows.append([one.outcome, f"{one.times:,}", last, one.door, one.question])
    if rows:
        print_table(["outcome", "times", "last", "door", "question"], rows, numbers=["times"])
