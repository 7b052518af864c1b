"""`pneuma-bench discovery` and `independent`: how well tables and cells are found."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, given_path, load
from pneuma_assets.cli.output import counted, print_json, print_line, print_table, showing_progress
from pneuma_bench.cli.ablate import check_plot
from pneuma_bench.cli.shared import QueriesOption, app, listed

if TYPE_CHECKING:
    from pneuma_assets.core.service.workspace import Workspace
    from pneuma_bench.discovery.cells_found import Ask, Asked, CellFigures
    from pneuma_bench.discovery.measuring import GroupFigures, Measured, Selection


def print_measured(measured: "Measured") -> None:
    """Print a table for each part that was measured."""
    print_line(f"{measured.questions:,} questions")
    if measured.tables:
        _print_tables(measured.tables)
    if measured.groups:
        _print_groups(measured.groups)
    if measured.cells is not None:
        _print_cells(measured.cells)


def _print_tables(selections: "Sequence[Selection]") -> None:
    names = ["precision", "recall", "F1"]
    rows = [
        [
            f"{one.rule} = {one.value:g}",
            f"{one.tables:.2f}",
            *_figures(one.figures.values, names),
            "{:.3f} to {:.3f}".format(*one.figures.intervals["F1"]),
        ]
        for one in selections
    ]
    print_table(["tables", "a question", *names, "F1, 95 %"], rows, numbers=["a question", *names])


def _print_groups(groups: "Sequence[GroupFigures]") -> None:
    names = [*groups[0].figures.values]
    rows = [
        [
            "all" if one.needed is None else f"{one.needed:,}",
            f"{one.figures.questions:,}",
            *_figures(one.figures.values, names),
        ]
        for one in groups
    ]
    print_table(["tables needed", "questions", *names], rows, numbers=["questions", *names])


def _print_cells(found: "CellFigures") -> None:
    names = ["precision", "recall", "F1"]
    parts = {"cells": found.cells, "cells, first answer": found.first, "their tables": found.tables}
    rows = [
        [what, f"{one.questions:,}", *_figures(one.values, names)] for what, one in parts.items()
    ]
    print_table(["answers", "questions", *names], rows, numbers=["questions", *names])
    print_line(f"of questions that tables answer: {_counted(found.outcomes)}")
    if found.unanswerable:
        print_line(f"of questions that none answers: {_counted(found.unanswerable)}")
    print_line(f"first answers by: {_counted(found.made_by)}; written twice: {found.repaired:,}")
    usage = found.usage
    print_line(
        f"a question: {usage['calls']:.2f} calls, {usage['read']:,.0f} tokens read, "
        f"{usage['written']:,.0f} written; {found.seconds:.2f} s (median {found.median:.2f})"
    )


def _figures(values: Mapping[str, float], names: Sequence[str]) -> list[str]:
    return [f"{values[name]:.3f}" for name in names]


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in counts.items()) or "none"


@app.command()
def independent(
    tables: Annotated[
        Path,
        typer.Option(parser=given_path, metavar="T.jsonl", help="Tables, a JSON object a line."),
    ],
    queries: QueriesOption,
    out: Annotated[
        Path, typer.Option(parser=given_path, metavar="C.jsonl", help="The file to write.")
    ],
    rows: Annotated[
        int, typer.Option(min=1, max=100_000, help="Most rows that a table may answer with.")
    ] = 1_000,
    as_json: JsonOption = False,
) -> None:
    """Run the SQL of made questions on all tables, and write which answer, with their cells.

    No model is asked. The questions are those of `pneuma-bench generate`.
    """
    from pneuma_bench.discovery.independent import independent_benchmark
    from pneuma_bench.discovery.records import read_discovery, write_discovery
    from pneuma_bench.files import check_writable
    from pneuma_bench.reading import read_tables

    check_writable(out)
    with showing_progress():
        found = independent_benchmark(read_tables(tables), read_discovery(queries), rows)
        write_discovery(out, found.kept)
    if as_json:
        changed = {"more": found.more, "fewer": found.fewer}
        told = {"kept": len(found.kept), "left_out": found.left_out, "tables": found.tables}
        print_json(told | changed)
        return
    print_line(f"{counted(len(found.kept), 'question', 'questions')} written to {out}")
    for reason, number in found.left_out.items():
        print_line(f"left out: {counted(number, 'question', 'questions')}: {reason}")
    print_line(
        f"{found.more:,} are answered by tables that {queries.name} does not name, {found.fewer:,} "
        "not by all that it names"
    )
    shown = [[f"{several:,}", f"{number:,}"] for several, number in found.tables.items()]
    print_table(["tables that answer", "questions"], shown, numbers=["questions"])


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
