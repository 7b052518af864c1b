"""What people wrote about tables, in documents beside them, as plain text.

A table's documents are `name.{md,txt,rst,html,json}` beside it, and the README, metadata.json and
data dictionary of its folder, of which it is given what names it, and what is said of all tables;
a listing finds them, this module reads them. Nothing here may keep a table from
being indexed: a document that cannot be read becomes a line in `Contexts.problems`.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.base import Contexts
from pneuma_assets.core.sources.files.folder_documents import (
    NamesInside,
    Neighbours,
    Parts,
    cells_as_lines,
    is_shared,
    neighbours_of,
)
from pneuma_assets.core.sources.files.glossaries import glossaries_in
from pneuma_assets.core.sources.files.json_documents import json_parts, json_text, names_of
from pneuma_assets.core.sources.files.storage import Storage
from pneuma_assets.core.sources.names import (
    PARTITION_MARK,
    is_folder_document,
    one_line,
    split_inside,
)
from pneuma_assets.core.sources.written.html import decode_page, parse_page
from pneuma_assets.core.tables import TableRef
from pneuma_assets.core.text.encoding import decode, guess_encoding, looks_binary

MAX_CHARACTERS = 200_000
"""Longer texts are cut, and say so at the end."""

MAX_BYTES = 1_000_000
"""No more of a document is read; markup and accents take more room than the text in them."""

CUT_NOTE = "[The document is longer; it was cut here.]"

_HTML_BLOCKS = re.compile(
    "address|article|aside|blockquote|body|br|caption|d[dlt]|div|fieldset|figcaption|figure|"
    "footer|form|h[1-6]|header|hr|li|main|nav|[ou]l|option|p|pre|section|table|tbody|tfoot|"
    "thead|title|tr"
)
_MARKS = {**{f"h{level}": f"{'#' * level} " for level in range(1, 7)}, "li": "- "}
_HTML = frozenset({"html", "htm"})
_CELLS = frozenset({"csv", "tsv"})
_HTML_CELLS = frozenset({"td", "th"})
_HTML_UNSEEN = frozenset({"script", "style", "template", "noscript", "svg", "math", "object"})


def read_contexts(ref: TableRef, storage: Storage, names_inside: NamesInside) -> Contexts:
    """Read every document of a table.

    Args:
        ref: The table.
        storage: Where its documents lie.
        names_inside: Returns the names of all tables in a file.

    Raises:
        Nothing for a document that is missing, damaged or too large; that is a problem.
    """
    found: list[Contexts] = []
    file, _ = split_inside(ref.location, ref.format)
    for location in ref.context_locations:
        try:
            one = _read(storage.path(location), ref, storage.path(file), storage, names_inside)
        except (OSError, ValueError, RecursionError, TableReadError) as error:
            cause = one_line(getattr(error, "strerror", None) or str(error))
            one = Contexts([], [f"the document {location} cannot be read: {cause}"])
        found.append(one)
    return Contexts(
        [text for one in found for text in one.texts],
        [problem for one in found for problem in one.problems],
        [glossary for one in found for glossary in one.glossaries],
        [text for one in found for text in one.of_folder],
    )


def _read(
    path: str, ref: TableRef, table_path: str, storage: Storage, names_inside: NamesInside
) -> Contexts:
    """Read one document: what of it is about a table, and about all beside it."""
    folder, _, name = path.rpartition("/")
    data = storage.read(path, MAX_BYTES + 1)
    table = _table_names(table_path, ref)
    siblings = partial(storage.names, folder)
    if is_shared(name, folder, ref, table_path):
        beside = siblings() if is_folder_document(name) else ()
        among = neighbours_of(ref, table_path, beside, names_inside)
        if among.several:
            return _of_several(name, data, table, among, siblings)
    text = document_text(name, data, table, siblings)
    lists = glossaries_in(name, data[:MAX_BYTES], table, siblings()) if text else ()
    return Contexts([text] if text else [], glossaries=lists)


def _of_several(
    name: str,
    data: bytes,
    table: Collection[str],
    among: Neighbours,
    siblings: Callable[[], Collection[str]],
) -> Contexts:
    cut = len(data) > MAX_BYTES
    data = data[:MAX_BYTES]
    if _suffix(name) == "json":
        own, of_all = json_parts(_checked_text(name, data, cut=cut), table, siblings)
        parts = Parts(own, "", of_all)
        lists = glossaries_in(name, data, table, siblings())
    else:
        parts = among.parts(_marked_text(name, data))
        lists = glossaries_in(f"{name}.md", parts.own.encode(), table, ())
    texts = [text for part in (parts.own, parts.several) if (text := plain_text(part))]
    of_folder = [
        text for text in [plain_text(parts.of_all, cut=cut and bool(parts.of_all))] if text
    ]
    return Contexts(texts, (), [replace(one, document=one_line(name)) for one in lists], of_folder)


def document_text(
    name: str,
    data: bytes,
    table: Collection[str] = (),
    siblings: Callable[[], Collection[str]] = tuple,
) -> str:
    """Return a document as plain text, bounded by `MAX_CHARACTERS`.

    Args:
        name: File name; its extension tells the format.
        data: Content in any encoding that tables may have.
        table: Names by which a JSON document may key its part about the table.
        siblings: Returns the file names of the document's folder; called only if needed.

    Raises:
        ValueError: It is not text, or not JSON although it is called so.
        RecursionError: It nests deeper than Python can follow.
    """
    cut = len(data) > MAX_BYTES
    text = _checked_text(name, data[:MAX_BYTES], cut=cut)
    if _suffix(name) == "json":
        text = json_text(text, table, siblings)
    elif _suffix(name) in _HTML:
        text = html_text(text)
    elif _suffix(name) in _CELLS:
        text = cells_as_lines(text)
    return plain_text(text, cut=cut)


def _checked_text(name: str, data: bytes, *, cut: bool) -> str:
    """Return a document decoded, its markup still in it; raises `ValueError`."""
    if guess_encoding(data) == "utf-8" and looks_binary(data):
        raise ValueError("it holds binary data, not text; give it the extension of its format")
    if cut and _suffix(name) == "json":
        raise ValueError(f"it is larger than {MAX_BYTES // 1_000_000} MB; shorten it")
    return decode_page(data) if _suffix(name) in _HTML else decode(data)


def _marked_text(name: str, data: bytes) -> str:
    """Return a document as Markdown, so that its headings, lists and tables can be told."""
    text = _checked_text(name, data, cut=False)
    if _suffix(name) in _HTML:
        return html_text(text, marked=True)
    return cells_as_lines(text) if _suffix(name) in _CELLS else text


def _suffix(name: str) -> str:
    return name.rpartition(".")[2].lower()


def plain_text(text: str, *, cut: bool = False) -> str:
    """Return text without control characters and superfluous blanks, bounded.

    `cut` tells that the text is already only the beginning of a longer one.
    """
    text = _tidy(text)
    cut = cut or len(text) > MAX_CHARACTERS
    return f"{text[:MAX_CHARACTERS].rstrip()}\n{CUT_NOTE}" if cut else text


def html_text(markup: str, *, marked: bool = False) -> str:
    """Return what a reader of the page sees: entities decoded, scripts and styles left out.

    `marked` puts the signs of Markdown before headings and items.

    Raises:
        ValueError: Elements nest deeper than lxml follows, so text would be lost.
    """
    from lxml import etree

    root = parse_page(markup)
    if root is None:
        return ""
    parts: list[str] = []
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        unseen = element.tag in _HTML_UNSEEN
        if _HTML_BLOCKS.fullmatch(element.tag):
            parts.append("\n")
        if marked and event == "start":
            parts.append(_MARKS.get(element.tag, ""))
        if event == "end":
            parts += [" " if element.tag in _HTML_CELLS else "", element.tail or ""]
        elif unseen:
            walk.skip_subtree()
        else:
            parts.append(element.text or "")
    return "".join(parts)


def _table_names(path: str, ref: TableRef) -> frozenset[str]:
    file_name = path.rstrip(PARTITION_MARK).rpartition("/")[2]
    return frozenset({*names_of(file_name), file_name, ref.table_id.rpartition("/")[2]})


def _tidy(text: str) -> str:
    """Drop control characters, and blanks beyond one blank line."""
    text = re.sub(r"\r\n?|[\u2028\u2029\x0b\x0c\x85]", "\n", text)
    text = re.sub(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]", "", text).encode("utf-8", "replace").decode()
    text = re.sub(r"[^\S\n]+", " ", text)
    return (
        re.sub(r" ?\n ?(?:\n ?)+", "\n\n", text).replace(" \n", "\n").replace("\n ", "\n").strip()
    )
