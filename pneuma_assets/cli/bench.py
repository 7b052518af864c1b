"""`pneuma-assets bench`: known questions, the deployment's own ones, and descriptions, measured."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.errors import EXIT_FAILURE, UsageError
from pneuma_assets.cli.options import (
    AlphaOption,
    JsonOption,
    JudgeOption,
    KOption,
    NOption,
    command,
    given_path,
)
from pneuma_assets.cli.output import print_json, print_line, print_table, showing_progress

if TYPE_CHECKING:
    from pneuma_assets.core.evaluation.ask_own_questions import Standing
    from pneuma_assets.core.evaluation.evaluate import Figures
    from pneuma_assets.core.store.questions import Measurement
    from pneuma_assets.workspace import Workspace

app = typer.Typer(rich_markup_mode=None, help="Measure answers against known ones.")

QueriesOption = Annotated[
    Path | None,
    typer.Option(parser=given_path, metavar="Q.jsonl", help="Questions, a JSON object a line."),
]


@app.command()
@command
def run(
    workspace: "Workspace",
    queries: QueriesOption = None,
    confirmed: Annotated[
        bool, typer.Option("--confirmed", help="Ask the questions whose answers were confirmed.")
    ] = False,
    k: KOption = None,
    n: NOption = None,
    alpha: AlphaOption = None,
    judge: JudgeOption = None,
    answers: Annotated[
        Path | None,
        typer.Option(parser=given_path, metavar="FILE", help="Write each answer, as JSON lines."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Ask questions about the indexed tables, and say how well they fared; nothing is changed."""
    given = {"k": k, "n": n, "alpha": alpha, "judge": judge}
    options = {name: value for name, value in given.items() if value is not None}
    if confirmed == (queries is not None):
        raise UsageError("give --queries FILE, or --confirmed")
    from pneuma_assets.core.evaluation.evaluate import (
        ask_all,
        confirmed_questions,
        count_figures,
        count_figures_by_kind,
        read_questions,
        write_answers,
    )

    below = workspace.loaded.deployment.query.min_confidence
    with showing_progress():
        engine = workspace.query_engine()
        there = workspace.search_index.list_tables()
        if queries is not None:
            questions = read_questions(queries, there)
        else:
            questions = confirmed_questions(workspace.store.usage.answers(), there)
        answered = ask_all(engine, questions, options, below)
    figures, kinds = count_figures(answered), count_figures_by_kind(answered)
    number = sum(1 for one in questions if one.relevant)
    unanswerable = len(questions) - number
    if as_json:
        facts = {"questions": number, "unanswerable": unanswerable, "min_confidence": below}
        of_kinds = {"kinds": {kind: one.to_dict() for kind, one in kinds.items()}} if kinds else {}
        print_json({**figures.to_dict(), **facts, "options": options, **of_kinds})
    else:
        print_figures(figures, kinds)
        print_line(
            f"{number:,} questions, and {unanswerable:,} that no table answers; refused below a "
            f"confidence of {below:g}"
        )
    if answers is not None:  # last: what took long is shown before this can fail
        write_answers(answers, answered)


TREND = ("R@1", "R@10", "MRR")
_LATEST = 10
"""Measurements of the trend that are printed; `--history` prints all."""


