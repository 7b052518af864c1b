"""`pneuma-bench ablate`: what each part of the configuration is worth."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, given_path, load
from pneuma_assets.cli.output import print_json, print_table, showing_progress
from pneuma_bench.cli.shared import (
    IdsAreNamesOption,
    LeaveOutOption,
    QueriesOption,
    app,
    listed,
    narrating,
    read,
)

if TYPE_CHECKING:
    from pneuma_bench.ablation import Compared


def print_compared(compared: "Sequence[Compared]", metrics: Sequence[str]) -> None:
    """Print a line a setting: each figure, its interval, and the difference to the first."""
    headings = [part for name in metrics for part in (name, "95 %", "to default, 95 %")]
    rows = [
        [*(part for name in metrics for part in _parts(one, name)), one.outcome.name]
        for one in compared
    ]
    print_table([*headings, "setting"], rows, numbers=metrics)


def _parts(one: "Compared", name: str) -> tuple[str, str, str]:
    figures = one.outcome.figures
    low, high = figures.intervals[name]
    difference, (least, most) = one.differences[name]
    return (
        _short(figures.values[name]),
        f"{_short(low)}-{_short(high)}",
        f"{_short(difference, '+')} {_short(least, '+')}..{_short(most, '+')}",
    )


def _short(value: float, sign: str = "") -> str:
    """Return three digits without the zero before the point, so that two figures fit a line."""
    return f"{value:{sign}.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:{sign}.3f}"


METRICS = ("R@1", "R@10")


@app.command()
def ablate(
    context: typer.Context,
    queries: QueriesOption,
    tables: Annotated[
        Path,
        typer.Option(parser=given_path, metavar="T.jsonl", help="Tables, a JSON object a line."),
    ],
    keep: Annotated[
        Path,
        typer.Option(
            parser=given_path,
            metavar="DIR",
            help="Keeps what was embedded and measured.",
        ),
    ],
    spec: Annotated[
        Path | None,
        typer.Argument(
            parser=given_path,
            metavar="[SPEC.yaml]",
            show_default=False,
            help="The settings to compare. [default: each kind of document left out, each weight "
            "0, other values of alpha, n, k and the rows drawn]",
        ),
    ] = None,
    metrics: Annotated[
        list[str] | None, typer.Option(metavar="NAME,...", help="Shown. [default: R@1,R@10]")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(parser=given_path, metavar="FILE", help="Draw them: .png, .svg or .pdf."),
    ] = None,
    narrate: Annotated[
        bool, typer.Option("--narrate/--no-narrate", help="Have columns described, too.")
    ] = False,
    ids_are_names: IdsAreNamesOption = False,
    leave_out: LeaveOutOption = 0.0,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Compare settings on the same questions; a setting that was measured is not measured again.

    Each difference to the default is that of the same questions, with its 95 % interval.
    """
    shown = listed(metrics) or [*METRICS]
    if plot is not None:
        check_plot(plot)
    loaded = load(context, home, config)
    from pneuma_bench.ablation import compare, read_spec, usual_spec
    from pneuma_bench.lab import Lab

    deployment = narrating(loaded.deployment, enabled=narrate)
    chosen = usual_spec() if spec is None else read_spec(spec)
    settings = chosen.settings(deployment)
    check_metrics(shown)
    dataset = read(tables, queries, leave_out, ids_are_names=ids_are_names)
    with showing_progress(), Lab(dataset, keep, os.environ) as lab:
        compared = compare(lab, settings)
    if as_json:
        print_json([one.to_dict() for one in compared])
    else:
        print_compared(compared, shown)
    if plot is not None:  # last: what took long is shown before this can fail
        from pneuma_bench.plot import draw

        draw(plot, compared, shown)


def check_plot(path: Path) -> None:
    """Raise `UsageError` before anything is measured for a plot that could not be drawn."""
    from pneuma_bench.plot import FORMATS

    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"--plot {path} must end in one of: {', '.join(FORMATS)}")


def check_metrics(names: list[str]) -> None:
    """Raise `UsageError` for a figure that there is not."""
    from pneuma_assets.core.measure.metrics import ranking_metrics

    known = ranking_metrics()
    for name in names:
        if name not in known:
            raise UsageError(f"there is no figure {name!r}; use some of: {', '.join(known)}")
