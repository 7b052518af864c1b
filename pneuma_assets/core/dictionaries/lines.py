"""Lists of names and what they mean, in plain text: `name - text`, `name: text`, `name = text`.

Two blanks part the two as well, and so does an indented line below the name.

A line is an entry whatever stands around it; only a list whose names are columns describes any
(`narration.written`), so prose with a colon in it does no harm.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pneuma_assets.core.terms.fields import name_parts
from pneuma_assets.core.text.safe import one_line

Cells = tuple[str, ...]
"""One row of a list or table inside a document, as plain text."""

MOST_ROWS = 20_000
"""Of one list, and of all lists of a document."""

TEXT_CHARACTERS = 1_000
"""What is said of one column is cut here; the whole document is searched as context."""

_LINE_CHARACTERS = 2_000
_NAME_WORDS = 12
_MARK = re.compile(r"(?:[-*+\u2022\u00b7]|\d{1,3}[.)])\s+|:(?=\w)")
_QUOTED = re.compile(r"(?P<sign>`{1,2}|\*\*|__|\"|')(?P<name>[^`*\"\n]{1,80}?)(?P=sign)")
_SEPARATOR = re.compile(r"\s*:\s+|\s+(?:[-\u2013\u2014]{1,2}|=)\s+|\t+\s*|\s{2,}")
_LEADING = re.compile(r"\s*(?:[-\u2013\u2014:.]{1,2}\s+)?")
_ALONE = re.compile(r"[^\W\d][\w.$-]{0,60}(?:\s*[:=])?")
_SENTENCE = re.compile(r"(?P<name>\w[\w.]{0,60}?)\.\s+(?=\S)")
_NOTHING = re.compile(
    r"\W*(?:(?:the )?(?:as|see|same as) (?:above|below|before)|unknown|ditto|same|none|n/?a|tbd|"
    r"todo|no description(?: available)?|not available|missing)\W*",
    re.IGNORECASE,
)
_CALL = re.compile(r"[\w.:$]+\(.*\)[;,]?")
_WORD = re.compile(r"[^\W\d_]{2,}")
_LETTERS = 0.25
"""The least share of letters in a text; below it stand figures of a table, not words."""


@dataclass(frozen=True, slots=True)
class Glossary:
    """A list in a document that may say what columns mean: a name and a text in each row.

    Rows of two cells are a name and its text; of a table without a header, all cells are here.
    `header` is the first row of such a table. `about_columns` is set where the list's own header,
    the heading above it, or a key says that it describes columns; of any other list only its names
    can tell. `document` is the name of the file, one line.
    """

    document: str
    rows: Sequence[Cells]
    header: Cells = ()
    about_columns: bool = False


@dataclass(slots=True)
class _Entry:
    indent: int
    name: str
    text: list[str] = field(default_factory=list)

    def cells(self) -> Cells:
        return (self.name, one_line(" ".join(self.text), TEXT_CHARACTERS))


def lists_in(text: str) -> Iterator[list[Cells]]:
    """Yield the lists of a text, each an entry a row: a name, and what is said of it.

    Entries of one list stand equally far from the margin, with no line of prose between them.
    Lines that stand further in than an entry continue it. A single line at the margin that is
    no item of a list is prose.
    """
    lists: dict[tuple[int, bool], list[_Entry]] = {}
    open_entries: list[_Entry] = []
    for line in text.expandtabs(4).splitlines():
        line = line[:_LINE_CHARACTERS]  # noqa: PLW2901 (the rest of it is not looked at)
        stripped = line.strip()
        if not stripped:
            continue
        indent = len(line) - len(line.lstrip())
        open_entries = [entry for entry in open_entries if entry.indent < indent]
        for entry in open_entries:
            if sum(map(len, entry.text)) < TEXT_CHARACTERS:
                entry.text.append(stripped)
        marked, body = without_mark(stripped)
        split = split_entry(body, marked=marked)
        if split is not None:
            entry = _Entry(indent, split[0], [split[1]] if split[1] else [])
            lists.setdefault((indent, marked), []).append(entry)
            open_entries.append(entry)
        elif not open_entries:
            yield from _worth(lists)
            lists.clear()
    yield from _worth(lists)


def _worth(lists: dict[tuple[int, bool], list[_Entry]]) -> Iterator[list[Cells]]:
    for (indent, marked), entries in lists.items():
        if len(entries) > 1 or indent or marked:
            rows = [entry.cells() for entry in entries]
            yield [row for row in rows if says_something(row[1])]


def split_entry(body: str, *, marked: bool) -> tuple[str, str] | None:
    """Return the name and the text of an entry; None if the line is no entry.

    `body` is the line without what marks it as an item of a list; `name. Text` is an entry only
    where it is `marked`.
    """
    quoted = _QUOTED.match(body)
    if quoted:
        rest = body[quoted.end() :]
        return quoted["name"].strip(), rest[_LEADING.match(rest).end() :]  # type: ignore[union-attr]
    found = _SEPARATOR.search(body[:120])
    if found and found.start():
        name, text = body[: found.start()], body[found.end() :]
        if found[0].strip() == "=" and _CALL.fullmatch(text.strip()):
            return None  # `name = read.csv(books)` is a program's
    elif marked and (sentence := _SENTENCE.match(body)):
        name, text = sentence["name"], body[sentence.end() :]
    elif _ALONE.fullmatch(body):
        name, text = body.rstrip(" :="), ""
    else:
        return None
    return (name.strip(), text.strip()) if len(name.split()) <= _NAME_WORDS else None


def says_something(text: str) -> bool:
    """Tell whether a text has words: `4.3  7.9  5.84` describes no column, nor does `as above`."""
    signs = "".join(text.split())
    letters = sum(sign.isalpha() for sign in signs)
    worded = letters >= _LETTERS * len(signs) and _WORD.search(text) is not None
    return worded and _NOTHING.fullmatch(text) is None


def without_mark(line: str) -> tuple[bool, str]:
    """Tell whether a line is marked as an item of a list, and return it without the mark."""
    mark = _MARK.match(line)
    return (True, line[mark.end() :]) if mark else (False, line)


_ABOUT_COLUMNS = frozenset({
    "attributes", "codebook", "column", "columns", "dictionary", "features", "fields", "format",
    "schema", "variable", "variables",
})  # fmt: skip
"""Words of the headings that people put above lists of columns; "Format" is that of R packages."""


def is_about_columns(heading: str) -> bool:
    """Tell whether a heading says that columns are described below it."""
    return not _ABOUT_COLUMNS.isdisjoint(name_parts(heading))


_NAME_KEYS = ("name", "column", "column_name", "field", "variable", "id")
_TEXT_KEYS = (
    *("description", "desc", "comment", "doc", "documentation"),
    *("meaning", "definition", "label", "title"),
)
_HOLDERS = frozenset({
    "columns", "fields", "variables", "properties", "attributes", "features", "schema",
    "data_dictionary", "dictionary",
})  # fmt: skip
_SURE = frozenset({"columns", "variables", "features", "data_dictionary"})
"""Of these, the ones whose plain texts are about columns; `fields` are often a document's own."""