@app.command()
@command
def mine(
    workspace: "Workspace",
    renew: Annotated[
        bool, typer.Option("--renew", help="Make others in the place of those there are.")
    ] = False,
    accept: Annotated[
        bool,
        typer.Option("--accept", help="Compare with the newest measurement from now on."),
    ] = False,
    history: Annotated[
        bool, typer.Option("--history", help="Show every measurement; ask nothing.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Ask questions about the deployment's own tables, and name those answered worse than before.

    They are made where there are none, without a model, and kept. The exit code is 1 if more are
    answered worse than chance explains.
    """
    if renew and (accept or history):
        raise UsageError("--renew makes questions; --accept and --history ask none")
    if accept or history:
        standing = _known(workspace, accept=accept)
    else:
        from pneuma_assets.core.service.own_questions import mine as mine_now

        with showing_progress(lasting=False):
            standing = mine_now(workspace, renew=renew)
    if as_json:
        print_json(standing)
    else:
        _print(standing, len(standing.history) if history else _LATEST)
    if standing.change.red:
        raise typer.Exit(EXIT_FAILURE)


def _known(workspace: "Workspace", *, accept: bool) -> "Standing":
    from pneuma_assets.core.evaluation.ask_own_questions import Standing, standing

    known = workspace.known_tables()  # creates no state where there is none
    if accept and not (known and workspace.store.questions.accept()):
        raise UsageError("nothing was measured yet; run: pneuma-assets bench mine")
    return standing(workspace.store) if known else Standing()


def _print(standing: "Standing", latest: int) -> None:
    from pneuma_assets.core.evaluation.ask_own_questions import renewed

    if not standing.questions:
        print_line("no questions were made yet; run: pneuma-assets bench mine")
    kinds = [*dict.fromkeys(one.kind for one in standing.questions)]
    if kinds:
        print_line(f"{len(standing.questions):,} questions ({', '.join(kinds)})")
    others = renewed(standing.history)
    rows = [_line(one, one.number in others) for one in standing.history[-latest:]]
    if rows:
        print_table(["measurement", "at", *TREND, "note"], rows, numbers=["measurement", *TREND])
    if standing.few:
        print_line("few are left; --renew makes others in their place")
    _print_change(standing)


def _print_change(standing: "Standing") -> None:
    change, best = standing.change, standing.best
    if best is None:
        if standing.now is not None:
            print_line("nothing to compare with yet")
        return
    verdict = "more than chance explains" if change.red else "not more than chance explains"
    print_line(
        f"compared with measurement {best.number}: {len(change.worse)} of {change.asked} answered "
        f"worse, {len(change.better)} better (p {change.p:.3f}); {verdict}"
    )
    if standing.not_compared:
        print_line(
            f"{standing.not_compared} not compared: tables that came since measurement "
            f"{best.number} are found in place of theirs"
        )
    rows = [
        [one.kind, _place(before), _place(now), one.table_id, one.question]
        for one, before, now in standing.worse()
    ]
    if rows:
        places = ["before", "now"]
        print_table(["worse", *places, "table", "question"], rows, numbers=places)
    if change.red:
        print_line("take back the last change of models or options, or accept it: --accept")


def _line(one: "Measurement", is_of_others: bool) -> list[str]:
    at = datetime.fromtimestamp(one.measured_at, UTC).isoformat(sep=" ", timespec="minutes")
    figures = [f"{one.figures[name]:.2f}" for name in TREND]
    note = ", ".join(["other questions"] * is_of_others + ["accepted"] * one.accepted)
    return [f"{one.number:,}", at.removesuffix("+00:00"), *figures, note]


def _place(place: int | None) -> str:
    return "-" if place is None else str(place)


@app.command()
@command
def narrations(
    workspace: "Workspace",
    gold: Annotated[
        Path,
        typer.Option(
            parser=given_path,
            metavar="G.jsonl",
            help='What people wrote of columns: {"table", "column", "gold"} a line.',
        ),
    ],
    as_json: JsonOption = False,
) -> None:
    """Measure how often a column's description leads to what people wrote of it.

    Descriptions are those of the indexed tables, which are named by their ids.
    """
    from pneuma_assets.core.evaluation.narrations import Said, figures_of, read_gold

    wanted = read_gold(gold)
    with showing_progress():
        if unknown := {*wanted} - {*workspace.search_index.list_tables()}:
            raise UsageError(f"{gold}: no indexed table has the id {min(unknown)!r}")
        told = {one: workspace.store.narrations.of_tables([one])[one] for one in wanted}
        tables = [
            [Said(name, text, told[table].get(name)) for name, text in columns.items()]
            for table, columns in wanted.items()
        ]
        figures = figures_of(tables, workspace.encoder)
    if as_json:
        print_json(figures)
    else:
        print_table(["figure", "value"], [[name, str(value)] for name, value in figures.items()])


SHOWN = (
    *("R@1", "R@5", "R@10", "recall@5", "recall@10", "all@5", "all@10", "MRR", "nDCG@10"),
    *("kept", "refused"),
)
"""Figures of a table for people; JSON has the others, too."""

OF_KINDS = ("R@1", "R@5", "R@10", "MRR")
"""Figures of each sort of question; JSON has the others, too."""


def print_figures(
    figures: "Figures", kinds: "Mapping[str, Figures]", more: Sequence[str] = ()
) -> None:
    """Print figures, and `more`, with intervals; then a line for each sort of question."""
    rows = []
    for name in (*SHOWN, *more):
        value, interval = figures.values[name], figures.intervals[name]
        if not math.isnan(value):
            rows.append([name, f"{value:.3f}", f"{interval.low:.3f} to {interval.high:.3f}"])
    print_table(["figure", "value", "95 % interval"], rows, numbers=["value"])
    rows = []
    for kind, of_kind in kinds.items():
        values = [of_kind.values[name] for name in OF_KINDS]
        number = f"{len(of_kind.each['MRR']):,}"
        rows.append([kind, number, *("" if math.isnan(one) else f"{one:.3f}" for one in values)])
    if rows:
        print_table(["questions", "number", *OF_KINDS], rows, numbers=["number", *OF_KINDS])
