"""Tables as TARGET's package shows them to a model, within bounds.

The package shows every row of every table, however many; a small model's window holds a few. So
rows and characters have a limit here, and what was cut is counted. Tables stand in the order of
their rank; the package's order is that of a set of Python's, which differs from run to run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.tables import Table
from pneuma_assets.core.text.safe import harmless
from pneuma_bench.sets import RetrievalSet
from pneuma_bench.target.databases import schema_of
from pneuma_bench.target.prompts import NO_TABLES
from pneuma_bench.target.writing import Place, place_of

_CELL = 200
"""Most characters of a name or a cell."""
_COLUMNS = 200

Shelf = Mapping[Place, tuple[Table, Sequence[Row]]]
"""The tables of a set by what TARGET calls them."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The text of some tables, and how many of their rows it leaves out."""

    text: str
    rows_cut: int = 0


def shelf_of(dataset: RetrievalSet) -> Shelf:
    """Return the tables of a set by what TARGET calls them."""
    return {place_of(dataset, table.table_id): (table, rows) for table, rows in dataset.tables}


def tables_text(shelf: Shelf, places: Sequence[Place], rows: int, characters: int) -> Shown:
    """Return the text of tables, best first, each with its header and its first rows.

    Args:
        shelf: All tables.
        places: Those to show.
        rows: Most rows of a table.
        characters: Most of all tables together; each has an equal part, and its header always.
    """
    if not places:
        return Shown(NO_TABLES)
    shown = [_table(place, *shelf[place], rows, characters // len(places)) for place in places]
    return Shown("\n".join(one.text for one in shown), sum(one.rows_cut for one in shown))


def schemas_text(databases: Path, places: Sequence[Place]) -> Shown:
    """Return the statements that make the tables, a database after the other, best first.

    Raises:
        BenchmarkError: A database cannot be read.
    """
    if not places:
        return Shown(NO_TABLES)
    of: dict[str, list[str]] = {}
    for place in places:
        of.setdefault(place.database, []).append(place.table)
    return Shown("".join(schema_of(databases, name, tables) for name, tables in of.items()))


def _table(place: Place, table: Table, rows: Sequence[Row], most: int, characters: int) -> Shown:
    names = [column.name for column in table.columns[:_COLUMNS]]
    called = tuple(harmless(part, _CELL) for part in place)
    lines = [f"table name: {called}", _line(names)]
    left = characters - sum(map(len, lines))
    taken = 0
    for row in rows[:most]:
        line = _line(row[:_COLUMNS])
        left -= len(line)
        if left < 0:
            break
        lines.append(line)
        taken += 1
    return Shown("\n".join(lines) + "\n", len(rows) - taken)


def _line(cells: Sequence[str | None]) -> str:
    """Return a line of Markdown as the package writes it; a null is None there, too."""
    return "| " + " | ".join(harmless(str(cell), _CELL) for cell in cells) + " |"