_TABLES = frozenset({"tables", "resources", "datasets"})

_DEEPEST = 40


def lists_of(content: Any, depth: int = 0, *, of_columns: bool = False) -> Iterator[Glossary]:
    """Yield the lists of names and meanings in a JSON document, or a part of it at some depth.

    `of_columns` says that the key above it says that it is about columns.
    """
    if depth > _DEEPEST:
        return
    if isinstance(content, list):
        inside = [part for part in content if isinstance(part, dict)]
        named = ((_first_text(part, _NAME_KEYS), part) for part in inside)
        rows = _rows((name, part) for name, part in named if name)
        yield Glossary("", rows, about_columns=of_columns)
        parts = [("", part) for part in content]
    elif isinstance(content, dict):
        parts = [(str(key).lower(), value) for key, value in content.items()]
        # Of several tables nobody can say which one is meant.
        several = {k for k, v in parts if k in _TABLES and isinstance(v, list) and len(v) > 1}
        parts = [(key, value) for key, value in parts if key not in several]
        for key, value in parts:
            if isinstance(value, dict) and key in _HOLDERS:
                sure = key in _SURE or all(isinstance(part, dict) for part in value.values())
                yield Glossary("", _rows(value.items()), about_columns=sure)
    else:
        return
    for key, part in parts:
        yield from lists_of(part, depth + 1, of_columns=key in _HOLDERS)


def _first_text(part: Mapping[Any, Any], keys: Sequence[str]) -> str | None:
    """Return the first text under one of these keys, in any capitals."""
    lower = {str(key).lower(): value for key, value in part.items()}
    return next((lower[key] for key in keys if isinstance(lower.get(key), str)), None)


def _rows(entries: Iterable[tuple[Any, Any]]) -> list[Cells]:
    """Return the name and the text of each entry that gives a text."""
    rows: list[Cells] = []
    for name, part in entries:
        text = _first_text(part, _TEXT_KEYS) if isinstance(part, dict) else part
        if isinstance(text, str) and says_something(text):
            rows.append((str(name), one_line(text, TEXT_CHARACTERS)))
    return rows
