"""`pneuma-bench paper`: the figures of Pneuma's section 7, measured on any sets."""

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, given_path, load
from pneuma_assets.cli.output import counted, print_json, print_line, showing_progress
from pneuma_bench.cli.shared import app, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pneuma_assets.core.config.deployment import Deployment
    from pneuma_bench.ablations.cells import BenchSet
    from pneuma_bench.ablations.contestants import Contestant
    from pneuma_bench.ablations.figures import Filled

_SET = "NAME=T.jsonl,Q.jsonl"


@app.command()
def paper(
    context: typer.Context,
    given_sets: Annotated[
        list[str],
        typer.Option("--set", metavar=_SET, help="Tables and questions; may be given again."),
    ],
    keep: Annotated[
        Path, typer.Option(parser=given_path, metavar="DIR", help="Keeps what was measured.")
    ],
    out: Annotated[
        Path, typer.Option(parser=given_path, metavar="PAGE.md", help="The page to write.")
    ],
    figures: Annotated[
        list[str] | None,
        typer.Option(metavar="NUMBER,...", help="Such as 6,11-13,'table 2'. [default: all]"),
    ] = None,
    keywords: Annotated[
        list[str] | None,
        typer.Option(metavar=_SET, help="A set asked in its tables' own words (figure 19)."),
    ] = None,
    beside: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PYTHON,SCRIPT",
            help="Another package's retriever, run in its own environment; may be given again.",
        ),
    ] = None,
    compared: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="Sets of which every row is embedded, and that others are asked. [default: all]",
        ),
    ] = None,
    varied: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,...", help="Sets whose settings are varied. [default: all]"),
    ] = None,
    narrator: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL", help="Describes columns; may be given again."),
    ] = None,
    narrated: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,...", help="Sets whose columns are described. [default: all]"),
    ] = None,
    judge: Annotated[
        list[str] | None, typer.Option(metavar="MODEL", help="Judges; may be given again.")
    ] = None,
    judged: Annotated[int, typer.Option(min=1, help="Questions of a set that are judged.")] = 100,
    rounds: Annotated[int, typer.Option(min=1, help="How often 100 questions are timed.")] = 10,
    rows: Annotated[
        int, typer.Option(min=1, max=1_000, help="Rows of a table where all are indexed.")
    ] = 1_000,
    scaled: Annotated[
        str, typer.Option(metavar="NAME", help="Set cut to sizes. [default: the largest]")
    ] = "",
    note: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="To stand above the figures.")
    ] = None,
    kept_only: Annotated[
        bool, typer.Option("--kept-only", help="Measure nothing; write what was measured.")
    ] = False,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Measure what the paper's figures show, and write them as one page with tables and plots.

    What was measured is kept and not measured again: killed, the same command goes on.
    """
    loaded = load(context, home, config)
    from pneuma_bench.ablations.all_figures import chosen
    from pneuma_bench.ablations.contestants import Labs
    from pneuma_bench.ablations.figures import PageOptions
    from pneuma_bench.ablations.page import reproduce

    numbers = chosen(listed(figures) or [])
    sets = _read_sets("--set", given_sets)
    named = {one.name for one in sets}
    chosen_sets = {"--compared": compared, "--varied": varied, "--narrated": narrated}
    for option, names in (chosen_sets | {"--scaled": [scaled]}).items():
        if unknown := {*(listed(names) or [])} - named:
            raise UsageError(f"{option}: no --set is called {min(unknown)!r}")
    with showing_progress(), Labs(keep, os.environ) as labs:
        options = PageOptions(
            sets=sets,
            deployment=_silent(loaded.deployment),
            labs=labs,
            keywords=_read_sets("--keywords", keywords or []),
            others=_others(beside or [], loaded.deployment, rows),
            compared=listed(compared) or [],
            varied=listed(varied) or [],
            narrators=narrator or [],
            narrated=listed(narrated) or [],
            judges=judge or [],
            judged=judged,
            rounds=rounds,
            most_rows=rows,
            scaled=scaled,
        )
        filled = reproduce(options, numbers, keep, out, note or [], kept_only=kept_only)
    if as_json:
        print_json([_record(one) for one in filled])
        return
    missing = sum(1 for one in filled for shown in one.shown if shown.missing)
    print_line(f"{counted(len(filled), 'figure', 'figures')} written to {out}")
    if missing:
        print_line(f"{counted(missing, 'value', 'values')} not measured; the page says why")


def _read_sets(option: str, given: "Sequence[str]") -> "list[BenchSet]":
    from pneuma_bench.ablations.cells import bench_set
    from pneuma_bench.reading import read_files

    sets: dict[str, BenchSet] = {}
    for one in given:
        name, tables, queries = _named(option, one, _SET)
        if name in sets:
            raise UsageError(f"{option}: two sets are called {name!r}")
        sets[name] = bench_set(name, read_files(tables, queries))
    return [*sets.values()]


def _others(
    given: "Sequence[str]", deployment: "Deployment", rows: int
) -> "list[Callable[[], Contestant]]":
    """Return what makes each contestant of another environment; nothing is started yet."""
    from functools import partial

    from pneuma_bench.ablations.outside import OutsideContestant

    return [
        partial(OutsideContestant, *_named("--beside", one, "NAME=PYTHON,SCRIPT"), encoder, rows)
        for encoder in [deployment.encoder.model.model]
        for one in given
    ]


def _named(option: str, given: str, shape: str) -> tuple[str, Path, Path]:
    """Return the name and the two paths of `NAME=A,B`."""
    name, _, rest = given.partition("=")
    first, _, second = rest.partition(",")
    if not (name.strip() and first and second):
        raise UsageError(f"{option} takes {shape}, not {given!r}")
    return name.strip(), Path(first), Path(second)


def _silent(deployment: "Deployment") -> "Deployment":
    """Return the deployment without models that describe or judge: they are asked for apart."""
    from pneuma_assets.core.config.models import JudgeConfig, NarrationConfig

    silent = {"narration": NarrationConfig(), "judge": JudgeConfig()}
    return deployment.model_copy(update=silent)


def _record(filled: "Filled") -> dict[str, object]:
    values = [
        {
            "panel": one.point.panel,
            "series": one.point.series,
            "x": one.point.x,
            "value": None if math.isnan(one.value) else one.value,
            "interval": list(one.interval) if one.interval else None,
            **({"missing": one.missing} if one.missing else {}),
        }
        for one in filled.shown
    ]
    return {"figure": filled.figure.number, "title": filled.figure.title, "values": values}
