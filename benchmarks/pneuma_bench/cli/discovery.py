"""`pneuma-bench discovery`: how well tables, sets of them, and cells are found."""

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, given_path, load
from pneuma_assets.cli.output import print_json, showing_progress
from pneuma_bench.cli.ablate import check_plot
from pneuma_bench.cli.discovery_output import print_measured
from pneuma_bench.cli.shared import QueriesOption, app, listed

if TYPE_CHECKING:
    from pneuma_assets.core.service.workspace import Workspace
    from pneuma_bench.discovery.cells_found import Ask, Asked


@app.command()
def discovery(
    context: typer.Context,
    queries: QueriesOption,
    of: Annotated[
        list[str] | None,
        typer.Option(metavar="PART,...", help="tables, groups, cells. [default: tables]"),
    ] = None,
    k: Annotated[
        int | None, typer.Option("-k", "--k", min=1, help="Sets of tables asked about for cells.")
    ] = None,
    model: Annotated[
        bool | None, typer.Option("--model/--no-model", help="Whether a model writes SQL.")
    ] = None,
    each_table: Annotated[
        bool,
        typer.Option("--each-table", help="Ask for cells of each of the first -k tables alone."),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(parser=given_path, metavar="FILE", help="Draw it: .png, .svg or .pdf."),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(parser=given_path, metavar="FILE", help="Write answers, as JSON lines."),
    ] = None,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Ask the deployment questions whose answers are known (`independent`), and count.

    Tables: macro precision, recall and F1. Groups: Hit@K of sets of tables. Cells: macro precision,
    recall and F1 of cells, what a model was asked, and how long it took.
    """
    parts = _parts(listed(of))
    if plot is not None:
        check_plot(plot)
    loaded = load(context, home, config)
    from pneuma_assets.core.service.workspace import Workspace
    from pneuma_bench.discovery.measuring import check_known, measure
    from pneuma_bench.discovery.records import read_discovery

    asked = read_discovery(queries)
    with Workspace(loaded) as workspace, showing_progress():
        check_known(queries, asked, workspace.search_index.list_tables())
        ask = _asking(workspace, k, model, each_table=each_table)
        measured = measure(workspace, asked, parts, ask)
    if as_json:
        print_json(measured.to_dict())
    else:
        print_measured(measured)
    if plot is not None:  # last: what took long is shown before this can fail
        from pneuma_bench.discovery.drawing import draw_measured

        draw_measured(plot, measured)
    if answers is not None:
        _write(answers, measured.asked)


def _parts(given: Collection[str] | None) -> Collection[str]:
    from pneuma_bench.discovery.measuring import PARTS

    parts = given or PARTS[:1]
    if unknown := [one for one in parts if one not in PARTS]:
        raise UsageError(f"--of takes {', '.join(PARTS)}, not {unknown[0]!r}")
    return parts


def _asking(
    workspace: "Workspace", k: int | None, model: bool | None, *, each_table: bool
) -> "Ask":
    from pneuma_bench.discovery.cells_found import asked_of, asked_of_each_table

    if each_table:
        return asked_of_each_table(workspace, 10 if k is None else k, model)
    return asked_of(workspace, k, model)


def _write(path: Path, asked: "Sequence[Asked]") -> None:
    from pneuma_bench.files import whole

    with whole(path) as stream:
        for one in asked:
            stream.write(json.dumps(one.to_dict(), default=str).encode() + b"\n")
