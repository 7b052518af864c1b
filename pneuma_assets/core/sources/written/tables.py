"""Which rows of a table inside a document say what columns mean."""

from collections.abc import Iterator, Sequence

from pneuma_assets.core.evidence.fields import name_parts
from pneuma_assets.core.sources.base import Cells

NAMING = frozenset([
    "name", "column", "columns", "column name", "variable", "variable name", "variables", "field",
    "field name", "fields", "attribute", "attribute name", "feature", "feature name", "col",
    "key", "property", "parameter", "header",
])  # fmt: skip
"""What the column of names is called, in lower case."""

TELLING = frozenset([
    "description", "descriptions", "meaning", "definition", "explanation", "details", "detail",
    "label", "comment", "comments", "notes", "note", "desc", "what it means", "contents",
    "content", "about", "long name", "title",
])  # fmt: skip
"""What the column of meanings is called; the first of a table's that is, counts."""

_ROWS = 10_000


def described_rows(rows: Sequence[Cells]) -> Iterator[Cells]:
    """Yield a row a name: two cells where the header says which they are, else all.

    Tables without such a header are kept whole, since only who knows the columns can tell which
    cell names them.
    """
    if not rows:
        return
    header = [" ".join(name_parts(cell)) for cell in rows[0]]
    name = next((at for at, title in enumerate(header) if title in NAMING), None)
    text = next((at for at, title in enumerate(header) if title in TELLING and at != name), None)
    for row in rows[:_ROWS]:
        if name is None or text is None:
            yield row
        elif row is not rows[0] and max(name, text) < len(row) and row[text]:
            yield row[name], row[text]
