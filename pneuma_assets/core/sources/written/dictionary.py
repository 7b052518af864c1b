"""What a JSON document says of columns: data dictionaries, schema files, metadata of packages.

Any object with a name and a description describes what bears that name, and so does an object
whose keys are names: `{"columns": {"age": "in years"}}`, JSON Schema's `properties`.
"""

from collections.abc import Iterator
from typing import Any

from pneuma_assets.core.sources.base import Cells
from pneuma_assets.core.sources.written.lines import TEXT_CHARACTERS, says_something
from pneuma_assets.core.sources.written.listed import Listed
from pneuma_assets.core.text.safe import one_line

_NAMES = ("name", "column", "column_name", "field", "variable", "id")
_TEXTS = (
    "description",
    "desc",
    "comment",
    "doc",
    "documentation",
    "meaning",
    "definition",
    "label",
    "title",
)
_HOLDERS = frozenset(
    {
        "columns",
        "fields",
        "variables",
        "properties",
        "attributes",
        "features",
        "schema",
        "data_dictionary",
        "dictionary",
    }
)
_SURE = frozenset({"columns", "variables", "features", "data_dictionary"})
"""Of these, the ones whose plain texts are about columns; `fields` are often a document's own."""

_TABLES = frozenset({"tables", "resources", "datasets"})

_DEEPEST = 40


def lists_of(content: Any, depth: int = 0, *, held: bool = False) -> Iterator[Listed]:
    """Yield the lists of names and meanings in what a JSON document holds.

    Args:
        content: The document, or a part of it.
        depth: How deep that part lies.
        held: Whether the key above it says that it is about columns.
    """
    if depth > _DEEPEST:
        return
    if isinstance(content, list):
        rows = [cells for part in content if (cells := _named(part)) is not None]
        yield Listed(rows, telling=held)
        parts = [("", part) for part in content]
    elif isinstance(content, dict):
        parts = [(str(key).lower(), value) for key, value in content.items()]
        parts = [(key, value) for key, value in parts if not _of_several_tables(key, value)]
        for key, value in parts:
            if isinstance(value, dict) and key in _HOLDERS:
                sure = key in _SURE or all(isinstance(part, dict) for part in value.values())
                rows = [cells for name, part in value.items() if (cells := _told(name, part))]
                yield Listed(rows, telling=sure)
    else:
        return
    for key, part in parts:
        yield from lists_of(part, depth + 1, held=key in _HOLDERS)


def _of_several_tables(key: str, value: Any) -> bool:
    """Tell whether these are tables of which nobody can say which one is meant."""
    return key in _TABLES and isinstance(value, list) and len(value) > 1


def _named(part: Any) -> Cells | None:
    if not isinstance(part, dict):
        return None
    lower = {str(key).lower(): value for key, value in part.items()}
    name = next((lower[key] for key in _NAMES if isinstance(lower.get(key), str)), None)
    return _told(name, part) if name else None


def _told(name: Any, part: Any) -> Cells | None:
    """Return the name and the text that an entry gives, None if it gives none."""
    if isinstance(part, dict):
        lower = {str(key).lower(): value for key, value in part.items()}
        part = next((lower[key] for key in _TEXTS if isinstance(lower.get(key), str)), None)
    if not isinstance(part, str) or not says_something(part):
        return None
    return str(name), one_line(part, TEXT_CHARACTERS)
