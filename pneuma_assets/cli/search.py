"""`pneuma-assets search`: ranked tables for a question, with the reason for each."""

from math import floor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import (
    AlphaOption,
    JsonOption,
    JudgeOption,
    KOption,
    NOption,
    ReadersOption,
    SourceOption,
    filter_of,
    lines_of,
    read_input,
)
from pneuma_assets.cli.output import (
    print_indented,
    print_json,
    print_line,
    print_missing,
    print_no_match,
    print_ranked,
    showing_progress,
)
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.missing_parts import MissingPart, Part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pneuma_assets.core.relations.families import Family
    from pneuma_assets.core.search.results import ScoreParts, TableResult
    from pneuma_assets.core.service.ask import Answer
    from pneuma_assets.core.tables import DocumentKind
    from pneuma_assets.workspace import Workspace

MAX_QUESTIONS_BYTES = 16 * 1024 * 1024
_TINY = 1e-6
"""Confidences are cut, as .099 is below .10, but for rounding errors."""
_MOST_CONFIRMED = 3


def document_kind(text: str) -> "DocumentKind":
    """Return a kind of document from the command line; which there are, the index knows."""
    from pneuma_assets.core.tables import DocumentKind

    try:
        return DocumentKind(text)
    except ValueError as error:
        raise typer.BadParameter(f"{error}; schema, rows and context are some") from error


