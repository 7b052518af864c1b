"""`pneuma-bench discovery` and `independent`: how well tables and cells are found."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import JsonOption, command
from pneuma_assets.cli.output import counted, print_json, print_line, print_table, showing_progress
from pneuma_bench.cli.shared import (
    AnswersOption,
    QueriesOption,
    TablesOption,
    app,
    listed,
    names,
    path,
)

if TYPE_CHECKING:
    from pneuma_assets.workspace import Workspace


@app.command()
def independent(
    tables: TablesOption,
    queries: QueriesOption,
    out: Annotated[Path, path("C.jsonl", "The file to write.")],
    rows: Annotated[
        int, typer.Option(min=1, max=100_000, help="Most rows that a table may answer with.")
    ] = 1_000,
) -> None:
    """Run the SQL of made questions on all tables, and write which answer, with their cells.

    No model is asked. The questions are those of `pneuma-bench generate`.
    """
    from pneuma_bench.discovery.independent import independent_benchmark
    from pneuma_bench.discovery.records import read_discovery
    from pneuma_bench.files import write_lines
    from pneuma_bench.reading import read_tables

    with showing_progress():
        found = independent_benchmark(read_tables(tables), read_discovery(queries), rows)
        write_lines(out, (one.to_dict() for one in found.kept))
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
@command
def discovery(
    workspace: "Workspace",
    queries: QueriesOption,
    of: Annotated[
        list[str] | None, names("PART,...", "tables, groups, cells. [default: tables]")
    ] = None,
    k: Annotated[
        int | None, typer.Option("-k", "--k", min=1, help="Sets of tables asked about for cells.")
    ] = None,
    model: Annotated[
        bool | None, typer.Option("--model/--no-model", help="Whether a model writes SQL.")
    ] = None,
    answers: AnswersOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask the deployment questions whose answers are known (`independent`), and count.

    Tables: macro precision, recall and F1. Groups: Hit@K of sets of tables. Cells: macro precision,
    recall and F1 of cells, what a model was asked, and how long it took.
    """
    from pneuma_assets.core.evaluation.evaluate import questions_of
    from pneuma_bench.discovery import measuring
    from pneuma_bench.discovery.records import read_discovery
    from pneuma_bench.files import write_lines
    from pneuma_bench.reading import question_records

    parts = listed(of) or measuring.PARTS[:1]
    if unknown := [one for one in parts if one not in measuring.PARTS]:
        raise UsageError(f"--of takes {', '.join(measuring.PARTS)}, not {unknown[0]!r}")
    known = {one: one for one in workspace.search_index.list_tables()}
    questions_of(queries, question_records(queries), known)  # refuses other tables
    asked = read_discovery(queries)
    figures: dict[str, Any] = {"questions": len(asked)}
    given: list[measuring.Asked] = []
    with showing_progress():
        if "cells" in parts:
            given = measuring.ask_all(partial(workspace.answer, k=k, model=model), asked)
            figures["cells"] = measuring.count_cells(given)
        if "tables" in parts:
            figures["tables"] = measuring.measure_tables(workspace, asked)
        if "groups" in parts:
            figures["groups"] = measuring.measure_groups(workspace, asked)
    if as_json:
        print_json(figures)
    else:
        _print(figures)
    if answers is not None:
        write_lines(answers, (one.to_dict() for one in given))


def _print(figures: Mapping[str, Any]) -> None:
    """Print a table for each part that was measured."""
    print_line(f"{figures['questions']:,} questions")
    tables = figures.get("tables", ())
    _print_records([{"rule": "k" if "k" in one else "tau", **one} for one in tables])
    groups = figures.get("groups", ())
    _print_records([{**one, "needed": one["needed"] or "all"} for one in groups])
    if found := figures.get("cells"):
        parts = {"cells": "cells", "first": "cells, first answer", "tables": "their tables"}
        _print_records([{"answers": what, **found[part]} for part, what in parts.items()])
        _print_costs(found)


def _print_records(records: Sequence[Mapping[str, Any]]) -> None:
    """Print records of the same figures; what they are of stands in the first columns."""
    rows = [
        [_shown(value) for name, value in one.items() if name != "intervals"] for one in records
    ]
    if records:
        names = ["at" if name == "k" else name for name in records[0] if name != "intervals"]
        print_table(names, rows, numbers=names[1:])


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}".removesuffix(".000")
    return "" if value is None else str(value)


def _print_costs(found: Mapping[str, Any]) -> None:
    for what, counts in {
        "of questions that tables answer": found["outcomes"],
        "of questions that none answers": found["unanswerable"],
        "first answers by": found["made_by"] | {"written twice": found["repaired"]},
    }.items():
        said = ", ".join(f"{number:,} {name}" for name, number in counts.items())
        print_line(f"{what}: {said or 'none'}")
    usage = found["usage"]
    print_line(
        f"a question: {usage['calls']:.2f} calls, {usage['read']:,.0f} tokens read, "
        f"{usage['written']:,.0f} written; {found['seconds']:.2f} s (median {found['median']:.2f})"
    )
