"""`pneuma-assets context`: what people know of a table, added by hand."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.failures import UsageError
from pneuma_assets.cli.inputs import read_input
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, load
from pneuma_assets.cli.output import print_json, print_line, print_table

if TYPE_CHECKING:
    from pneuma_assets.core.service.workspace import Workspace

MAX_BYTES = 4_000_000

NEXT_RUN = "Run pneuma-assets index to update the index."

app = typer.Typer(rich_markup_mode=None, help="Add, remove or list what people know of a table.")

TableId = Annotated[str, typer.Argument(metavar="TABLE_ID", help="As search and status show it.")]
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Label; reusing a label replaces its text.")
]


@app.command()
def add(
    context: typer.Context,
    table_id: TableId,
    name: Name,
    file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Read the text from this file.")
    ] = None,
    text: Annotated[str | None, typer.Option(metavar="TEXT", help="The text itself.")] = None,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Add a text about a table: --file, --text, or standard input."""
    given = _text(file, text)
    with _workspace(context, home, config) as workspace:
        workspace.add_context(table_id, name, given)
    print_line(f"added '{name}' to {table_id}. {NEXT_RUN}")


@app.command()
def remove(
    context: typer.Context,
    table_id: TableId,
    name: Name,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Remove a text that was added to a table."""
    with _workspace(context, home, config) as workspace:
        workspace.remove_context(table_id, name)
    print_line(f"removed '{name}' from {table_id}. {NEXT_RUN}")


@app.command(name="list")
def list_(
    context: typer.Context,
    table_id: TableId,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """List the texts that were added to a table."""
    with _workspace(context, home, config) as workspace:
        found = workspace.contexts(table_id)
    if as_json:
        print_json([asdict(entry) for entry in found])
    elif not found:
        print_line(f"nothing was added to {table_id}")
    else:
        print_table(["name", "text"], [[entry.name, entry.text[:300]] for entry in found])


def _workspace(context: typer.Context, home: Path | None, config: Path | None) -> "Workspace":
    from pneuma_assets.core.service.workspace import Workspace

    return Workspace(load(context, home, config))


def _text(file: Path | None, text: str | None) -> str:
    """Return the text given; a web page or JSON file is read as a document beside a table is.

    Raises:
        UsageError: No text is given, or two, or it cannot be read as text.
    """
    from pneuma_assets.core.dictionaries.text import document_text

    if file is not None and text is not None:
        raise UsageError("give --file or --text, not both")
    if text is not None:
        return text
    if file is None and sys.stdin.isatty():
        raise UsageError("give --file FILE, --text TEXT, or the text on standard input")
    name, data = read_input(file, MAX_BYTES, "--file")
    try:
        return document_text("text.txt" if file is None else file.name, data)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name} cannot be taken as text: {error}") from error
