"""`pneuma-assets status` and `sources`: what is indexed, what is not and why, and where from."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.errors import EXIT_FAILURE
from pneuma_assets.cli.index import SHOWN_PROBLEMS, print_problems
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, load
from pneuma_assets.cli.output import counted, print_json, print_line, print_table, showing_progress
from pneuma_assets.core.text.safe import printable

if TYPE_CHECKING:
    from pneuma_assets.core.index.base import IndexInfo
    from pneuma_assets.core.service.status import Status


def status(
    context: typer.Context,
    problems: Annotated[
        bool, typer.Option("--problems", help="Show every problem, and nothing else.")
    ] = False,
    tables: Annotated[
        bool, typer.Option("--tables", help="Show every table's id, state and size.")
    ] = False,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Show what is indexed, what is not, and why; loads no model."""
    loaded = load(context, home, config)
    from pneuma_assets.core.config.owner import owner_of
    from pneuma_assets.core.service.status import how_to_index
    from pneuma_assets.core.service.workspace import Workspace

    with Workspace(loaded) as workspace:
        found = workspace.status()
    if as_json:
        whole = found.to_dict()
        print_json(whole["problems"] if problems else whole)
        _end(found)
        return
    if problems:
        print_problems(list(found.problems))
        if not found.problems:
            print_line("no problems")
        return
    if tables:
        print_table(
            ["table", "state", "rows", "columns", "blocks", "notes"],
            [
                [
                    printable(table.table_id),
                    table.state,
                    _number(table.rows),
                    _number(table.columns),
                    _number(table.blocks),
                    printable("; ".join(table.notes)),
                ]
                for table in found.tables
            ],
        )
        return
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
    if found.corrections:
        left = sum(not one.present for one in found.corrections)
        away = f", {left:,} of them of what is not there now" if left else ""
        print_line(
            "corrected by people: "
            f"{counted(len(found.corrections), 'description', 'descriptions')}{away} "
            "(pneuma-assets describe)"
        )
    for notice in found.notices:
        print_line(notice)
    print_index(found.index)
    print_problems(list(found.problems), SHOWN_PROBLEMS)
    _end(found)


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _end(found: "Status") -> None:
    """Let programs see by the exit code that the index is damaged or cannot be reached."""
    if not found.usable:
        raise typer.Exit(EXIT_FAILURE)


def print_index(info: "IndexInfo | None") -> None:
    """Print which engine holds what, its size and health, and where it is."""
    if info is None:
        print_line("Index: empty. Run pneuma-assets index.")
        return
    print_line()
    print_table(
        ["index", "encoder", "tables", "blocks", "size", "health"],
        [
            [
                info.engine,
                info.encoder,
                f"{info.tables:,}" if info.dimension else "-",
                f"{info.blocks:,}" if info.dimension else "-",
                readable_size(info.size_bytes) if info.dimension else "-",
                info.health,
            ]
        ],
    )
    print_line(", ".join(f"{name}: {printable(value)}" for name, value in info.details.items()))


def readable_size(size: float) -> str:
    """Return a number of bytes as people read it, in units of 1,024."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def sources(
    context: typer.Context,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Show each source, where it is, and how many tables it lists now.

    The exit code is 1 when a source cannot be reached.
    """
    loaded = load(context, home, config)
    from pneuma_assets.core.config.owner import owner_of
    from pneuma_assets.core.service.workspace import Workspace

    with Workspace(loaded) as workspace, showing_progress(lasting=False):
        checks = workspace.check_sources()
    owner = owner_of(loaded)
    if as_json:
        print_json([asdict(check) for check in checks])
    elif owner is not None:
        print_line(f"the sources are those of the component in {owner.component}")
        print_line(f"in that project run: {owner.command}")
    elif not checks:
        print_line("no sources yet; run: pneuma-assets index FOLDER")
    else:
        print_table(
            ["source", "type", "tables", "problems", "where"],
            [
                [
                    check.name,
                    check.type,
                    "-" if check.tables is None else f"{check.tables:,}",
                    f"{len(check.problems):,}",
                    check.where if check.cause is None else f"{check.where}: {check.cause}",
                ]
                for check in checks
            ],
            numbers=["tables", "problems"],
        )
    if any(not check.reachable for check in checks):
        raise typer.Exit(EXIT_FAILURE)
