"""The vocabulary of everything else: tables, documents about them, and blocks of documents.

All are frozen dataclasses, so they can be hashed, compared and passed between stages safely.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

Vector = npt.NDArray[np.float32]
"""One embedding, shape (dimension,), or several, shape (n, dimension); unit length."""


class DocumentKind(str):
    """What a document says about its table (Pneuma, section 5.2, keeps the kinds apart).

    Any short name is a kind, so that a store or an index written by a version that makes more of
    them is read by one that makes fewer. Which kinds are made is not said here.

    Raises:
        ValueError: The name is not a lower-case letter and up to 31 more, digits or underscores.
    """

    __slots__ = ()

    SCHEMA: ClassVar["DocumentKind"]
    ROWS: ClassVar["DocumentKind"]
    CONTEXT: ClassVar["DocumentKind"]
    FOLDER: ClassVar["DocumentKind"]
    LINEAGE: ClassVar["DocumentKind"]
    SUMMARY: ClassVar["DocumentKind"]
    NAMES: ClassVar["DocumentKind"]
    VALUES: ClassVar["DocumentKind"]

    def __new__(cls, name: str) -> Self:
        """Check the name, which may come from a file or a command line."""
        if not isinstance(name, str) or _KIND.fullmatch(name) is None:
            raise ValueError(f"{name!r} is not a kind of document")
        return super().__new__(cls, name)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Let dataclasses that have one be described as JSON, where it is a text."""
        return core_schema.no_info_after_validator_function(cls, handler(str))


_KIND = re.compile(r"[a-z][a-z0-9_]{0,31}")

DocumentKind.SCHEMA = DocumentKind("schema")
DocumentKind.ROWS = DocumentKind("rows")
DocumentKind.CONTEXT = DocumentKind("context")
DocumentKind.FOLDER = DocumentKind("folder")
DocumentKind.LINEAGE = DocumentKind("lineage")
DocumentKind.SUMMARY = DocumentKind("summary")
DocumentKind.NAMES = DocumentKind("names")
DocumentKind.VALUES = DocumentKind("values")


LISTED_VALUES = re.compile(r"\b(ENUM\d*|SET)\s*\((?:[^()']|'(?:[^']|'')*'?)*\)?", re.IGNORECASE)
"""In a type, the values that it lists: `ENUM('new', 'it''s paid')`."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name as people see it, its type, and what the database says of it.

    `identity` stays the same when the column is renamed (PostgreSQL's attribute number, a field id
    of Iceberg); empty where its source keeps nothing of that kind. The values of a `hidden` one are
    never kept (`config.privacy`).
    """

    name: str
    type: str
    comment: str = ""
    identity: str = ""
    hidden: bool = False


def comments_on_columns(columns: Iterable[Column]) -> str:
    """Return the text that a source makes of what a database says of columns, a line each.

    What is said of a column is so told from what is said of the table.
    """
    return "\n".join(f"{column.name}: {column.comment}" for column in columns if column.comment)


NOT_A_NUMBER = ("NaN", "nan")
"""Cells of any source that are counted as NULL, as by pandas."""

