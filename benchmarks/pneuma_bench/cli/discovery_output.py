"""Prints how well tables, sets of them, and cells were found."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pneuma_assets.cli.output import print_line, print_table

if TYPE_CHECKING:
    from pneuma_bench.discovery.cells_found import CellFigures
    from pneuma_bench.discovery.groups_found import GroupFigures
    from pneuma_bench.discovery.measuring import Measured
    from pneuma_bench.discovery.tables_found import Selection


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
