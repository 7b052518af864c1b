"""`pneuma-assets lineage`: what a table is built from, and what is built from it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import JsonOption, ReadersOption, TableArgument
from pneuma_assets.cli.output import print_captured, print_json, print_line
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.text.safe import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.tree import Tree

    from pneuma_assets.core.service.lineage import LinkedTable
    from pneuma_assets.workspace import Workspace

MOST_PAIRS = 20
"""Pairs of columns shown of an edge."""

_WORDS = {"upstream": "built from", "downstream": "feeds"}


def lineage(
    workspace: "Workspace",
    table_id: TableArgument = None,
    upstream: Annotated[
        bool, typer.Option("--upstream", help="Only what it is built from.")
    ] = False,
    downstream: Annotated[
        bool, typer.Option("--downstream", help="Only what is built from it.")
    ] = False,
    depth: Annotated[int, typer.Option(metavar="N", help="Steps to follow.")] = 10,
    columns: Annotated[
        bool, typer.Option("--columns", help="Show which column comes from which.")
    ] = False,
    openlineage: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write OpenLineage events, of TABLE or of all; - is the output."
        ),
    ] = None,
    readers: ReadersOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a table is built from, and what is built from it.

    A table that leads there several ways is shown once, by the shortest.
    """
    if as_json and openlineage is not None:
        raise UsageError("give --json or --openlineage, not both")
    if openlineage is not None and readers is not None:
        raise UsageError("--openlineage writes of all tables; leave --as out")
    if table_id is None and openlineage is None:
        raise UsageError("name the table")
    if openlineage is not None:
        _write(openlineage, workspace.openlineage(table_id))
        return
    way = None if upstream == downstream else "upstream" if upstream else "downstream"
    found = workspace.lineage(table_id or "", way, depth=depth, readers=readers)
    if as_json:
        print_json(found)
    elif not found:
        print_line(f"No lineage recorded for {table_id}.")
    else:
        _print_trees(table_id or "", found, columns=columns)


def _write(file: Path, events: "Iterator[str]") -> None:
    """Write events, one a line; a file is there whole or not at all."""
    lines = [f"{event}\n" for event in events]
    if str(file) == "-":
        print("".join(lines), end="")  # noqa: T201
        return
    beside = file.with_name(f".{file.name}.part")
    try:
        beside.write_text("".join(lines), "utf-8")
        beside.replace(file)
    except OSError as error:
        raise ConfigError(f"{file} cannot be written ({error.strerror}); choose another") from error
    print_line(f"{len(lines):,} events written to {file}")


def _print_trees(table_id: str, found: "Sequence[LinkedTable]", *, columns: bool) -> None:
    from rich.text import Text
    from rich.tree import Tree

    root = Tree(Text(printable(table_id)))
    for way, words in _WORDS.items():
        linked = [one for one in found if one.direction == way]
        if linked:
            _grow(root.add(words), table_id, linked, columns=columns)
    print_captured(root)


def _grow(tree: "Tree", table_id: str, linked: "Sequence[LinkedTable]", *, columns: bool) -> None:
    """Hang each table below the one by which it was reached; these come first."""
    from rich.text import Text

    branches = {table_id: tree}
    for one in linked:
        told = f"{printable(one.table_id)}  ({one.kind.replace('_', ' ')})"
        branch = branches[one.via].add(Text(told, overflow="fold"))
        branches[one.table_id] = branch
        if columns:
            for above, below in one.columns[:MOST_PAIRS]:
                branch.add(Text(f"{printable(above)} -> {printable(below)}", style="dim"))
            if len(one.columns) > MOST_PAIRS:
                branch.add(Text(f"and {len(one.columns) - MOST_PAIRS} more", style="dim"))