def search(
    workspace: "Workspace",
    question: Annotated[
        list[str] | None, typer.Argument(show_default=False, help="The question, quoted or not.")
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Ask every line of a file; - is standard input."),
    ] = None,
    k: KOption = None,
    n: NOption = None,
    alpha: AlphaOption = None,
    judge: JudgeOption = None,
    tau: Annotated[
        float | None,
        typer.Option(
            help="Show as many tables as the question needs, at most k: those that score nearly as "
            "well as the best, 1 the best alone, 0 all; 0.9 is a good one."
        ),
    ] = None,
    source: SourceOption = None,
    table: Annotated[
        list[str] | None, typer.Option(metavar="TABLE_ID", help="Only this table.")
    ] = None,
    kind: Annotated[
        list[Any] | None,
        typer.Option(
            parser=document_kind,
            metavar="KIND",
            help="Only what descriptions of columns (schema), sampled rows (rows), documents "
            "(context), documents about a whole folder (folder), a model's summaries (summary), "
            "all rows (values), names (names) or what tables are built from (lineage) say.",
        ),
    ] = None,
    readers: ReadersOption = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Show what each signal adds, and how much the trust penalty lowers the score.",
        ),
    ] = False,
    upstream_of: Annotated[
        str | None,
        typer.Option(metavar="TABLE_ID", help="Only tables that this one is built from."),
    ] = None,
    downstream_of: Annotated[
        str | None,
        typer.Option(metavar="TABLE_ID", help="Only tables that are built from this one."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Find the tables that answer a question, best first."""
    if bool(question) == (questions is not None):
        raise UsageError("give a QUESTION, or --questions FILE with one a line")
    name, asked = _lines(questions) if questions is not None else ("", {})
    where = filter_of(source, readers, table, kind)
    missing: list[MissingPart] = []
    options: dict[str, Any] = {"k": k, "n": n, "alpha": alpha, "judge": judge, "tau": tau}
    options["missing"] = missing
    found: Sequence[TableResult] = ()
    answers: Sequence[Answer] = ()
    with showing_progress(lasting=False):
        if upstream_of is not None or downstream_of is not None:
            where = workspace.related(
                upstream_of=upstream_of, downstream_of=downstream_of, where=where
            )
        if questions is None:
            [found] = workspace.ask_many([" ".join(question or ())], **options, where=where)
        else:
            answers = workspace.ask_each([*asked.values()], **options, where=where)
    print_missing(missing)
    below = workspace.loaded.deployment.query.min_confidence
    if as_json:
        lines = [{"line": at} | one.to_dict() for at, one in zip(asked, answers, strict=True)]
        print_json(found if questions is None else lines)
    elif questions is None:
        if Part.ENCODER not in {one.part for one in missing}:
            _print_confirmed(workspace, " ".join(question or ()), readers)
        _print_answer(found, below, explain=explain)
    else:
        _print_all(answers, below, explain=explain)
    refused = [
        f"{name}, line {number}: {one.error}"
        for number, one in zip(asked, answers, strict=True)
        if one.error is not None
    ]
    if refused:
        raise QuestionsRefusedError("\n".join(refused))


class QuestionsRefusedError(PneumaError):
    """Some lines of a file could not be asked; the others were answered."""


def _lines(file: Path) -> tuple[str, dict[int, str | None]]:
    """Return the name of a file of questions, and each question by its line."""
    name, data = read_input(file, MAX_QUESTIONS_BYTES, "--questions")
    asked = lines_of(name, data)
    if not asked:
        raise UsageError(f"{name} holds no question; write one a line")
    return name, asked


def _print_confirmed(workspace: "Workspace", question: str, readers: list[str] | None) -> None:
    """Print what people confirmed for questions that ask the same."""
    for one in workspace.confirmed_answers(question, readers=readers, limit=_MOST_CONFIRMED):
        tables = ", ".join(one.tables)
        told = f"confirmed by {one.author} on {one.said_at[:10]}: {tables} ({one.question})"
        print_indented(told, margin=0, most_lines=2)
        if one.sql:
            print_indented(one.sql, margin=4, most_lines=4)


def _print_all(answers: "Sequence[Answer]", min_confidence: float, *, explain: bool) -> None:
    for position, answer in enumerate(answers):
        print_line() if position else None
        print_line(answer.question, verbatim=True)
        if answer.error is not None:
            print_line(f"not asked: {answer.error}")
        else:
            _print_answer(answer.results, min_confidence, explain=explain)


def _print_answer(answer: "Sequence[TableResult]", min_confidence: float, *, explain: bool) -> None:
    """Print one ranking: a line of figures a table, and under it the text that matched.

    Scores compare tables with the best one; where probably none answers they are left out.
    """
    from pneuma_assets.core.search.confidence import confidence_of, count_likely, is_unlikely

    sure = confidence_of(answer)
    unlikely = is_unlikely(sure, min_confidence)
    print_no_match(sure, min_confidence, found=bool(answer))
    if answer:
        heads = f"{'sure':>5} {'score':>6} {'words':>6} {'meaning':>8} {'judge':>6}"
        print_ranked(f"{'':>3} {heads}", "table")
    cut = len(answer) if unlikely else count_likely(answer, min_confidence)
    for rank, result in enumerate(answer, start=1):
        if rank == cut + 1:
            print_line(f"less likely, each below {min_confidence:.2f}:")
        parts = result.parts
        scores = [result.score, parts.lexical, parts.semantic]
        share = result.confidence and floor(100 * result.confidence + _TINY) / 100
        shown = [share, *([None] * 3 if unlikely else scores), parts.judge]
        sized = zip(shown, (5, 6, 6, 8, 6), strict=True)
        figures = (f"{'-' if one is None else f'{one:.2f}':>{width}}" for one, width in sized)
        print_ranked(f"{rank:>3} {' '.join(figures)}", result.table_id)
        if parts.named is not None:
            what = "column" if parts.named in result.columns else "table"
            print_indented(f"{what} named: {parts.named}", margin=4, most_lines=1)
        print_indented(f"{result.kind}: {result.text}", margin=4, most_lines=2)
        if result.copies:
            print_indented(f"also: {', '.join(result.copies)}", margin=4, most_lines=2)
        if result.rejected:
            print_indented("rejected for such a question", margin=4, most_lines=1)
        if result.family is not None:
            print_indented(_family_line(result.family), margin=4, most_lines=2)
        if explain:
            print_indented(_explained(parts), margin=4, most_lines=2)
            if parts.reason:
                print_indented(f"judge: {parts.reason}", margin=4, most_lines=2)


def _family_line(family: "Family") -> str:
    """Return what a table is a member of, and by name those members that the question names."""
    names = [one.rpartition("/")[2] for one in family.members]
    said = f", also named: {', '.join(names)}" if 0 < len(names) < min(family.tables - 1, 5) else ""
    first, last = (one.rpartition("/")[2] for one in (family.first, family.last))
    absent = f"; none is of {', '.join(family.absent)}" if family.absent else ""
    return f"one of {family.tables}: {family.name} ({first} to {last}){said}{absent}"


def _explained(parts: "ScoreParts") -> str:
    """Return what each signal adds, the most first, and how much the trust penalty lowers it."""
    added = sorted(parts.signals.items(), key=lambda signal: -signal[1])
    lost = round(parts.trust, 3)  # of next to nothing, "-0.000" would be shown
    trust = [("trust", lost)] if lost else []
    return ", ".join(f"{name} {value:.3f}" for name, value in (*added, *trust))
