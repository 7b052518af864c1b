"""The text that stands for a table's schema in the index (Pneuma, section 4, figure 3)."""

from collections.abc import Mapping

from pneuma_assets.core.sources.names import one_line
from pneuma_assets.core.tables import Document, DocumentKind, Table

_SEPARATOR = " | "


def schema_documents(table: Table, narrations: Mapping[int, str]) -> list[Document]:
    """Return `column: narration | column: narration`; a column without narration is its name.

    So without narrations the names stand alone (section 7.3.1 calls it SchemaConcat). A table
    without a named or narrated column has no document.

    Args:
        table: Its columns, in order, are the document's.
        narrations: What was said of the columns, by position.
    """
    parts = [
        _part(column.name, narrations.get(position, ""))
        for position, column in enumerate(table.columns)
    ]
    text = _SEPARATOR.join(part for part in parts if part)
    return [Document(table.table_id, DocumentKind.SCHEMA, text)] if text else []


def _part(name: str, narration: str) -> str:
    return ": ".join(text for text in (one_line(name), narration) if text)
