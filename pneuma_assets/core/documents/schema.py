"""The text that stands for a table's schema in the index (Pneuma, section 4, figure 3)."""

from pneuma_assets.core.documents.maker import DocumentMaker, NarratedColumns
from pneuma_assets.core.sources.names import one_line
from pneuma_assets.core.tables import DocumentKind

NARRATION_CHARACTERS = 400
"""What people wrote at length is whole in the document they wrote it in."""

_SEPARATOR = " | "


def schema_texts(narrated: NarratedColumns) -> list[str]:
    """Return `column: narration | column: narration`; a column without narration is its name.

    So without narrations the names stand alone (section 7.3.1 calls it SchemaConcat). A table
    without a named or narrated column has no document.
    """
    parts = [
        _part(column.name, narrated.narrations.get(position, ""))
        for position, column in enumerate(narrated.table.columns)
    ]
    text = _SEPARATOR.join(part for part in parts if part)
    return [text] if text else []


def _part(name: str, narration: str) -> str:
    told = one_line(narration, NARRATION_CHARACTERS)
    return ": ".join(text for text in (one_line(name), told) if text)


MAKER = DocumentMaker(
    DocumentKind.SCHEMA, NarratedColumns, schema_texts, version=0, called="narration"
)
