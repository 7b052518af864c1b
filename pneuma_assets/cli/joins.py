"""`pneuma-assets joins`: by which columns a table can be joined, and people's last word on it."""

from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import AuthorOption, JsonOption, ReadersOption, TableArgument
from pneuma_assets.cli.output import print_json, print_line, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pneuma_assets.core.service.joins import JudgedJoin, KnownJoin
    from pneuma_assets.workspace import Workspace


def joins(
    workspace: "Workspace",
    table_id: TableArgument = None,
    to: Annotated[str | None, typer.Option(metavar="TABLE", help="Another table.")] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="NAME", help="Of TABLE; repeat it for a key of several."),
    ] = None,
    to_columns: Annotated[
        list[str] | None,
        typer.Option("--to-column", metavar="NAME", help="Of the other table, in the same order."),
    ] = None,
    confirm: Annotated[bool, typer.Option("--confirm", help="Confirm this join.")] = False,
    reject: Annotated[bool, typer.Option("--reject", help="Reject this join.")] = False,
    reset: Annotated[bool, typer.Option("--reset", help="Remove the verdict.")] = False,
    author: AuthorOption = None,
    readers: ReadersOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show by which columns a table can be joined with others; confirm or reject one.

    With --to, TABLE is the one that refers: it holds the key of the other. Without TABLE it shows
    all that people confirmed or rejected.
    """
    changes = confirm + reject + reset
    if changes > 1:
        raise UsageError("give one of --confirm, --reject and --reset")
    named = [bool(to), bool(columns), bool(to_columns)]
    if any(named) != all(named) or any(named) != bool(changes):
        raise UsageError(
            "give --to TABLE, --column NAME and --to-column NAME together, with one of --confirm, "
            "--reject and --reset"
        )
    if table_id is None and (changes or readers is not None):
        raise UsageError("name the table")
    if changes and readers is not None:
        raise UsageError(
            "--as says who looks at joins; who confirms or rejects is named by --author"
        )
    if author is not None and not (confirm or reject):
        raise UsageError("--author goes with --confirm or --reject")
    if table_id is None:
        _print_judged(workspace.judged_joins(), as_json=as_json)
        return
    if changes:
        holds = None if reset else confirm
        workspace.judge_join(
            table_id, columns or (), to or "", to_columns or (), holds=holds, author=author
        )
    found = workspace.joins(table_id, readers=readers)
    if as_json:
        print_json(found)
    elif not found:
        print_line(
            f"No joins known for {table_id}. Add one by --to, --column, --to-column and --confirm."
        )
    else:
        headings = ("column", "", "other table", "its column", "said by", "score", "cells found")
        print_table(headings, map(_row, found), numbers=("score", "cells found"))


def _print_judged(said: "Sequence[JudgedJoin]", *, as_json: bool) -> None:
    if as_json:
        print_json(said)
    elif not said:
        print_line("No joins confirmed or rejected.")
    else:
        headings = ("table", "column", "other table", "its column", "", "by", "on")
        print_table(headings, map(_judged_row, said))


def _judged_row(one: "JudgedJoin") -> tuple[str, ...]:
    verdict = "confirmed" if one.holds else "rejected"
    mine, theirs = ", ".join(one.columns), ", ".join(one.other_columns)
    return one.table_id, mine, one.other, theirs, verdict, one.author, one.said_at[:10]


def _row(one: "KnownJoin") -> tuple[str, ...]:
    share = "-" if one.share is None else f"{one.share:.0%}"
    mine, theirs = ", ".join(one.columns), ", ".join(one.other_columns)
    return mine, one.way, one.other, theirs, one.kind, f"{one.score:.2f}", share
