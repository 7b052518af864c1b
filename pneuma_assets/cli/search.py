"""`pneuma-assets search`: ranked tables for a question, with the reason for each."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.failures import UsageError
from pneuma_assets.cli.inputs import read_input
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, load
from pneuma_assets.cli.output import plain, print_indented, print_json, print_line
from pneuma_assets.cli.progress import showing_progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pneuma_assets.core.search.results import TableResult

MAX_QUESTIONS_BYTES = 16 * 1024 * 1024


class Kind(StrEnum):
    """As `core.tables.DocumentKind`, whose import brings numpy and would slow `--help` down."""

    SCHEMA = "schema"
    ROWS = "rows"
    CONTEXT = "context"


def search(
    context: typer.Context,
    question: Annotated[
        list[str] | None, typer.Argument(show_default=False, help="The question, quoted or not.")
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Ask every line of a file; - is standard input."),
    ] = None,
    k: Annotated[int | None, typer.Option("-k", help="Tables to show.")] = None,
    n: Annotated[int | None, typer.Option("-n", help="Candidates a side are n times k.")] = None,
    alpha: Annotated[
        float | None, typer.Option(help="Weight of words against meaning: 1 is words only.")
    ] = None,
    judge: Annotated[
        bool | None, typer.Option("--judge/--no-judge", help="Let the model veto candidates.")
    ] = None,
    source: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only tables of this source.")
    ] = None,
    table: Annotated[
        list[str] | None, typer.Option(metavar="TABLE_ID", help="Only this table.")
    ] = None,
    kind: Annotated[
        list[Kind] | None, typer.Option(help="Only what narrations, rows or documents say.")
    ] = None,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Find the tables that answer a question, best first."""
    asked = _questions(question or [], questions)
    loaded = load(context, home, config)
    from pneuma_assets.core.index.base import IndexFilter
    from pneuma_assets.core.tables import DocumentKind
    from pneuma_assets.core.workspace import Workspace

    where = IndexFilter(
        tuple(source or ()), tuple(table or ()), tuple(DocumentKind(one) for one in kind or ())
    )
    with Workspace(loaded) as workspace, showing_progress(lasting=False):
        answers = workspace.query_engine().ask_many(
            asked, k=k, n=n, alpha=alpha, judge=judge, where=where
        )
    _print(asked, answers, as_json=as_json, many=questions is not None)


def _print(
    asked: list[str],
    answers: "Sequence[Sequence[TableResult]]",
    *,
    as_json: bool,
    many: bool,
) -> None:
    if as_json:
        results = [[result.to_dict() for result in answer] for answer in answers]
        print_json(
            [
                {"question": text, "results": found}
                for text, found in zip(asked, results, strict=True)
            ]
            if many
            else results[0]
        )
        return
    for position, (text, answer) in enumerate(zip(asked, answers, strict=True)):
        if many:
            print_line() if position else None
            print_line(text)
        _print_answer(answer)


def _print_answer(answer: "Sequence[TableResult]") -> None:
    """Print one ranking: a line of figures a table, and under it the text that matched."""
    if not answer:
        print_line("no table matches; ask in other words, or loosen the filters")
        return
    print(f"{'':>3} {'score':>6} {'words':>6} {'meaning':>8} {'judge':>6}  table")  # noqa: T201
    for rank, result in enumerate(answer, start=1):
        parts = result.parts
        judge = "-" if parts.judge is None else f"{parts.judge:.2f}"
        figures = f"{result.score:>6.2f} {parts.lexical:>6.2f} {parts.semantic:>8.2f} {judge:>6}"
        print(f"{rank:>3} {figures}  {plain(result.table_id)}")  # noqa: T201
        print_indented(f"{result.kind}: {result.text}", margin=4, most_lines=2)


def _questions(words: list[str], file: Path | None) -> list[str]:
    """Return the questions: the words given, or the lines of a file that hold any."""
    if bool(words) == (file is not None):
        raise UsageError("give a QUESTION, or --questions FILE with one a line")
    if file is None:
        return [" ".join(words)]
    name, data = read_input(file, MAX_QUESTIONS_BYTES, "--questions")
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not UTF-8; save it as UTF-8") from error
    asked = [line.strip() for line in lines if line.strip()]
    if not asked:
        raise UsageError(f"{name} holds no question; write one a line")
    return asked
