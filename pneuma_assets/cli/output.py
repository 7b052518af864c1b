"""Prints results: text of strangers made harmless, columns aligned, JSON for programs."""

import json
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

MAX_WIDTH = 100
"""Columns of a line; wider terminals do not make texts easier to read."""

_HARMFUL = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode categories that move the cursor, change the direction of text, or cannot be printed."""


def plain(text: str) -> str:
    """Return the text on one line, without anything a terminal would obey instead of show.

    File names, column names and cells come from strangers: an escape sequence in one of them
    could rewrite the screen, and a change of direction could disguise a name.
    """
    shown = "".join(" " if unicodedata.category(c) in _HARMFUL else c for c in text)
    return " ".join(shown.split())


def console() -> "Console":
    """Return a printer to standard output that takes no text for markup, emoji or a link."""
    from rich.console import Console

    width = min(MAX_WIDTH, shutil.get_terminal_size((MAX_WIDTH, 24)).columns)
    return Console(
        width=width if sys.stdout.isatty() else MAX_WIDTH,
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=False,
    )


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[str] = ()
) -> None:
    """Print aligned columns; those named in `numbers` are aligned to the right.

    The last column takes what width is left, and continues on further lines.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(
            heading,
            justify="right" if heading in numbers else "left",
            overflow="fold",
            no_wrap=heading in numbers,
        )
    for row in rows:
        table.add_row(*(Text(plain(cell), overflow="fold") for cell in row))
    printer = console()
    with printer.capture() as captured:
        printer.print(table)
    for line in captured.get().splitlines():
        print(line.rstrip())  # noqa: T201


def print_indented(text: str, *, margin: int, most_lines: int) -> None:
    """Print a text below a result, in the width there is; dots show that there is more."""
    from rich.text import Text

    printer = console()
    lines = list(Text(plain(text)).wrap(printer, printer.width - margin - 2))
    for position, line in enumerate(lines[:most_lines], start=1):
        more = " …" if position == most_lines < len(lines) else ""
        print(f"{'':{margin}}{line.plain.rstrip()}{more}")  # noqa: T201


def print_line(text: str = "") -> None:
    """Print one line of a result."""
    print(plain(text))  # noqa: T201


def print_json(value: Any) -> None:
    """Print one JSON document; ASCII only, so that no terminal or pipe can spoil it."""
    print(json.dumps(value, ensure_ascii=True, indent=2, default=str))  # noqa: T201