MISSING = (
    *("", " ", "-", "--", "\u2013", "\u2014", "?", ".", "..", "...", r"\N", *NOT_A_NUMBER, "NAN"),
    *("NA", "N/A", "n/a", "na", "n.a.", "N.A.", "#N/A", "#N/A N/A", "#NA", "<NA>", "NULL", "Null"),
    *("null", "None", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
"""Cells of text files and sheets that are NULL: those of pandas, and signs that people write."""


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """What all rows of a table say of one of its columns. There is none of a hidden column.

    Cells are text, of which the first 200 characters count.

    Attributes:
        nulls: The share of rows without a value, from 0 to 1: NULL, or a cell of `missing`, which
            counts for nothing below.
        distinct: The number of different cells, at most that of rows with a value.
        distinct_exact: Whether that is exact, else estimated.
        least: The least cell as it is spelled, cut, where all are numbers, or dates as ISO 8601
            spells them. None of other text, of which the first of an alphabet says nothing.
        greatest: The greatest, likewise.
        frequent: The cells that most rows have, cut, each with its share of all rows. None that is
            there once.
        histogram: Where all cells are numbers or all are dates: the least number of a bin, the one
            before which it ends, the last bin with it, and its rows. Dates are seconds since 1970,
            UTC. Empty for others.
        shares_exact: Whether `frequent` and `histogram` count all rows, else rows drawn uniformly.
        missing: Those of `MISSING`, or `NOT_A_NUMBER`, that it has.
    """

    nulls: float
    distinct: int
    distinct_exact: bool
    least: str | None = None
    greatest: str | None = None
    frequent: tuple[tuple[str, float], ...] = ()
    histogram: tuple[tuple[float, float, int], ...] = ()
    shares_exact: bool = True
    missing: tuple[str, ...] = ()


class Provenance(StrEnum):
    """Who says what a column is; the earlier is believed before the later."""

    CORRECTION = "correction"
    """A person who read what others say, and says otherwise."""
    PERSON = "person"
    """A comment in the database, or a context that somebody added."""
    DOCUMENT = "document"
    """A document beside the table."""
    MODEL = "model"
    """A language model."""
    PROFILE = "profile"
    """The column's own name and values."""


THE_TABLE = -1
"""Stands for the position of a column where something is said of the table as a whole."""


@dataclass(frozen=True, slots=True)
class Description:
    """What is said of a column, or of a table.

    Attributes:
        text: One line.
        provenance: Who says it.
        source: What exactly: a document's name, a model's.
        confidence: From 0 to 1; how it is come by is said where each kind is made. None where
            nobody measured it.
        said_at: When a model or a person said it to us, in seconds since 1970; None where that is
            not known, or it was read from elsewhere.
    """

    text: str
    provenance: Provenance
    source: str
    confidence: float | None = None
    said_at: float | None = None


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Columns of a table that hold the key of another one.

    Attributes:
        columns: Their names, in order.
        table: The other table as its engine spells it: schema and name, before them the database
            where the engine can point into others.
        other_columns: What they hold, in the same order.
    """

    columns: tuple[str, ...]
    table: tuple[str, ...]
    other_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Definition:
    """The query that a view is.

    Attributes:
        sql: As the engine gives it; other people wrote it.
        dialect: What sqlglot calls the engine's SQL (postgres, snowflake, duckdb).
        catalog: The database in which names without one are looked up; empty: unknown.
        schema: The schema in which names without one are looked up; empty: unknown.
    """

    sql: str
    dialect: str
    catalog: str = ""
    schema: str = ""


@dataclass(frozen=True, slots=True)
class TableRef:
    """A table as a cheap listing shows it, before anything is read.

    `table_id` is `source/schema-or-folder/name`, stable across runs and machines. `version`
    changes whenever the data or a document beside it may have (size and modification time, ETag,
    modification counter); comparing it costs nothing. `updated_at` is when its data was written
    last, in seconds since 1970, where the source keeps that for each table.

    `identity` stays the same when the table is renamed and nothing else happens to it (an object
    id, a table's UUID, an ETag, or size and modification time of a file); two tables may have the
    same. `readers` are who may read it (users, roles, as the source spells them); None where the
    source keeps no grants, so that everybody may.
    """

    table_id: str
    source: str
    location: str
    format: str
    version: str
    context_locations: tuple[str, ...] = ()
    updated_at: float | None = None
    identity: str | None = None
    readers: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table's profile: its columns, its number of rows and where it lives.

    `notes` tell a person what to know of the reading, such as lines that had to be left out. Keys
    are those that the source declares; `definition` is the query of a view. `reading` are the
    options by which DuckDB reads a file of text or JSON, values in SQL; none where files differ.
    """

    table_id: str
    columns: tuple[Column, ...]
    row_count: int
    location: str
    comment: str = ""
    notes: tuple[str, ...] = ()
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    definition: Definition | None = None
    reading: tuple[tuple[str, str], ...] = ()

    @property
    def hidden_names(self) -> set[str]:
        """Names of columns that rules of privacy hide, in lower case."""
        return {column.name.casefold() for column in self.columns if column.hidden} - {""}

    @property
    def schema_hash(self) -> str:
        """Hash of the ordered names and types; comments are context, not schema."""
        return content_hash(
            *(part for column in self.columns for part in (column.name, column.type))
        )


@dataclass(frozen=True, slots=True)
class RowMark:
    """Names a sampled row: where it stood, and a hash of all its cells as text."""

    position: int
    key: int


@dataclass(frozen=True, slots=True)
class Document:
    """One text about one table."""

    table_id: str
    kind: DocumentKind
    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """Documents of one table and one kind packed into the encoder's window (section 5.2)."""

    table_id: str
    kind: DocumentKind
    text: str
    block_id: str = field(init=False)

    def __post_init__(self) -> None:
        """Derive the id from the content, so that writing a block twice is writing it once."""
        block_id = content_hash(self.table_id, self.kind, self.text)
        object.__setattr__(self, "block_id", block_id)


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddedBlock:
    """A block and its embedding, ready for an index; `vector` has shape (dimension,)."""

    block: Block
    vector: Vector


@dataclass(frozen=True, slots=True)
class TableTerms:
    """What is searched of a table by its words alone, without an embedding.

    Attributes:
        names: Of the source, the schema or folders, and the table, as people wrote them.
        columns: The columns' names, in order.
        spelled_names: The words that `names` stand for, where that is more than splitting them at
            their signs: glued words parted, abbreviations spelt out.
        spelled_columns: Likewise of `columns`.
        rows: Rows of the table, all of them or some drawn uniformly; cells are text in the order
            of the columns, None where there is no value.
        cells: Different cells of the other rows.
        described: What people or a model wrote about columns, a text each.
    """

    names: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    spelled_names: str = ""
    spelled_columns: str = ""
    rows: tuple[tuple[str | None, ...], ...] = ()
    cells: tuple[str, ...] = ()
    described: tuple[str, ...] = ()


MOST_JOINS = 50
"""Tables that one table's facts name; of two that can be joined, either may name the other."""


@dataclass(frozen=True, slots=True)
class TableFacts:
    """What is known of a table as a whole: who may see it, and what lets people trust it.

    An index keeps it with the table and can be told anew without writing the table's texts again.

    Attributes:
        readers: Who may see the table, at least one of whom the asker must be; None: everybody.
        updated_at: When its data was written last, in seconds since 1970; None: nobody knows.
        owned: Whether anybody owns it.
        documented: Which share of its columns people described, from 0 to 1.
        feeds: How many known tables are built from it.
        copy_of: The table that it is a copy of; None where it is none.
        joins: Tables that it can be joined with, `MOST_JOINS` at most.
        family: The first of the tables that it is a family with (`relations.families`), if any.
        prefix: What its name is glued to (`split_names.name_prefixes`), by which it was spelt out.
    """

    readers: tuple[str, ...] | None = None
    updated_at: float | None = None
    owned: bool = False
    documented: float = 0.0
    feeds: int = 0
    copy_of: str | None = None
    joins: tuple[str, ...] = ()
    family: str | None = None
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that kept a table (or a whole source) from being indexed, and what to do."""

    subject: str
    stage: str
    cause: str


def content_hash(*parts: str) -> str:
    """Return 32 hex digits that name this sequence of strings; no two sequences share bytes."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()


def source_of(table_id: str) -> str:
    """Return the source's name: the part of a table id before the first slash."""
    return table_id.split("/", 1)[0]
