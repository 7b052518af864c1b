"""Finds, in a document beside a table, the lists that may say what its columns mean."""

import json
from collections.abc import Collection, Iterator

from pneuma_assets.core.sources.base import Glossary
from pneuma_assets.core.sources.files.json_documents import part_about
from pneuma_assets.core.sources.names import document_key
from pneuma_assets.core.sources.written.dictionary import lists_of
from pneuma_assets.core.sources.written.html import decode_page, lists_on, parse_page
from pneuma_assets.core.sources.written.lines import lists_in
from pneuma_assets.core.sources.written.listed import MOST_ROWS, Listed
from pneuma_assets.core.sources.written.markdown import lists_in_markdown
from pneuma_assets.core.text.encoding import decode
from pneuma_assets.core.text.safe import one_line

MOST_CHARACTERS = 200_000
"""Of a document; parsing Markdown takes a second for so many."""


def glossaries_in(
    name: str, data: bytes, table: Collection[str], siblings: Collection[str]
) -> list[Glossary]:
    """Return the lists of a document; none where it cannot be parsed: it is text all the same.

    Args:
        name: File name; its extension tells the format.
        data: Its content.
        table: Names by which the document may call the table.
        siblings: The file names of its folder.
    """
    found: list[Glossary] = []
    left = MOST_ROWS
    try:
        suffix = (document_key(name) or name).rpartition(".")[2]
        for one in _lists(suffix, data, table, siblings):
            if left <= 0:
                break
            if one.rows:
                rows = one.rows[:left]
                found.append(Glossary(one_line(name), rows, one.header, one.about_columns))
                left -= len(rows)
    except (ValueError, RecursionError):
        return []
    return found


def _lists(
    suffix: str, data: bytes, table: Collection[str], siblings: Collection[str]
) -> Iterator[Listed]:
    """Yield each list of a document; of JSON, those of the part about the table."""
    if suffix == "json":
        part = part_about(json.loads(decode(data)), table, lambda: siblings)
        yield from lists_of(part)
    elif suffix in {"html", "htm"}:
        root = parse_page(decode_page(data)[:MOST_CHARACTERS])
        yield from () if root is None else lists_on(root)
    elif suffix == "md":
        yield from lists_in_markdown(decode(data)[:MOST_CHARACTERS])
    else:
        yield from map(Listed, lists_in(decode(data)[:MOST_CHARACTERS]))
