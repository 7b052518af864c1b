"""A document of any format as plain text: Markdown, HTML, JSON, tables of cells, plain text."""

import csv
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from pneuma_assets.core.dictionaries.html import decode_page, parse_page, seen_text
from pneuma_assets.core.dictionaries.split_by_table import TABLE_TITLES
from pneuma_assets.core.terms.fields import name_parts
from pneuma_assets.core.text.encoding import decode, guess_encoding, looks_binary

MAX_CHARACTERS = 200_000
"""Longer texts are cut, and say so at the end."""

MAX_BYTES = 1_000_000
"""No more of a document is read; markup and accents take more room than the text in them."""

CUT_NOTE = "[The document is longer; it was cut here.]"

Names = Callable[[], Collection[str]]
"""Returns the names by which a document may call other tables of its folder; called if needed."""

_HTML = frozenset({"html", "htm"})
_CELLS = frozenset({"csv", "tsv"})

_SIGNS = ",;\t|"
_MOST_ROWS = 20_000

_MOST_LINES = 2_000_000
"""Characters of JSON as lines: more than any document has whose keys are short."""

_TOO_DEEP = "its values nest too deeply; flatten them"
_KEYED_LISTS = ("tables", "resources", "datasets")
_NAME_KEYS = ("name", "table", "id", "url", "path", "file", "title")
_COLUMN_KEYS = frozenset({"columns", "fields", "schema", "tableSchema", "variables"})


def document_text(
    name: str, data: bytes, table: Collection[str] = (), others: Names = tuple
) -> str:
    """Return a document as plain text, bounded by `MAX_CHARACTERS`.

    The extension of its name tells the format; `table` are names by which a JSON document may key
    its part about the table, `others` those of other tables.

    Raises:
        ValueError: It is not text, or not JSON although it is called so, or nests too deeply.
    """
    cut = len(data) > MAX_BYTES
    if suffix_of(name) == "json":
        own, of_all = json_parts(name, data, table, others)
        return plain_text(json_lines(together(own, of_all)))
    return plain_text(marked_text(name, data, marked=False), cut=cut)


def marked_text(name: str, data: bytes, *, marked: bool = True) -> str:
    """Return the beginning of a document that is not JSON as text; raises `ValueError`.

    `marked` puts the signs of Markdown before headings and items of HTML.
    """
    text = _decoded(name, data[:MAX_BYTES])
    if suffix_of(name) in _HTML:
        return html_text(text, marked=marked)
    return cells_as_lines(text) if suffix_of(name) in _CELLS else text


def _decoded(name: str, data: bytes) -> str:
    if guess_encoding(data) == "utf-8" and looks_binary(data):
        raise ValueError("it holds binary data, not text; give it the extension of its format")
    return decode_page(data) if suffix_of(name) in _HTML else decode(data)


def suffix_of(name: str) -> str:
    """Return the extension of a file, in lower case and without its dot."""
    return name.rpartition(".")[2].lower()


def plain_text(text: str, *, cut: bool = False) -> str:
    """Return text without control characters and superfluous blanks, bounded.

    `cut` tells that the text is already only the beginning of a longer one.
    """
    text = re.sub(r"\r\n?|[\u2028\u2029\x0b\x0c\x85]", "\n", text)
    text = re.sub(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]", "", text).encode("utf-8", "replace").decode()
    text = re.sub(r"[^\S\n]+", " ", text)
    text = re.sub(r" ?\n ?(?:\n ?)+", "\n\n", text).replace(" \n", "\n").replace("\n ", "\n")
    text = text.strip()
    cut = cut or len(text) > MAX_CHARACTERS
    return f"{text[:MAX_CHARACTERS].rstrip()}\n{CUT_NOTE}" if cut else text


def html_text(markup: str, *, marked: bool = False) -> str:
    """Return what a reader of the page sees: entities decoded, scripts and styles left out.

    `marked` puts the signs of Markdown before headings and items.

    Raises:
        ValueError: Elements nest deeper than lxml follows, so text would be lost.
    """
    root = parse_page(markup)
    return "" if root is None else "".join(seen_text(root, marked=marked))


def cells_as_lines(text: str) -> str:
    """Return a data dictionary of cells as a Markdown table; nothing if it names no tables."""
    first = text.partition("\n")[0]
    sign = max(_SIGNS, key=first.count)
    reader = csv.reader(text.splitlines(keepends=True), delimiter=sign)
    try:
        rows = [*islice((row for row in reader if any(map(str.strip, row))), _MOST_ROWS)]
    except csv.Error as error:
        raise ValueError(f"its cells cannot be told apart: {error}") from error
    titles = [" ".join(name_parts(cell)) for cell in rows[0]] if rows else []
    if len(titles) < 2 or TABLE_TITLES.isdisjoint(titles):
        return ""
    return "\n".join(map(_table_line, [rows[0], ["---"] * len(rows[0]), *rows[1:]]))


def _table_line(row: Sequence[str]) -> str:
    cells = (" ".join(cell.replace("|", "\\|").split()) for cell in row)
    return f"| {' | '.join(cells)} |"


def json_parts(name: str, data: bytes, table: Collection[str], others: Names) -> tuple[Any, Any]:
    """Return what a JSON document says about the table, and about all tables; None: nothing.

    A document keyed by table names contributes only the table's own part, and nothing if it has
    none. Under `tables`, `resources` or `datasets` the parts may also be a list of objects that
    say which table they are about by a name, or by the address of its file (CSVW);
    what stands beside that key is about all of them and is kept.

    Raises:
        ValueError: It is larger than `MAX_BYTES`, not JSON, or nests deeper than Python can follow.
    """
    text = _decoded(name, data[:MAX_BYTES])
    if len(data) > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES // 1_000_000} MB; shorten it")
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not valid JSON ({error}); correct it") from error
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    if table and isinstance(content, list) and len(content) > 1 and all(map(_is_table, content)):
        content = {"tables": content}
    if not table or not isinstance(content, dict):
        return None, content
    own = [value for key, value in content.items() if key in table]
    if own:
        return own[0], None
    for key in _KEYED_LISTS:
        if (parts := _by_name(content.get(key))) is not None:
            rest = {name: value for name, value in content.items() if name != key}
            return next((part for names, part in parts if not names.isdisjoint(table)), None), rest
    return None, {} if content.keys() & others() else content


def together(own: Any, of_all: Any) -> Any:
    """Return both parts of a JSON document as one."""
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
    names = {str(part[key]) for key in _NAME_KEYS if isinstance(part.get(key), str)}
    return names | {text.rpartition("/")[2] for text in names}


def _is_table(part: Any) -> bool:
    return isinstance(part, dict) and bool(_names_in(part)) and not _COLUMN_KEYS.isdisjoint(part)


def json_lines(content: Any) -> str:
    """Render JSON as lines `key: value`: nested keys joined by dots, plain values by commas.

    No more than `plain_text` keeps: a long key above many values would be repeated for each.

    Raises:
        ValueError: It nests deeper than Python can follow.
    """
    lines: list[str] = []
    left = _MOST_LINES
    try:
        for line in _flat_lines(content, ""):
            lines.append(line[:left])
            left -= len(line) + 1
            if left <= 0:
                break
        return "\n".join(lines)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error


def _flat_lines(value: Any, key: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _flat_lines(part, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list) and any(isinstance(part, dict | list) for part in value):
        for part in value:
            yield from _flat_lines(part, key)
    elif value not in (None, "", []):
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        yield f"{key}: {text}" if key else text
