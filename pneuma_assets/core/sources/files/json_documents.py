"""JSON documents about tables, as `key: value` lines."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from pneuma_assets.core.sources.names import parse_file_name

_KEYED_LISTS = ("tables", "resources", "datasets")
_NAME_KEYS = ("name", "table", "id", "url", "path", "file", "title")
_COLUMN_KEYS = frozenset({"columns", "fields", "schema", "tableSchema", "variables"})


def json_text(text: str, table: Collection[str], siblings: Callable[[], Collection[str]]) -> str:
    """Render JSON as lines: the part about the table if there is one, else all.

    Args:
        text: The document.
        table: Names by which it may key its part about the table.
        siblings: Returns the file names of the document's folder; called only if needed.

    Raises:
        ValueError: It is not JSON, or nests deeper than Python can follow.
    """
    own, of_all = _taken_apart(text, table, siblings)
    return _rendered(_together(own, of_all))


def json_parts(
    text: str, table: Collection[str], siblings: Callable[[], Collection[str]]
) -> tuple[str, str]:
    """Render, as `json_text`, what is about the table and what is about all tables."""
    own, of_all = _taken_apart(text, table, siblings)
    return _rendered(own), _rendered(of_all)


def _taken_apart(
    text: str, table: Collection[str], siblings: Callable[[], Collection[str]]
) -> tuple[Any, Any]:
    try:
        return _parts_about(json.loads(text), table, siblings)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not valid JSON ({error}); correct it") from error
    except RecursionError as error:
        raise ValueError("its values nest too deeply; flatten them") from error


def _rendered(content: Any) -> str:
    try:
        return "\n".join(_lines(content, ""))
    except RecursionError as error:
        raise ValueError("its values nest too deeply; flatten them") from error


def part_about(
    content: Any, table: Collection[str], siblings: Callable[[], Collection[str]]
) -> Any:
    """Return what a JSON document says about the table.

    A document keyed by table names contributes only the table's own part, and nothing if it has
    none. Under `tables`, `resources` or `datasets` the parts may also be a list of objects that
    say which table they are about by a name, or by the address of its file (CSVW);
    what stands beside that key is about all of them and is kept.
    """
    return _together(*_parts_about(content, table, siblings))


def _parts_about(
    content: Any, table: Collection[str], siblings: Callable[[], Collection[str]]
) -> tuple[Any, Any]:
    """Return what a document says about the table, and about all tables."""
    if table and isinstance(content, list) and len(content) > 1 and all(map(_is_table, content)):
        content = {"tables": content}
    if not table or not isinstance(content, dict):
        return None, content
    own = [value for key, value in content.items() if key in table]
    if own:
        return own[0], None
    for key in _KEYED_LISTS:
        parts = _by_name(content.get(key))
        if parts is not None:
            rest = {name: value for name, value in content.items() if name != key}
            return next((part for names, part in parts if not names.isdisjoint(table)), None), rest
    others = {name for sibling in siblings() for name in names_of(sibling)}
    return None, {} if others & content.keys() else content


def _together(own: Any, of_all: Any) -> Any:
    if own is None or of_all is None:
        return of_all if own is None else own
    return {**of_all, "table": own}


def _by_name(parts: Any) -> list[tuple[set[str], Any]] | None:
    """Return parts with the names of what they are about; None where they do not say it."""
    if isinstance(parts, dict):
        return [({str(name)}, part) for name, part in parts.items()]
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        return None
    named = [(_names_in(part), part) for part in parts]
    return named if any(names for names, _ in named) else None


def _names_in(part: Mapping[str, Any]) -> set[str]:
    """Return what a part calls its table: as it stands there, and the file of an address."""
    said = {str(part[key]) for key in _NAME_KEYS if isinstance(part.get(key), str)}
    return said | {text.rpartition("/")[2] for text in said}


def _is_table(part: Any) -> bool:
    return isinstance(part, dict) and bool(_names_in(part)) and not _COLUMN_KEYS.isdisjoint(part)


def _lines(value: Any, key: str) -> Iterator[str]:
    """Flatten JSON: nested keys are joined by dots, lists of plain values by commas."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _lines(part, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list) and any(isinstance(part, dict | list) for part in value):
        for part in value:
            yield from _lines(part, key)
    elif value not in (None, "", []):
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        yield f"{key}: {text}" if key else text


def names_of(file_name: str) -> tuple[str, ...]:
    """Return the names by which documents may call a table file: with and without extension."""
    parsed = parse_file_name(file_name)
    return (file_name, parsed.stem) if parsed else ()
