"""Tables as runs work on them: what is claimed, and what comes of it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Row

from pneuma_assets.core.store.worklist.listed import ref_of
from pneuma_assets.core.store.worklist.profiles import table_of
from pneuma_assets.core.tables import Document, DocumentKind, RowMark, Table, TableRef


class Stage(StrEnum):
    """What was done last of the work on a table; the next stage takes what stands here."""

    LISTED = "listed"
    PROFILED = "profiled"
    SAMPLED = "sampled"
    NARRATED = "narrated"
    EMBEDDED = "embedded"
    INDEXED = "indexed"


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A claimed table: what the listing said, what was read since, and what was indexed last."""

    ref: TableRef
    table: Table | None
    indexed_schema_hash: str | None
    indexed_row_count: int | None
    sampled_row_count: int | None
    sampled: tuple[RowMark, ...] = ()
    stage: Stage = Stage.LISTED


@dataclass(frozen=True, slots=True)
class Sampled:
    """The rows that stand for a table from now on, and the documents made of them, by kind.

    `row_count` is that of the table when all of them were drawn; None if some are older.
    """

    table_id: str
    row_count: int | None
    rows: Sequence[RowMark]
    documents: Mapping[DocumentKind, Sequence[Document]]


@dataclass(frozen=True, slots=True)
class Finished:
    """A table that has become searchable: the schema it had, and how many blocks it has."""

    table_id: str
    schema_hash: str
    blocks: int


def item_of(row: Row[Any]) -> WorkItem:
    """Return a claimed table."""
    return WorkItem(
        ref_of(row),
        table_of(row),
        row.indexed_schema_hash,
        row.indexed_row_count,
        row.sampled_row_count,
        _sampled_of(row),
        Stage(row.stage),
    )


def _sampled_of(row: Row[Any]) -> tuple[RowMark, ...]:
    """Return the rows that stand for a table; none if it was never sampled."""
    marks: list[list[int]] = json.loads(row.sampled_rows or "[]")
    return tuple(RowMark(*mark) for mark in marks)
