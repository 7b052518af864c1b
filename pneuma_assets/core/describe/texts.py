"""What a document about a table is made from, and the texts of each kind (Pneuma, section 4).

A stage of an indexing run hands what it has just read of a table to every maker that makes
documents from such material; `kinds.py` says which makers there are.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from pneuma_assets.core.sources.names import unescape
from pneuma_assets.core.tables import DocumentKind, Table
from pneuma_assets.core.terms.fields import name_parts
from pneuma_assets.core.terms.split_names import (
    in_full,
    in_words,
    shared_prefix,
    surely_parted,
    without_prefix,
)
from pneuma_assets.core.text.safe import one_line

if TYPE_CHECKING:
    from pneuma_assets.core.sources.base import Row

NARRATION_CHARACTERS = 400
"""What people wrote at length is whole in the document they wrote it in."""

CELL_CHARACTERS = 200
"""A longer cell is cut here: its beginning tells what it is."""

ROW_CHARACTERS = 20_000
"""A row with more text than this (thousands of columns) is cut after a whole cell."""

MOST_NEIGHBOURS = 12
"""Tables that are named upstream, and downstream; of more only the number is told."""

NAME_CHARACTERS = 80

_SEPARATOR = " | "

_VALUES_ALONE = re.compile(r"(?:one of|such as|always|in) |[^;]* where known$")
"""What a narration without a word for the column is (`columns.fact_descriptions`)."""


@dataclass(frozen=True, slots=True)
class _OfTable:
    table: Table

    @property
    def table_id(self) -> str:
        """The table."""
        return self.table.table_id


@dataclass(frozen=True, slots=True)
class ReadTable(_OfTable):
    """A table's profile, and the texts that people wrote in its source, of it and of its folder."""

    contexts: Sequence[str]
    of_folder: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class DrawnRows(_OfTable):
    """The rows that stand for a table; cells are text in the order of the columns, or None."""

    rows: "Sequence[Row]"


@dataclass(frozen=True, slots=True)
class NarratedColumns(_OfTable):
    """Descriptions of a table's columns, by position; some columns may have none.

    `names` are of the schema or folders that the table is in, and its own, as people wrote them.
    `summary` is what a language model says of the table as a whole.
    """

    narrations: Mapping[int, str]
    names: Sequence[str] = ()
    summary: str = ""


@dataclass(frozen=True, slots=True)
class LinkedTable:
    """What a table is built from, and what is built from it: ids of tables, in order."""

    table_id: str
    built_from: Sequence[str]
    feeds: Sequence[str]


Material = ReadTable | DrawnRows | NarratedColumns | LinkedTable

M = TypeVar("M", ReadTable, DrawnRows, NarratedColumns, LinkedTable)


@dataclass(frozen=True, slots=True)
class DocumentMaker(Generic[M]):
    """Makes the documents of one kind.

    Attributes:
        kind: The kind; texts of different kinds never share a block.
        made_from: What it makes documents from.
        texts: Returns the text of each document of one table, in order. The same material always
            gives the same texts, of bounded size: cells may be of any length, names of any kind.
        version: Raised when the same material gives other texts, so that every table is indexed
            again. 0 only for kinds whose changes `pipeline.plan.FORMAT` counts.
        called: What people call one of these documents, such as "a sampled row".
    """

    kind: DocumentKind
    made_from: type[M]
    texts: Callable[[M], Iterable[str]]
    version: int
    called: str


def schema_texts(narrated: NarratedColumns) -> list[str]:
    """Return `names of the table: column: narration | column: narration` (figure 3).

    A column without narration is its name, and that as words where it is written otherwise
    (section 7.3.1 calls the names alone SchemaConcat). The paper leaves the table's own name out,
    by which people ask for it; in words, it is what the encoder reads first. A table without a
    named or narrated column has no document.
    """
    parts = []
    prefix = shared_prefix([name_parts(column.name) for column in narrated.table.columns])
    for position, column in enumerate(narrated.table.columns):
        parts.append(column_text(column.name, narrated.narrations.get(position, ""), prefix))
    text = _SEPARATOR.join(part for part in parts if part)
    if not text:
        return []
    named = one_line(in_words(narrated.names))
    return [f"{named}: {text}" if named else text]


