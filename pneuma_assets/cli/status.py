"""`pneuma-assets status` and `sources`: what is indexed, what is not and why, and where from."""

from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.errors import EXIT_FAILURE
from pneuma_assets.cli.index import SHOWN_PROBLEMS, print_problems
from pneuma_assets.cli.options import JsonOption
from pneuma_assets.cli.output import counted, print_json, print_line, print_table, showing_progress

if TYPE_CHECKING:
    from pneuma_assets.core.config.deployment import Deployment
    from pneuma_assets.core.index.base import IndexInfo
    from pneuma_assets.core.service.status import Status
    from pneuma_assets.workspace import Workspace


def status(
    workspace: "Workspace",
    problems: Annotated[
        bool, typer.Option("--problems", help="Show every problem, and nothing else.")
    ] = False,
    tables: Annotated[
        bool, typer.Option("--tables", help="Show every table's id, state and size.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show what is indexed, what is not, and why; loads no model."""
    found = workspace.status()
    if as_json:
        whole = found.to_dict()
        print_json(whole["problems"] if problems else whole)
    elif problems:
        print_problems(found.problems)
        if not found.problems:
            print_line("no problems")
    elif tables:
        rows = [
            [
                *(one.table_id, one.state),
                *map(_number, (one.rows, one.columns, one.blocks)),
                "; ".join(one.notes),
            ]
            for one in found.tables
        ]
        print_table(["table", "state", "rows", "columns", "blocks", "notes"], rows)
    else:
        _print(workspace, found)
    if not found.usable:  # damaged, or not to be reached: programs see it by the exit code
        raise typer.Exit(EXIT_FAILURE)


def _print(workspace: "Workspace", found: "Status") -> None:
    from pneuma_assets.core.config.owner import owner_of
    from pneuma_assets.core.service.status import how_to_index

    loaded = workspace.loaded
    print_line(f"state: {loaded.deployment.state.location(found.home)}")
    print_line(f"deployment file: {loaded.file or 'none'}")
    owner = owner_of(loaded)
    if owner is not None:
        print_line(f"component: {owner.component} (in its project run: {owner.command})")
    if found.empty:
        print_line(f"nothing is indexed yet; {how_to_index(loaded)}")
        return
    counts = sorted(found.counts().items())
    if counts or found.problems:
        print_line("tables: " + (", ".join(f"{n:,} {state}" for state, n in counts) or "none"))
    else:  # another machine indexes; this one asks
        print_line("tables: this machine has indexed none")
    if found.last_run is not None:
        run = found.last_run
        came_of_it = f"ended {run.ended_at}" if run.ended_at else run.outcome
        print_line(f"last run: began {run.started_at}, {came_of_it}")
    if found.corrections:
        left = sum(not one.present for one in found.corrections)
        away = f", {left:,} of them of what is not there now" if left else ""
        corrected = counted(len(found.corrections), "description", "descriptions")
        print_line(f"corrected by people: {corrected}{away} (pneuma-assets describe)")
    if any(found.answers.values()):
        told = ", ".join(f"{number:,} {name}" for name, number in found.answers.items())
        print_line(f"answers: {told} (pneuma-assets confirmed)")
    for notice in (*_models(loaded.deployment), *found.notices):
        print_line(notice)
    if found.sources:
        print_line()
        rows = [
            [one.name, one.type, f"{one.tables:,}", one.listed_at or "never", one.where]
            for one in found.sources
        ]
        print_table(["source", "type", "tables", "listed", "where"], rows, numbers=["tables"])
    if found.index is not None:
        print_line()
    print_index(found.index)
    print_problems(found.problems, SHOWN_PROBLEMS)


def _models(deployment: "Deployment") -> list[str]:
    models = [f"{one.model} ({name})" for name, one in deployment.language_models.items()]
    return [f"language models: {', '.join(models)}"] if models else []


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def print_index(info: "IndexInfo | None") -> None:
    """Print which engine holds what, its size and health, and where it is."""
    if info is None:
        print_line("Index: empty. Run pneuma-assets index.")
        return
    held = ["-"] * 3
    if info.dimension:
        size = _size(info.size_bytes) if info.size_bytes else "unknown"
        held = [f"{info.tables:,}", f"{info.blocks:,}", size]
    print_table(
        ["index", "encoder", "tables", "blocks", "size", "health"],
        [[info.engine, info.encoder, *held, info.health]],
    )
    print_line(", ".join(f"{name}: {value}" for name, value in info.details.items()))


def _size(size: float) -> str:
    """Return a number of bytes as people read it, in units of 1,024."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def sources(workspace: "Workspace", as_json: JsonOption = False) -> None:
    """Show each source, where it is, and how many tables it lists now.

    The exit code is 1 when a source cannot be reached.
    """
    from pneuma_assets.core.config.owner import owner_of

    with showing_progress(lasting=False):
        checks = workspace.check_sources()
    owner = owner_of(workspace.loaded)
    if as_json:
        print_json(checks)
    elif owner is not None:
        print_line(f"the sources are those of the component in {owner.component}")
        print_line(f"in that project run: {owner.command}")
    elif not checks:
        print_line("no sources yet; run: pneuma-assets index FOLDER")
    else:
        rows = [
            [
                *(check.name, check.type, _number(check.tables), f"{len(check.problems):,}"),
                check.where if check.cause is None else f"{check.where}: {check.cause}",
            ]
            for check in checks
        ]
        headings = ["source", "type", "tables", "problems", "where"]
        print_table(headings, rows, numbers=["tables", "problems"])
    if any(not check.reachable for check in checks):
        raise typer.Exit(EXIT_FAILURE)
