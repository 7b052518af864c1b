"""What a grounded prompt shows of a table: its name, types and some rows."""

from collections.abc import Sequence

from pneuma_assets.core.documents.rows import row_text
from pneuma_assets.core.narration.prompts import SHOWN_ROWS, Ground
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import DocumentKind, Table, TableTerms
from pneuma_assets.core.text.safe import one_line


def ground_of(table: Table, rows: Sequence[Row]) -> Ground:
    """Return what a grounded prompt shows of a table besides its columns' names.

    Args:
        table: Its profile.
        rows: Of it, cells as text; the first are shown.
    """
    names = [one_line(column.name) for column in table.columns]
    cells = tuple(row for row in rows[:SHOWN_ROWS] if len(row) == len(names))
    return _ground(table, [row_text(names, row) for row in cells], cells)


def stored_ground(store: Store, table: Table) -> Ground:
    """Return likewise what is shown of a table that a run works on.

    Where no rows were gathered (`sampling.values`), it shows the sampled ones' texts, without
    examples of single values: where a cell ends cannot be told from a text.
    """
    gathered = store.profiles.terms([table.table_id]).get(table.table_id, TableTerms()).rows
    if gathered:
        return ground_of(table, gathered)
    documents = store.documents.of_table(table.table_id)
    return _ground(table, [one.text for one in documents if one.kind == DocumentKind.ROWS])


def _ground(table: Table, rows: Sequence[str], cells: tuple[Row, ...] = ()) -> Ground:
    types = tuple(column.type for column in table.columns)
    return Ground(table.table_id.partition("/")[2], types, tuple(rows[:SHOWN_ROWS]), cells)
