"""`pneuma-assets index`: bring the index up to date."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.errors import EXIT_FAILURE, UsageError
from pneuma_assets.cli.hints import copyable
from pneuma_assets.cli.options import JsonOption, given_path
from pneuma_assets.cli.output import (
    counted,
    print_indented,
    print_json,
    print_line,
    print_table,
    showing_progress,
)

if TYPE_CHECKING:
    from pneuma_assets.core.service.index_report import IndexingReport
    from pneuma_assets.core.tables import Problem
    from pneuma_assets.workspace import Workspace

SHOWN_PROBLEMS = 20
_LINES_OF_STAGES = 9


def index(
    workspace: "Workspace",
    folder: Annotated[
        Path | None,
        typer.Argument(
            parser=given_path,
            metavar="[FOLDER]",
            show_default=False,
            help="Index this folder, and remember it. [default: every source]",
        ),
    ] = None,
    source: Annotated[
        list[str] | None, typer.Option("--source", metavar="NAME", help="Index only this source.")
    ] = None,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Reindex every table, even if unchanged.")
    ] = False,
    accept_removals: Annotated[
        bool,
        typer.Option(
            "--accept-removals", help="Confirm removal of tables missing from one source."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Index every table that is new or changed.

    The exit code is 0 when tables were indexed, or were already, even if some have problems; 1
    when a source cannot be listed or most of it is gone at once, no table was found or none could
    be indexed, or the run failed.
    """
    if folder is not None and source:
        raise UsageError("give a FOLDER or --source, not both")
    with showing_progress():
        report = workspace.index(
            folder, sources=source or (), rebuild=rebuild, accept_removals=accept_removals
        )
    if as_json:
        print_json(report)
    else:
        _print_report(report)
    if not report.succeeded:
        raise typer.Exit(EXIT_FAILURE)


def _print_report(report: "IndexingReport") -> None:
    figures = {
        "tables indexed": f"{report.indexed:,}",
        "unchanged": f"{report.unchanged:,}",
        "removed": f"{report.removed:,}",
        "failed": f"{report.failed:,}",
        "columns described": f"{report.described_columns:,} of {report.columns:,}",
        "blocks": f"{report.blocks:,}",
    }
    print_table([*figures], [[*figures.values()]])
    if report.narrated_columns:
        asked, used = counted(report.narrated_columns, "column", "columns"), report.usage
        print_line(f"a language model was asked for {asked}")
        cost = f", at a cost of {used.cost:,.4f}" if used.cost else ""
        requests = counted(used.calls, "request", "requests")
        print_line(f"  {requests}, {used.read:,} tokens read, {used.written:,} written{cost}")
    parts = dict(report.stage_seconds)
    parts["start and end"] = max(0.0, report.seconds - sum(parts.values()))
    stages = ", ".join(f"{name} {took:.1f} s" for name, took in parts.items())
    took = f"took {report.seconds:.1f} s ({stages})"
    if not report.stage_seconds:
        took = f"nothing has changed, so no run was started; took {report.seconds:.1f} s"
    print_indented(took, margin=0, most_lines=_LINES_OF_STAGES)
    if report.renamed:
        renamed = counted(report.renamed, "table has", "tables have")
        more = ", ..." if report.renamed > 1 else ""
        print_line(f"{renamed} another name than before: {report.last_renaming}{more}")
    if report.forgotten:
        gone = counted(report.forgotten, "table", "tables")
        print_line(f"also gone from the source, never indexed: {gone}")
    if report.elsewhere:
        print_line(f"another run is working on {counted(report.elsewhere, 'table', 'tables')}")
    left = report.removed + report.forgotten or report.problems
    if not any((report.indexed, report.unchanged, report.failed, report.elsewhere, left)):
        print_line("no tables were found: CSV, TSV, Parquet and JSON Lines files are tables")
    print_problems(report.problems, SHOWN_PROBLEMS)
    if report.indexed or report.unchanged:
        print_line("next: pneuma-assets search QUESTION")


def print_problems(problems: "Sequence[Problem]", most: int | None = None) -> None:
    """Print problems, a table each with stage and cause; `most` bounds how many."""
    if not problems:
        return
    shown = problems if most is None else problems[:most]
    print_line()
    rows = [[p.subject, p.stage, copyable(p.cause)] for p in shown]
    print_table(["problem with", "stage", "cause"], rows)
    if len(shown) < len(problems):
        print_line(f"and {len(problems) - len(shown)} more: pneuma-assets status --problems")
