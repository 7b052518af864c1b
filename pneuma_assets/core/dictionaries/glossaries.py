"""Finds, in a document about a table, the lists that may say what its columns mean."""

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import chain, islice

from pneuma_assets.core.dictionaries.html import (
    decode_page,
    lists_in_markdown,
    lists_on,
    parse_page,
)
from pneuma_assets.core.dictionaries.lines import MOST_ROWS, Glossary, lists_in, lists_of
from pneuma_assets.core.dictionaries.prose import sentences_about
from pneuma_assets.core.dictionaries.text import Names, json_parts, suffix_of, together
from pneuma_assets.core.text.encoding import decode
from pneuma_assets.core.text.safe import one_line

MOST_CHARACTERS = 200_000
"""Of a document; parsing Markdown takes a second for so many."""

_PARAGRAPH = re.compile(r"\n\s*\n")


def glossaries_in(
    name: str, data: bytes, table: Collection[str], others: Names = tuple
) -> list[Glossary]:
    """Return the lists of a document; none where it cannot be parsed: it is text all the same.

    `table` are names by which the document may call the table, `others` those of other tables of
    its folder; the extension of its own name tells the format.
    """
    found: list[Glossary] = []
    left = MOST_ROWS
    try:
        for one in _lists(name, data, table, others):
            if left <= 0:
                break
            if one.rows:
                found.append(replace(one, document=one_line(name), rows=one.rows[:left]))
                left -= len(found[-1].rows)
    except (ValueError, RecursionError):
        return []
    return found


def _lists(name: str, data: bytes, table: Collection[str], others: Names) -> Iterator[Glossary]:
    """Yield each list of a document; of JSON, those of the part about the table."""
    suffix = suffix_of(name)
    if suffix == "json":
        yield from lists_of(together(*json_parts(name, data, table, others)))
    elif suffix in {"html", "htm"}:
        root = parse_page(decode_page(data)[:MOST_CHARACTERS])
        yield from () if root is None else lists_on(root)
    elif suffix == "md":
        yield from lists_in_markdown(decode(data)[:MOST_CHARACTERS])
    else:
        text = decode(data)[:MOST_CHARACTERS]
        yield from (Glossary("", rows) for rows in lists_in(text))
        said = map(sentences_about, _PARAGRAPH.split(text))
        yield Glossary("", [*islice(chain.from_iterable(said), MOST_ROWS)], about_columns=True)
