"""`pneuma-assets search`: ranked tables for a question, with the reason for each."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from pneuma_assets.cli.failures import UsageError
from pneuma_assets.cli.inputs import lines_of, read_input
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, load
from pneuma_assets.cli.output import print_indented, print_json, print_line
from pneuma_assets.cli.progress import showing_progress
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.text.clean import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pneuma_assets.core.search.results import TableResult

MAX_QUESTIONS_BYTES = 16 * 1024 * 1024
SHOWN_CHARACTERS = 200
"""Of a question that is refused, perhaps for its length."""


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
    name, asked = _questions(question or [], questions)
    loaded = load(context, home, config)
    from pneuma_assets.core.index.base import IndexFilter
    from pneuma_assets.core.service.workspace import Workspace
    from pneuma_assets.core.tables import DocumentKind

    where = IndexFilter(
        tuple(source or ()), tuple(table or ()), tuple(DocumentKind(one) for one in kind or ())
    )
    refused = {} if questions is None else _refused(asked)
    good = [text for number, text in asked.items() if number not in refused and text is not None]
    with Workspace(loaded) as workspace, showing_progress(lasting=False):
        answers = iter(
            workspace.query_engine().ask_many(good, k=k, n=n, alpha=alpha, judge=judge, where=where)
        )
    answered = [
        Answered(_shown(text, refused.get(number)), refused.get(number) or next(answers))
        for number, text in asked.items()
    ]
    if questions is None:
        _print_one(answered[0], as_json=as_json)
    else:
        _print_all(answered, as_json=as_json)
    if refused:
        raise QuestionsRefusedError(
            "\n".join(f"{name}, line {number}: {why}" for number, why in refused.items())
        )


class QuestionsRefusedError(PneumaError):
    """Some lines of a file could not be asked; the others were answered."""


class Answered(NamedTuple):
    """A question, and the tables found or why it could not be asked."""

    question: str
    outcome: "Sequence[TableResult] | str"


def _refused(asked: "Mapping[int, str | None]") -> dict[int, str]:
    """Return what is wrong with those lines that cannot be asked."""
    from pneuma_assets.core.errors import QueryError
    from pneuma_assets.core.search.options import checked_question

    refused = {}
    for number, text in asked.items():
        try:
            if text is None:
                refused[number] = "It is not UTF-8; save the file as UTF-8"
            else:
                checked_question(text)
        except QueryError as error:
            refused[number] = str(error)
    return refused


def _shown(text: str | None, why: str | None) -> str:
    """Return a question for its answer; of one that is refused, the beginning."""
    if why is None or text is None or len(text) <= SHOWN_CHARACTERS:
        return text or ""
    return f"{text[:SHOWN_CHARACTERS]}…"


def _print_one(answered: Answered, *, as_json: bool) -> None:
    if isinstance(answered.outcome, str):
        raise TypeError("a question of the command line is asked or raises")
    if as_json:
        print_json([result.to_dict() for result in answered.outcome])
    else:
        _print_answer(answered.outcome)


def _print_all(answered: "Sequence[Answered]", *, as_json: bool) -> None:
    if as_json:
        print_json([_record(one) for one in answered])
        return
    for position, one in enumerate(answered):
        print_line() if position else None
        print_line(one.question)
        if isinstance(one.outcome, str):
            print_line(f"not asked: {one.outcome}")
        else:
            _print_answer(one.outcome)


def _record(answered: Answered) -> dict[str, Any]:
    if isinstance(answered.outcome, str):
        return {"question": answered.question, "results": [], "error": answered.outcome}
    results = [result.to_dict() for result in answered.outcome]
    return {"question": answered.question, "results": results}


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
        print(f"{rank:>3} {figures}  {printable(result.table_id)}")  # noqa: T201
        print_indented(f"{result.kind}: {result.text}", margin=4, most_lines=2)


def _questions(words: list[str], file: Path | None) -> tuple[str, dict[int, str | None]]:
    """Return where the questions are from, and each by its line: the words given, or a file's."""
    if bool(words) == (file is not None):
        raise UsageError("give a QUESTION, or --questions FILE with one a line")
    if file is None:
        return "the command line", {1: " ".join(words)}
    name, data = read_input(file, MAX_QUESTIONS_BYTES, "--questions")
    asked = lines_of(name, data)
    if not asked:
        raise UsageError(f"{name} holds no question; write one a line")
    return name, asked