def column_text(name: str, narration: str, prefix: str = "") -> str:
    """Return a column as `name: narration`, where that tells only values with the name in words.

    Without these, of 270 questions about cloud tables 8 fewer had their table first. An encoder
    reads `petal_length` as five pieces. `prefix` is what is put before all names of the table.
    """
    name = one_line(name)
    said = one_line(narration, NARRATION_CHARACTERS)
    if not said or _VALUES_ALONE.match(said):
        said = "; ".join(filter(None, (spelt_out(name, prefix)[0], said)))
    return ": ".join(filter(None, (name, said)))


SPELT, GUESSED = 1.0, 0.8
"""Confidence: the name's own words; glued or short names."""


def spelt_out(name: str, prefix: str = "") -> tuple[str, float]:
    """Return the words that a name stands for, and how sure that is; none if it is one word.

    `prefix` is what is put before all names of its table.
    """
    parts = [*without_prefix(name_parts(one_line(name)), prefix)]
    words = in_full(word for part in parts for word in surely_parted(part))
    text = " ".join(words)
    if words != parts:
        return text, GUESSED
    several = sum(len(word) > 1 and word.isalpha() for word in words) > 1
    return (text, SPELT) if several and text != name.strip().casefold() else ("", SPELT)


def row_texts(drawn: DrawnRows) -> list[str]:
    """Return one text a row; rows without any value have none."""
    columns = [one_line(column.name) for column in drawn.table.columns]
    return [text for row in drawn.rows if (text := row_text(columns, row))]


def row_text(columns: Sequence[str], row: "Row") -> str:
    """Return a row as `column: value | column: value`, on one line (figure 4).

    Empty cells are left out, as "price: null" would only make rows of different tables alike.
    Long cells are cut; so is a very wide row, which then says how many cells are missing.
    """
    parts: list[str] = []
    size = 0
    for number, (column, value) in enumerate(zip(columns, row, strict=True)):
        text = "" if value is None else one_line(str(value), CELL_CHARACTERS)
        if not text:
            continue
        part = f"{column}: {text}"
        size += len(part) + len(_SEPARATOR)
        if parts and size > ROW_CHARACTERS:
            parts.append(f"… ({len(columns) - number} more columns)")
            break
        parts.append(part)
    return _SEPARATOR.join(parts)


def lineage_texts(linked: LinkedTable) -> list[str]:
    """Return `built from a (sales), b and 3 more; feeds c`; nothing for a table that stands alone.

    A report is asked for by what it reports on, which only the tables that it is built from may
    name. A table of the same schema or folder is named without it.
    """
    parts = [
        f"{verb} {_listed(linked.table_id, tables)}"
        for verb, tables in (("built from", linked.built_from), ("feeds", linked.feeds))
        if tables
    ]
    return ["; ".join(parts)] if parts else []


def _listed(table_id: str, others: Sequence[str]) -> str:
    named = [_neighbour(table_id, other) for other in others[:MOST_NEIGHBOURS]]
    more = len(others) - len(named)
    if more:
        return f"{', '.join(named)} and {more} more"
    *first, last = named
    return f"{', '.join(first)} and {last}" if first else last


def _neighbour(table_id: str, other: str) -> str:
    place, _, name = other.rpartition("/")
    shown = one_line(unescape(name), NAME_CHARACTERS)
    if place == table_id.rpartition("/")[0]:
        return shown
    return f"{shown} ({one_line(unescape(place.rpartition('/')[2]), NAME_CHARACTERS)})"


MAKERS = (
    DocumentMaker(DocumentKind.SCHEMA, NarratedColumns, schema_texts, 0, "narration"),
    DocumentMaker(DocumentKind.ROWS, DrawnRows, row_texts, 0, "a sampled row"),
    DocumentMaker(  # what people added by hand, the store adds to these
        DocumentKind.CONTEXT,
        ReadTable,
        lambda read: read.contexts,
        0,
        "context",
    ),
    DocumentMaker(  # a kind of its own: search counts a block for less the more tables have it
        DocumentKind.FOLDER,
        ReadTable,
        lambda read: read.of_folder,
        1,
        "what is said of its folder",
    ),
    DocumentMaker(
        DocumentKind.LINEAGE,
        LinkedTable,
        lineage_texts,
        1,
        "lineage",
    ),
    DocumentMaker(
        DocumentKind.SUMMARY,
        NarratedColumns,
        lambda narrated: [narrated.summary] if narrated.summary else [],
        1,
        "a model's summary",
    ),
)
"""The kinds that the project itself makes, in order."""
