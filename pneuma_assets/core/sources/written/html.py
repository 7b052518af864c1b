"""What an HTML page says of columns: definition lists, tables, items of lists, preformatted text.

Pages of documentation of R packages have their columns in the section "Format": as a definition
list, or as a table without a header whose first cells may be numbers.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

from pneuma_assets.core.sources.base import Cells
from pneuma_assets.core.sources.written.lines import (
    TEXT_CHARACTERS,
    lists_in,
    says_something,
    split_entry,
)
from pneuma_assets.core.sources.written.listed import MOST_ROWS, Listed
from pneuma_assets.core.sources.written.tables import described_rows
from pneuma_assets.core.text.encoding import HEAD_BYTES, decode, guess_encoding
from pneuma_assets.core.text.safe import one_line

if TYPE_CHECKING:
    from lxml.etree import _Element

HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")

_DECLARED = re.compile(rb"""charset\s*=\s*["']?([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_BLOCKS = frozenset(["p", "div", "br", "dl", "dt", "dd", "ul", "ol", "li", "tr", "td", "th"])
_LISTS: Final = ("dl", "table", "ul", "ol", "pre")
_DEEPEST_LIST = 3
"""A list that lies in three others is read as a part of them only, so that a page costs no more
than a few readings of it; a table for the layout and a list around lists of columns are two."""

_TERMS_TOGETHER = 100
"""Terms that one definition is about."""

_NAMING = frozenset({"code", "b", "strong", "tt", "var"})


def decode_page(data: bytes) -> str:
    """Decode a page that may declare an encoding other than those of tables."""
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        declared = _DECLARED.search(data[:HEAD_BYTES])
    guess = guess_encoding(data)
    if guess == "utf-8" and declared:
        try:
            return data.decode(declared.group(1).decode("ascii"), "replace")
        except (LookupError, UnicodeError):
            return decode(data)  # It declares an encoding that there is not.
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


def lists_on(root: "_Element") -> Iterator[Listed]:
    """Yield each list of names and meanings of a page, with the headings above it."""
    headings: tuple[str, ...] = ()
    above: list[tuple[int, str]] = []
    for element in _outer(root):
        if element.tag in HEADINGS:
            level = int(str(element.tag)[1])
            above = [(depth, said) for depth, said in above if depth < level]
            above.append((level, _words(element)))
            headings = tuple(said for _, said in above)
        elif element.tag == "pre":
            if not any(code.get("class") for code in element.iter("code")):  # no program
                for rows in lists_in(text_of(element)):
                    yield Listed(rows, headings=headings)
        elif element.tag == "table":
            yield described_rows(_table(element), headings)
        else:
            read = _definitions if element.tag == "dl" else _items
            yield Listed(list(islice(read(element), MOST_ROWS)), headings=headings)


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
    told = False
    for child in element.iterfind(".//*"):
        if child.tag not in ("dt", "dd") or next(child.iterancestors("dl")) is not element:
            continue
        text = _words(child)
        if child.tag == "dt":
            if told:
                terms.clear()
            if len(terms) < _TERMS_TOGETHER:
                terms.append(text)
            told = False
        else:
            told = True
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
    from lxml import etree

    parts: list[str] = []
    size = 0
    for event, node in etree.iterwalk(element, events=("start", "end")):
        text = node.text if event == "start" else node.tail if node is not element else ""
        parts += [" " if node.tag in _BLOCKS else "", text or ""]
        size += len(text or "")
        if size > 4 * TEXT_CHARACTERS:
            break
    return one_line("".join(parts), TEXT_CHARACTERS)
