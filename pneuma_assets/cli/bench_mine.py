"""`pneuma-assets bench mine`: the deployment's own questions, asked again after every change."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.bench import app
from pneuma_assets.cli.failures import EXIT_FAILURE, UsageError
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, load
from pneuma_assets.cli.output import print_json, print_line, print_table
from pneuma_assets.cli.progress import showing_progress

if TYPE_CHECKING:
    from pneuma_assets.core.measure.standing import Standing
    from pneuma_assets.core.service.workspace import Workspace
    from pneuma_assets.core.store.questions import Measurement

SHOWN = ("R@1", "R@10", "MRR")
_LATEST = 10
"""Measurements of the trend that are printed; `--history` prints all."""


@app.command()
def mine(
    context: typer.Context,
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
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Ask questions about the deployment's own tables, and name those answered worse than before.

    They are made where there are none, without a model, and kept. The exit code is 1 if more are
    answered worse than chance explains.
    """
    if renew and (accept or history):
        raise UsageError("--renew makes questions; --accept and --history ask none")
    from pneuma_assets.core.service.workspace import Workspace

    with Workspace(load(context, home, config)) as workspace:
        with showing_progress(lasting=False):
            standing = _standing(workspace, renew, asking=not (accept or history))
        if accept:
            standing = _accepted(workspace)
    if as_json:
        print_json(standing.to_dict())
    else:
        _print(standing, len(standing.history) if history else _LATEST)
    if standing.change.red:
        raise typer.Exit(EXIT_FAILURE)


def _standing(workspace: "Workspace", renew: bool, *, asking: bool) -> "Standing":
    from pneuma_assets.core.measure.standing import Standing, standing
    from pneuma_assets.core.service.mining import mine as mine_now

    if asking:
        return mine_now(workspace, renew=renew)
    known = workspace.known_tables()  # creates no state where there is none
    return standing(workspace.store) if known else Standing()


def _accepted(workspace: "Workspace") -> "Standing":
    from pneuma_assets.core.measure.standing import standing

    if not workspace.known_tables() or not workspace.store.questions.accept():
        raise UsageError("nothing was measured yet; run: pneuma-assets bench mine")
    return standing(workspace.store)


def _print(standing: "Standing", latest: int) -> None:
    from pneuma_assets.core.measure.standing import renewed

    if not standing.questions:
        print_line("no questions were made yet; run: pneuma-assets bench mine")
    kinds = [*dict.fromkeys(one.kind for one in standing.questions)]
    if kinds:
        print_line(f"{len(standing.questions):,} questions ({', '.join(kinds)})")
    others = renewed(standing.history)
    rows = [_line(one, one.number in others) for one in standing.history[-latest:]]
    if rows:
        print_table(["measurement", "at", *SHOWN, "note"], rows, numbers=["measurement", *SHOWN])
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
    figures = [f"{one.figures[name]:.2f}" for name in SHOWN]
    note = ", ".join(["other questions"] * is_of_others + ["accepted"] * one.accepted)
    return [f"{one.number:,}", at.removesuffix("+00:00"), *figures, note]


def _place(place: int | None) -> str:
    return "-" if place is None else str(place)
