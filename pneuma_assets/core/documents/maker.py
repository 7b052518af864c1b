"""What makes documents of one kind, and what it may make them from.

A stage of an indexing run hands what it has just read of a table to every maker that makes
documents from such material; `registry.py` says which makers there are.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from pneuma_assets.core.tables import DocumentKind, Table

if TYPE_CHECKING:
    from pneuma_assets.core.sources.base import Row

CONTENT_INTRODUCTION = "Given a table with the following columns:"
"""The authors' words to a language model before a text with what a table holds (section 5.1)."""


@dataclass(frozen=True, slots=True)
class ReadTable:
    """A table's profile, and the texts that people wrote in its source, of it and of its folder."""

    table: Table
    contexts: Sequence[str]
    of_folder: Sequence[str] = ()

    @property
    def table_id(self) -> str:
        """The table."""
        return self.table.table_id


@dataclass(frozen=True, slots=True)
class DrawnRows:
    """The rows that stand for a table; cells are text in the order of the columns, or None."""

    table: Table
    rows: "Sequence[Row]"

    @property
    def table_id(self) -> str:
        """The table."""
        return self.table.table_id


@dataclass(frozen=True, slots=True)
class NarratedColumns:
    """What is said of a table's columns, by position; of some it is nothing.

    `names` are of the schema or folders that the table is in, and its own, as people wrote them.
    """

    table: Table
    narrations: Mapping[int, str]
    names: Sequence[str] = ()

    @property
    def table_id(self) -> str:
        """The table."""
        return self.table.table_id


@dataclass(frozen=True, slots=True)
class LinkedTable:
    """What a table is built from, and what is built from it: ids of tables, in order."""

    table_id: str
    built_from: Sequence[str]
    feeds: Sequence[str]


@dataclass(frozen=True, slots=True)
class AskedAbout:
    """Questions that a language model thinks a table answers."""

    table_id: str
    questions: Sequence[str]


Material = ReadTable | DrawnRows | NarratedColumns | LinkedTable | AskedAbout

M = TypeVar("M", ReadTable, DrawnRows, NarratedColumns, LinkedTable, AskedAbout)


@dataclass(frozen=True, slots=True)
class DocumentMaker(Generic[M]):
    """Makes the documents of one kind.

    Attributes:
        kind: The kind; texts of different kinds never share a block.
        made_from: What it makes documents from.
        texts: Returns the text of each document of one table, in order. The same material always
            gives the same texts, of bounded size: cells may be of any length, names of any kind.
        version: Raised when the same material gives other texts, so that every table is made anew
            (`pipeline.recipe`). 0 only for kinds whose changes `pipeline.recipe.FORMAT` counts.
        called: What people call one of these documents, such as "a sampled row".
        introduction: The words before such a text where a language model judges it.
    """

    kind: DocumentKind
    made_from: type[M]
    texts: Callable[[M], Iterable[str]]
    version: int
    called: str
    introduction: str = CONTENT_INTRODUCTION
