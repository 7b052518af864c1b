"""What people wrote about tables, in documents beside them, as plain text.

A table's documents are `name.{md,txt,rst,html,json}` beside it, and the README and metadata.json
of its folder; a listing finds them, this module reads them. Nothing here may keep a table from
being indexed: a document that cannot be read becomes a line in `Contexts.problems`.
"""

import re
from collections.abc import Callable, Collection
from functools import partial

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.base import Contexts
from pneuma_assets.core.sources.files.glossaries import glossaries_in
from pneuma_assets.core.sources.files.json_documents import json_text, names_of
from pneuma_assets.core.sources.files.storage import Storage
from pneuma_assets.core.sources.names import PARTITION_MARK, document_key, one_line, split_inside
from pneuma_assets.core.sources.written.html import decode_page, parse_page
from pneuma_assets.core.tables import TableRef
from pneuma_assets.core.text.encoding import decode, guess_encoding, looks_binary

MAX_CHARACTERS = 200_000
"""Longer texts are cut, and say so at the end."""

MAX_BYTES = 1_000_000
"""No more of a document is read; markup and accents take more room than the text in them."""

CUT_NOTE = "[The document is longer; it was cut here.]"

_KEYED_LISTS = ("tables", "resources", "datasets")
_HTML_BLOCKS = re.compile(
    "address|article|aside|blockquote|body|br|caption|d[dlt]|div|fieldset|figcaption|figure|"
    "footer|form|h[1-6]|header|hr|li|main|nav|[ou]l|option|p|pre|section|table|tbody|tfoot|"
    "thead|title|tr"
)
_HTML_CELLS = frozenset({"td", "th"})
_HTML_UNSEEN = frozenset({"script", "style", "template", "noscript", "svg", "math", "object"})


def read_contexts(ref: TableRef, storage: Storage) -> Contexts:
    """Read every document of a table.

    Raises:
        Nothing for a document that is missing, damaged or too large; that is a problem.
    """
    texts, problems, glossaries = [], [], []
    file, _ = split_inside(ref.location, ref.format)
    table = _table_names(storage.path(file), ref)
    for location in ref.context_locations:
        path = storage.path(location)
        folder, _, name = path.rpartition("/")
        try:
            data = storage.read(path, MAX_BYTES + 1)
            text = document_text(name, data, table, partial(storage.names, folder))
        except (OSError, ValueError, RecursionError, TableReadError) as error:
            cause = one_line(getattr(error, "strerror", None) or str(error))
            problems.append(f"the document {location} cannot be read: {cause}")
            continue
        if text:
            texts.append(text)
            glossaries += glossaries_in(name, data[:MAX_BYTES], table, storage.names(folder))
    return Contexts(texts, problems, glossaries)


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
    data = data[:MAX_BYTES]
    if guess_encoding(data) == "utf-8" and looks_binary(data):
        raise ValueError("it holds binary data, not text; give it the extension of its format")
    suffix = (document_key(name) or name).rpartition(".")[2]
    if suffix == "json":
        if cut:
            raise ValueError(f"it is larger than {MAX_BYTES // 1_000_000} MB; shorten it")
        text = json_text(decode(data), table, siblings)
    elif suffix in {"html", "htm"}:
        text = html_text(decode_page(data))
    else:
        text = decode(data)
    return plain_text(text, cut=cut)


def plain_text(text: str, *, cut: bool = False) -> str:
    """Return text without control characters and superfluous blanks, bounded.

    `cut` tells that the text is already only the beginning of a longer one.
    """
    text = _tidy(text)
    cut = cut or len(text) > MAX_CHARACTERS
    return f"{text[:MAX_CHARACTERS].rstrip()}\n{CUT_NOTE}" if cut else text


def html_text(markup: str) -> str:
    """Return what a reader of the page sees: entities decoded, scripts and styles left out.

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
