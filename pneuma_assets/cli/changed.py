"""`pneuma-assets changed`: other programs say that tables have changed."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import JsonOption, lines_of, read_input
from pneuma_assets.cli.output import counted, print_json, print_line

if TYPE_CHECKING:
    from pneuma_assets.core.service.changed import Changed
    from pneuma_assets.workspace import Workspace

MAX_BYTES = 8_000_000
SHOWN = 20


def changed(
    workspace: "Workspace",
    tables: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TABLE_OR_PATTERN]...",
            show_default=False,
            help="An id, a pattern such as 'lake/2026/*', a full name, a path or a URI; "
            "'-' reads them from standard input, a line each.",
        ),
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option("--source", metavar="NAME", help="List this source: something changed in it."),
    ] = None,
    reason: Annotated[
        str, typer.Option(metavar="TEXT", help="Who says so, and why; people see it.")
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Say that tables have changed; the next run reads them again.

    For the end of a pipeline, a trigger or a hook. It takes no model and waits for no run. A table
    that is not known yet is found because its source is listed.
    """
    names = _names(tables or [])
    if not names and not source:
        raise UsageError("name a table, a pattern, or --source NAME")
    told = workspace.changed(names, sources=source or (), reason=reason)
    if as_json:
        print_json(told)
    else:
        _show(told)


def _names(given: list[str]) -> list[str]:
    """Return what was named, lines of standard input in the place of '-'."""
    names = []
    for one in given:
        if one != "-":
            names.append(one)
            continue
        name, data = read_input(Path("-"), MAX_BYTES, "-")
        for number, line in lines_of(name, data).items():
            if line is None:
                raise UsageError(f"{name}, line {number}: is not UTF-8")
            names.append(line)
    return names


def _show(told: "Changed") -> None:
    if told.tables:
        more = "…" if len(told.tables) > SHOWN else ""
        known = counted(len(told.tables), "known table", "known tables")
        print_line(f"{known} queued for re-reading: {', '.join(told.tables[:SHOWN])}{more}")
    for new in told.new[:SHOWN]:
        near = f" (did you mean {', '.join(new.near)}?)" if new.near else ""
        print_line(f"{new.name} is not known yet; {new.source} is listed for it{near}")
    if len(told.new) > SHOWN:
        others = counted(len(told.new) - SHOWN, "other name that is", "other names that are")
        print_line(f"and {others} not known yet")
    print_line(
        f"sources to be listed: {', '.join(told.sources)}; the sensor does so, or run: "
        "pneuma-assets index"
    )
