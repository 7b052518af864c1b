"""Which rows of a table inside a document say what columns mean."""

from collections.abc import Sequence

from pneuma_assets.core.evidence.fields import name_parts
from pneuma_assets.core.sources.base import Cells
from pneuma_assets.core.sources.written.listed import Listed

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

_NOT_TELLING = frozenset([
    "class", "count", "data type", "datatype", "default", "distinct", "dtype", "example",
    "examples", "format", "key", "length", "max", "maximum", "mean", "median", "min", "minimum",
    "missing", "mode", "n", "non null", "non null count", "null", "nullable", "nulls", "order",
    "position", "range", "required", "sd", "size", "std", "type", "types", "unique", "valid",
    "values",
])  # fmt: skip
"""What stands above types and figures, which say nothing of what a column means."""

_VAGUE = frozenset(["name", "key", "property", "parameter", "header"])
"""What stands above the keys of metadata, too; alone it says nothing of columns."""

_ROWS = 10_000


def described_rows(rows: Sequence[Cells], headings: tuple[str, ...] = ()) -> Listed:
    """Return a row a name: two cells where the header says which they are, else all.

    Tables without such a header are kept whole, since only who knows the columns can tell which
    cell names them.
    """
    if not rows:
        return Listed((), headings=headings)
    titles = [" ".join(name_parts(cell)) for cell in rows[0]]
    name = next((at for at, title in enumerate(titles) if title in NAMING), None)
    text = next((at for at, title in enumerate(titles) if title in TELLING and at != name), None)
    if name is None or text is None:
        telling = name is not None and titles[name] not in _VAGUE
        if not telling:
            return Listed(rows[:_ROWS], rows[0], headings)
        kept = [at for at, title in enumerate(titles) if title not in _NOT_TELLING]
        cells = [tuple(row[at] for at in kept if at < len(row)) for row in rows[1:_ROWS]]
        return Listed(cells, rows[0], headings, telling)
    last = max(name, text)
    told = [(row[name], row[text]) for row in rows[1:_ROWS] if last < len(row) and row[text]]
    return Listed(told, (), headings, telling=True)
