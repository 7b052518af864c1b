"""What an HTML page says of columns: definition lists, tables, items of lists, preformatted text.

Pages of documentation of R packages have their columns in the section "Format": as a definition
list, or as a table without a header whose first cells may be numbers.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from pneuma_assets.core.dictionaries.lines import (
    MOST_ROWS,
    TEXT_CHARACTERS,
    Cells,
    Glossary,
    is_about_columns,
    lists_in,
    says_something,
    split_entry,
)
from pneuma_assets.core.dictionaries.prose import sentences_about
from pneuma_assets.core.terms.fields import name_parts
from pneuma_assets.core.text.encoding import HEAD_BYTES, decode, guess_encoding
from pneuma_assets.core.text.safe import one_line

if TYPE_CHECKING:
    from lxml.etree import _Element


HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")

_DECLARED = re.compile(rb"""charset\s*=\s*["']?([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_BLOCK = re.compile(
    "address|article|aside|blockquote|body|br|caption|d[dlt]|div|fieldset|figcaption|figure|"
    "footer|form|h[1-6]|header|hr|li|main|nav|[ou]l|option|p|pre|section|table|tbody|tfoot|"
    "thead|title|tr"
)
_MARKS = {**{f"h{level}": f"{'#' * level} " for level in range(1, 7)}, "li": "- "}
_UNSEEN = frozenset({"script", "style", "template", "noscript", "svg", "math", "object"})
_LISTS: Final = ("dl", "table", "ul", "ol", "pre")
_IN_LISTS: Final = ("li", "dd", "dt", "td", "th", "p")
_DEEPEST_LIST = 3
"""A list that lies in three others is read as a part of them only, so that a page costs no more
than a few readings of it; a table for the layout and a list around lists of columns are two."""

_TERMS_TOGETHER = 100
"""Terms that one definition is about."""

_NAMING = frozenset({"code", "b", "strong", "tt", "var"})


def decode_page(data: bytes) -> str:
    """Decode a page that may declare an encoding other than those of tables."""
    with suppress(UnicodeDecodeError):
        return data.decode("utf-8").removeprefix("\ufeff")
    guess, declared = guess_encoding(data), _DECLARED.search(data[:HEAD_BYTES])
    if guess == "utf-8" and declared:
        with suppress(LookupError, UnicodeError):  # It may declare an encoding that there is not.
            return data.decode(declared[1].decode("ascii"), "replace")
    return decode(data, guess)


