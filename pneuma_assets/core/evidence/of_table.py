"""The evidence of a table: its names, and what was gathered of its rows."""

from dataclasses import replace
from urllib.parse import unquote

from pneuma_assets.core.tables import Evidence, Table


def evidence_of(table: Table, gathered: Evidence) -> Evidence:
    """Return the evidence to index: rows and cells as gathered, under the table's names."""
    return replace(
        gathered,
        names=names_of(table.table_id),
        columns=tuple(column.name for column in table.columns),
    )


def names_of(table_id: str) -> tuple[str, ...]:
    """Return the names in a table's id: its source, schemas or folders, and the table.

    Signs that an id escapes are as people wrote them; bytes that are no text become U+FFFD.
    """
    return tuple(unquote(part, errors="replace") for part in table_id.split("/"))
