"""The text that stands for a table's schema in the index (Pneuma, section 4, figure 3)."""

from pneuma_assets.core.documents.maker import DocumentMaker, NarratedColumns
from pneuma_assets.core.sources.names import one_line
from pneuma_assets.core.tables import DocumentKind
from pneuma_assets.core.terms.split_names import in_words

NARRATION_CHARACTERS = 400
"""What people wrote at length is whole in the document they wrote it in."""

_SEPARATOR = " | "


def schema_texts(narrated: NarratedColumns) -> list[str]:
    """Return `names of the table: column: narration | column: narration`.

    A column without narration is its name, so without narrations the names stand alone (section
    7.3.1 calls it SchemaConcat). The paper leaves the table's own name out, by which people ask
    for it; in words, it is what the encoder reads first. A table without a named or narrated
    column has no document.
    """
    parts = [
        _part(column.name, narrated.narrations.get(position, ""))
        for position, column in enumerate(narrated.table.columns)
    ]
    text = _SEPARATOR.join(part for part in parts if part)
    if not text:
        return []
    named = one_line(in_words(narrated.names))
    return [f"{named}: {text}" if named else text]


def _part(name: str, narration: str) -> str:
    told = one_line(narration, NARRATION_CHARACTERS)
    return ": ".join(text for text in (one_line(name), told) if text)


MAKER = DocumentMaker(
    DocumentKind.SCHEMA, NarratedColumns, schema_texts, version=0, called="narration"
)
