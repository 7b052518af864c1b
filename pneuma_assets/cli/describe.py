"""`pneuma-assets describe` and `context`: descriptions, people's corrections and added texts."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import (
    AuthorOption,
    JsonOption,
    TableArgument,
    command,
    read_input,
)
from pneuma_assets.cli.output import print_json, print_line, print_table

if TYPE_CHECKING:
    from pneuma_assets.core.service.describe import ColumnDescription
    from pneuma_assets.workspace import Workspace

NEXT_RUN = "Run pneuma-assets index to update the index."


def describe(
    workspace: "Workspace",
    table_id: TableArgument = None,
    column: Annotated[
        str | None,
        typer.Argument(
            metavar="[COLUMN]", help="Its name; without, the table itself.", show_default=False
        ),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Describe it, in place of every other description."),
    ] = None,
    reject: Annotated[
        bool, typer.Option("--reject", help="Hide descriptions by models, values and documents.")
    ] = False,
    reset: Annotated[
        bool, typer.Option("--reset", help="Remove the correction or rejection.")
    ] = False,
    author: AuthorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show, correct or reject the descriptions of a table and its columns.

    Without an option it shows each description, who wrote it and when; without a table, all
    corrections and rejections.
    """
    from pneuma_assets.core.service.status import why_not_indexed

    changes = (text is not None) + reject + reset
    if changes > 1:
        raise UsageError("give one of --text, --reject and --reset")
    if author is not None and text is None and not reject:
        raise UsageError("--author goes with --text or --reject")
    if table_id is None:
        if changes:
            raise UsageError("name the table, and the column if it is about one")
        found = workspace.descriptions()
    elif not changes:
        found = workspace.descriptions(table_id)
        if column is not None:
            found = _of_column(found, table_id, column)
    else:
        _change(workspace, table_id, column, text, author, reset=reset, as_json=as_json)
        return
    if as_json:
        print_json(found)
    elif found:
        _show(found, of_tables=table_id is None)
        if table_id is not None and all(one.column is None and one.present for one in found):
            why = why_not_indexed(table_id, workspace.store)
            print_line(f"{table_id} is not indexed: {why}")
    else:
        print_line("No corrections.")


def _change(
    workspace: "Workspace",
    table_id: str,
    column: str | None,
    text: str | None,
    author: str | None,
    *,
    reset: bool,
    as_json: bool,
) -> None:
    """Change what is said of a column or table, and show what is said now."""
    found = []
    if reset:
        workspace.withdraw(table_id, column)
    elif text is not None:
        workspace.describe(table_id, column, text, author=author)
    else:
        workspace.reject(table_id, column, author=author)
    if table_id in workspace.known_tables():
        found = [one for one in workspace.descriptions(table_id) if one.column == column]
    if as_json:
        print_json(found)
        return
    if found:
        _show(found)
    print_line(f"{'Withdrawn' if reset else 'Saved'}. {NEXT_RUN}")


def _of_column(
    found: "list[ColumnDescription]", table_id: str, column: str
) -> "list[ColumnDescription]":
    from pneuma_assets.core.service.describe import check_column

    names = [one.column for one in found if one.column is not None]
    check_column(table_id, column, names, f"`pneuma-assets describe {table_id}` lists them")
    return [one for one in found if one.column == column]


def _show(found: "list[ColumnDescription]", *, of_tables: bool = False) -> None:
    rows = [
        [
            "(the table)" if one.column is None else one.column,
            _who(one),
            (one.said_at or "-").partition("T")[0],
            _what(one),
        ]
        for one in found
    ]
    headings = ["column", "by", "when", "what"]
    if of_tables:
        headings = ["table", *headings]
        rows = [[one.table_id, *row] for one, row in zip(found, rows, strict=True)]
    print_table(headings, rows)


def _who(one: "ColumnDescription") -> str:
    if one.by in ("correction", "model", "document"):
        return f"{one.by}: {one.source}" if one.source else one.by
    return one.by or "-"


def _what(one: "ColumnDescription") -> str:
    said = one.text or ("known after the next run" if one.pending else "-")
    if one.rejected_by is not None:
        said += f" (rejected by {one.rejected_by})"
    return said if one.present else f"{said} (not there now)"


MAX_BYTES = 4_000_000
"""Of a text that is added."""

app = typer.Typer(rich_markup_mode=None, help="Add, remove or list what people know of a table.")

TableId = Annotated[str, typer.Argument(metavar="TABLE_ID", help="As search and status show it.")]
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Label; reusing a label replaces its text.")
]


@app.command()
@command
def add(
    workspace: "Workspace",
    table_id: TableId,
    name: Name,
    file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Read the text from this file.")
    ] = None,
    text: Annotated[str | None, typer.Option(metavar="TEXT", help="The text itself.")] = None,
) -> None:
    """Add a text about a table: --file, --text, or standard input."""
    given = _text(file, text)
    workspace.add_context(table_id, name, given)
    print_line(f"added '{name}' to {table_id}. {NEXT_RUN}")


@app.command()
@command
def remove(
    workspace: "Workspace",
    table_id: TableId,
    name: Name,
) -> None:
    """Remove a text that was added to a table."""
    workspace.remove_context(table_id, name)
    print_line(f"removed '{name}' from {table_id}. {NEXT_RUN}")


@app.command(name="list")
@command
def list_(
    workspace: "Workspace",
    table_id: TableId,
    as_json: JsonOption = False,
) -> None:
    """List the texts that were added to a table."""
    found = workspace.contexts(table_id)
    if as_json:
        print_json(found)
    elif not found:
        print_line(f"nothing was added to {table_id}")
    else:
        print_table(["name", "text"], [[entry.name, entry.text[:300]] for entry in found])


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