def parse_page(markup: str) -> "_Element | None":
    """Return the root of a page, None if there is no element in it.

    lxml reads any page in linear time; Python's own parser, and so Beautiful Soup's default,
    takes minutes for a few hundred kilobytes of `<!--`.

    Raises:
        ValueError: Elements nest deeper than lxml follows, so text would be lost.
    """
    from lxml import etree

    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(markup.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        return None
    if any("depth" in error.message.lower() for error in parser.error_log):
        raise ValueError("its elements nest too deeply; flatten it")
    return root


def lists_on(root: "_Element") -> Iterator[Glossary]:
    """Yield each list of names and meanings of a page, and what its paragraphs say of names."""
    paragraphs = (
        one for one in root.iter("p") if next(one.iterancestors(*_IN_LISTS), None) is None
    )
    said = (sentences_about("".join(seen_text(one, marked=True))) for one in paragraphs)
    yield Glossary("", [*islice(chain.from_iterable(said), MOST_ROWS)], about_columns=True)
    about_columns = False
    for element in _outer(root):
        if element.tag in HEADINGS:
            about_columns = is_about_columns(_words(element))
        elif element.tag == "pre":
            if not any(code.get("class") for code in element.iter("code")):  # no program
                for rows in lists_in(text_of(element)):
                    yield Glossary("", rows, about_columns=about_columns)
        elif element.tag == "table":
            yield described_rows(_table(element), about_columns=about_columns)
        else:
            read = _definitions if element.tag == "dl" else _items
            rows = list(islice(read(element), MOST_ROWS))
            yield Glossary("", rows, about_columns=about_columns)


def _outer(root: "_Element") -> "Iterator[_Element]":
    """Yield headings, and lists that lie in few others: each is read whole with what is in it."""
    from lxml import etree

    depth = 0
    tags = (*_LISTS, *HEADINGS)
    walk = etree.iterwalk(root, events=("start", "end"), tag=tags)
    for event, element in walk:
        if event == "end":
            depth -= element.tag in _LISTS
            continue
        yield element
        depth += element.tag in _LISTS
        if depth >= _DEEPEST_LIST or element.tag == "pre":
            walk.skip_subtree()


def _definitions(element: "_Element") -> Iterator[Cells]:
    """Yield a row a term; terms that stand together share what follows them."""
    terms: list[str] = []
    defined = False
    for child in element.iterfind(".//*"):
        if child.tag not in ("dt", "dd") or next(child.iterancestors("dl")) is not element:
            continue
        text = _words(child)
        if child.tag == "dt":
            if defined:
                terms.clear()
            if len(terms) < _TERMS_TOGETHER:
                terms.append(text)
            defined = False
        else:
            defined = True
            if says_something(text):
                yield from ((term, text) for term in terms)


def _table(element: "_Element") -> list[Cells]:
    return [
        tuple(_words(cell) for cell in row.iterchildren("td", "th"))
        for row in element.iter("tr")
        if next(row.iterancestors("table")) is element
    ]


def _items(element: "_Element") -> Iterator[Cells]:
    for item in element.iterchildren("li"):
        named = next(item.iter(*_NAMING), None)
        whole = _words(item)
        name = _words(named) if named is not None else ""
        if name and whole.startswith(name):
            cells = (name, whole[len(name) :].lstrip(" :.\u2013\u2014-"))
        else:
            cells = split_entry(whole, marked=True) or ("", "")
        if cells[0] and says_something(cells[1]):
            yield cells


def text_of(element: "_Element") -> str:
    """Return the text of an element as it is, lines and blanks kept."""
    return "".join(str(part) for part in element.itertext())


def _words(element: "_Element") -> str:
    """Return the text of an element on one line; blocks inside it do not run together."""
    parts: list[str] = []
    size = 0
    for part in seen_text(element):
        parts.append(part)
        size += len(part)
        if size > 4 * TEXT_CHARACTERS:
            break
    return one_line("".join(parts), TEXT_CHARACTERS)


def seen_text(root: "_Element", *, marked: bool = False) -> Iterator[str]:
    """Yield what a reader of an element sees, on lines of its own what is a block.

    Scripts and styles are left out. `marked` puts the signs of Markdown before headings and items,
    and around names in a text.
    """
    from lxml import etree

    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if _BLOCK.fullmatch(element.tag):
            yield "\n"
        if marked and element.tag == "code" and next(element.iterancestors("pre"), None) is None:
            yield "`"
        if marked and event == "start":
            yield _MARKS.get(element.tag, "")
        if event == "end":
            yield " " if element.tag in ("td", "th") else ""
            yield (element.tail or "") if element is not root else ""
        elif element.tag in _UNSEEN:
            walk.skip_subtree()
        else:
            yield element.text or ""


def lists_in_markdown(text: str) -> Iterator[Glossary]:
    """Yield each list of names and meanings, with the headings above it.

    Paragraphs are read line by line, too: people write `name - text` without making it a list.

    Raises:
        ValueError: It nests too deeply.
    """
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": 20}).enable("table")
    root = parse_page(parser.render(text))
    if root is None:
        return
    yield from lists_on(root)
    for paragraph in root.iter("p"):
        yield from (Glossary("", rows) for rows in lists_in(text_of(paragraph)))


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


def described_rows(rows: Sequence[Cells], *, about_columns: bool = False) -> Glossary:
    """Return a row a name: two cells where the header says which they are, else all.

    Tables without such a header are kept whole, since only who knows the columns can tell which
    cell names them. `about_columns` is what the heading above the table says.
    """
    if not rows:
        return Glossary("", ())
    titles = [" ".join(name_parts(cell)) for cell in rows[0]]
    name = next((at for at, title in enumerate(titles) if title in NAMING), None)
    text = next((at for at, title in enumerate(titles) if title in TELLING and at != name), None)
    if name is not None and text is not None:
        last = max(name, text)
        long = (row for row in rows[1:_ROWS] if last < len(row))
        described = [(row[name], row[text]) for row in long if row[text]]
        return Glossary("", described, about_columns=True)
    if name is None or titles[name] in _VAGUE:
        return Glossary("", rows[:_ROWS], rows[0], about_columns)
    kept = [at for at, title in enumerate(titles) if title not in _NOT_TELLING]
    cells = [tuple(row[at] for at in kept if at < len(row)) for row in rows[1:_ROWS]]
    return Glossary("", cells, rows[0], about_columns=True)
