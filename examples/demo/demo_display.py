"""Shows one answer: the question, the best tables, and the text that spoke for each."""

from collections.abc import Sequence
from textwrap import shorten

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pneuma_assets import TableResult
from pneuma_assets.core.text.safe import printable

SHOWN_TABLES = 3
REASON_CHARACTERS = 80  # two lines beside the other columns, in a width of 100
TABLE_WIDTH = 31


def show_answer(
    console: Console, number: int, question: str, wanted: str, results: Sequence[TableResult]
) -> None:
    """Print the question, whether `wanted` came first, and the best results with their reasons."""
    hit = bool(results) and results[0].table_id == wanted
    verdict = Text("first", "bold green") if hit else Text(f"wanted {wanted}", "bold red")
    heading = Table.grid(expand=True, padding=(0, 1, 0, 0))
    heading.add_column(width=3, justify="right")
    heading.add_column(ratio=1)
    heading.add_column(justify="right")
    heading.add_row(f"{number}.", Text(printable(question), "bold"), verdict)
    console.print(heading)
    console.print(_ranking(wanted, results[:SHOWN_TABLES]))
    console.print()


def _ranking(wanted: str, results: Sequence[TableResult]) -> Table:
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", expand=True)
    grid.add_column("    table", min_width=TABLE_WIDTH, overflow="fold")
    for heading in ("score", "words", "meaning"):
        grid.add_column(heading, justify="right", no_wrap=True)
    grid.add_column("because of", ratio=1)
    for result in results:
        name = Text(
            f"    {printable(result.table_id)}", "green" if result.table_id == wanted else ""
        )
        figures = (result.score, result.parts.lexical, result.parts.semantic)
        reason = shorten(
            f"{result.kind}: {printable(result.text)}", REASON_CHARACTERS, placeholder=" …"
        )
        grid.add_row(
            name,
            *(Text(f"{figure:.2f}") for figure in figures),
            Text(reason, "dim"),
        )
    return grid
