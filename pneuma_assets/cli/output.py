"""Prints results and progress: text made harmless, aligned columns, JSON for programs."""

import json
import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any

from pneuma_assets.cli.hints import copyable
from pneuma_assets.core.progress import listening
from pneuma_assets.core.text.safe import printable

if TYPE_CHECKING:
    from rich.console import Console

    from pneuma_assets.core.missing_parts import MissingPart

MAX_WIDTH = 100
"""Columns of a line; wider terminals do not make texts easier to read."""

_NARROWEST, _BETWEEN = 4, 2
"""Width of a column of texts, at least, and of the gap between two columns of a table."""
SECONDS_BETWEEN_LINES = 10.0
"""Of progress that is written to a log."""


def console() -> "Console":
    """Return a printer to standard output that takes no text for markup, emoji or a link."""
    from rich.console import Console

    width = min(MAX_WIDTH, shutil.get_terminal_size((MAX_WIDTH, 24)).columns)
    return Console(
        width=width if sys.stdout.isatty() or os.environ.get("COLUMNS") else MAX_WIDTH,
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=False,
    )


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[str] = ()
) -> None:
    """Print aligned columns; those named in `numbers` are aligned to the right.

    The last column takes what width is left, and continues on further lines. Where there are too
    many columns for the width, so that some would be cut, each has a line of its own in each row.
    """
    from rich.table import Table
    from rich.text import Text

    rows = list(rows)
    if _least_width(headings, rows, numbers) > console().width:
        _print_records(headings, rows)
        return
    table = Table(box=None, padding=(0, _BETWEEN, 0, 0), pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(
            Text(printable(heading)),
            justify="right" if heading in numbers else "left",
            overflow="fold",
            no_wrap=heading in numbers,
        )
    for row in rows:
        table.add_row(*(Text(printable(cell), overflow="fold") for cell in row))
    print_captured(table)


def _least_width(
    headings: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[str]
) -> int:
    """Return the width that a table needs: a number is not parted, a text may be."""
    widths = (
        max(map(len, column)) if column[0] in numbers else min(_NARROWEST, max(map(len, column)))
        for column in zip(headings, *rows, strict=True)
    )
    return sum(width + _BETWEEN for width in widths) - _BETWEEN


def _print_records(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    for position, row in enumerate(rows):
        print_line() if position else None
        for heading, cell in zip(headings, row, strict=True):
            print_indented(f"{heading}: {cell}", margin=0, most_lines=len(cell) + 1)


def print_indented(text: str, *, margin: int, most_lines: int) -> None:
    """Print a text below a result, in the width there is; dots show that there is more."""
    from rich.text import Text

    printer = console()
    lines = list(Text(printable(text)).wrap(printer, printer.width - margin - 2))
    for position, line in enumerate(lines[:most_lines], start=1):
        more = " …" if position == most_lines < len(lines) else ""
        print(f"{'':{margin}}{line.plain.rstrip()}{more}")  # noqa: T201


def print_line(text: str = "", *, margin: int = 0, verbatim: bool = False) -> None:
    """Print one line of a result; `verbatim` where it repeats what somebody wrote, not a hint."""
    print(f"{'':{margin}}{printable(text if verbatim else copyable(text))}")  # noqa: T201


def print_ranked(figures: str, name: str) -> None:
    """Print figures, aligned by spaces, and what they are of."""
    print(f"{figures}  {printable(name)}")  # noqa: T201


def print_captured(renderable: Any) -> None:
    """Print a table or tree of rich, without the spaces at the ends of its lines."""
    printer = console()
    with printer.capture() as captured:
        printer.print(renderable)
    for line in captured.get().splitlines():
        print(line.rstrip())  # noqa: T201


def print_no_match(confidence: float | None, min_confidence: float, *, found: bool) -> None:
    """Say that nothing was found, or nothing that is likely to answer; else print nothing."""
    if not found:
        print_line("no table matches; ask in other words, or loosen the filters")
    elif confidence is not None and confidence < min_confidence:
        print_line(f"No confident match ({confidence:.2f}).")


def print_missing(parts: Iterable["MissingPart"]) -> None:
    """Say on standard error what an answer had to do without."""
    for one in parts:
        told = f"answered without the {one.part} {one.name}: {one.effect}. Why: {one.cause}"
        print(printable(copyable(told)), file=sys.stderr)  # noqa: T201


def counted(number: int, one: str, several: str) -> str:
    """Return a number and what is counted, in the words for one or for several."""
    return f"{number:,} {one if number == 1 else several}"


def print_json(value: Any) -> None:
    """Print one JSON document; ASCII only, so that no terminal or pipe can spoil it."""
    print(json.dumps(value, ensure_ascii=True, indent=2, default=_as_json))  # noqa: T201


def _as_json(value: Any) -> Any:
    """Return what stands for a value that JSON has no type for: a result's own, or its fields."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


@contextmanager
def showing_progress(*, lasting: bool = True) -> Iterator[None]:
    """Show every report made inside the `with` block.

    On a terminal each activity has a bar. Elsewhere (a log, a pipe) an activity writes a line
    when it ends, when it says that it begins, and at most every `SECONDS_BETWEEN_LINES` between.

    Args:
        lasting: Whether the bars stay when the work is done, and lines are written at all.
    """
    if sys.stderr.isatty():
        with _bars(transient=not lasting):
            yield
    elif lasting:
        with listening(_Lines()):
            yield
    else:
        yield


@contextmanager
def _bars(*, transient: bool) -> Iterator[None]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    tasks: dict[str, TaskID] = {}
    # Dagster turns standard error into a file while a step runs, and copies that late.
    terminal = os.fdopen(
        os.dup(sys.stderr.fileno()), "w", encoding=sys.stderr.encoding, errors="replace"
    )
    bars = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(file=terminal, markup=False, emoji=False, highlight=False),
        transient=transient,
    )

    starting = bars.add_task("starting", total=None)

    def listener(activity: str, done: int, total: int) -> None:
        bars.update(starting, visible=False)
        if activity not in tasks:
            tasks[activity] = bars.add_task(printable(activity), total=None)
        bars.update(tasks[activity], completed=done, total=total or None)

    with terminal, bars, listening(listener):
        yield


class _Lines:
    """Writes plain lines, seldom enough for a log."""

    def __init__(self) -> None:
        self._last: dict[str, float] = {}
        self._uncounted: set[str] = set()

    def __call__(self, activity: str, done: int, total: int) -> None:
        now = time.monotonic()
        due = now - self._last.setdefault(activity, now) >= SECONDS_BETWEEN_LINES
        if not (due or done == 0 or done >= total):
            return
        self._last[activity] = now
        if total == 0:
            self._uncounted.add(activity)
            state = " ..."
        else:
            state = ": done" if activity in self._uncounted else f": {done} of {total}"
        print(f"{printable(activity)}{state}", file=sys.stderr, flush=True)  # noqa: T201
