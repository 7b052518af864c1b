"""What the store says of tables, and how its rows become that."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Row

from pneuma_assets.core.store.schema import tables
from pneuma_assets.core.tables import Column, Document, DocumentKind, RowMark, Table, TableRef


class TableState(StrEnum):
    """Where a table stands; a failed one keeps what was indexed of it before."""

    PENDING = "pending"
    INDEXED = "indexed"
    FAILED = "failed"
    GONE = "gone"


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
class TableRecord:
    """What is known of a table, for people: state, size, and when it was indexed.

    One with `held_since` is absent from its source since then, and held (see `removals`).
    Not its columns, only how many: reading those of 10,000 tables takes a second.
    """

    table_id: str
    source: str
    location: str
    format: str
    state: TableState
    claimed_by: str | None
    comment: str
    rows: int | None
    columns: int | None
    notes: tuple[str, ...]
    block_count: int | None
    indexed_at: float | None
    updated_at: float | None
    held_since: float | None

    @property
    def claimed(self) -> bool:
        """Tell whether a run holds it, which may be one that is no more."""
        return self.claimed_by is not None


@dataclass(frozen=True, slots=True)
class Finished:
    """A table that has become searchable: the schema it had, and how many blocks it has."""

    table_id: str
    schema_hash: str
    blocks: int


@dataclass(frozen=True, slots=True)
class ToDo:
    """How many tables there are to work on, and what the index should hold.

    Attributes:
        waiting: New and changed ones that no run holds.
        failed: Failed ones that no run holds, and that are tried again.
        gone: Those that have left their source but not yet the index.
        taken_back: Failed ones of which nothing may be found.
        claimed: Those that a run holds.
        indexed: Those that a run has made searchable, gone ones included.
        with_blocks: Those of these that have a block, which the index must hold; without those
            that wait and are held, or cannot be listed, of which nothing can be read.
    """

    waiting: int = 0
    failed: int = 0
    gone: int = 0
    taken_back: int = 0
    claimed: int = 0
    indexed: int = 0
    with_blocks: int = 0


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """What one listing changed in the work list."""

    new: int
    changed: int
    unchanged: int
    gone: int
    held: int = 0


def listed_columns(ref: TableRef) -> dict[str, Any]:
    """Return what a listing says of a table, as the store keeps it."""
    return {
        "location": ref.location,
        "format": ref.format,
        "version": ref.version,
        "context_locations": json.dumps(ref.context_locations),
        "updated_at": ref.updated_at,
    }


def differs(row: Any, ref: TableRef) -> bool:
    """Tell whether a listed table is another one than the stored row says."""
    if row.state == "gone":
        return True
    return bool(row.version != ref.version or row.location != ref.location)


def ref_of(row: Row[Any]) -> TableRef:
    """Return what the last listing said of a table."""
    return TableRef(
        row.table_id,
        row.source,
        row.location,
        row.format,
        row.version,
        tuple(json.loads(row.context_locations)),
        row.updated_at,
    )


RECORD_COLUMNS = (
    tables.c.table_id,
    tables.c.source,
    tables.c.location,
    tables.c.format,
    tables.c.state,
    tables.c.claimed_by,
    tables.c.comment,
    tables.c.row_count,
    tables.c.column_count,
    tables.c.notes,
    tables.c.block_count,
    tables.c.indexed_at,
    tables.c.updated_at,
    tables.c.held_since,
)


def record_of(row: Row[Any]) -> TableRecord:
    """Return what `RECORD_COLUMNS` say of a table."""
    return TableRecord(
        row.table_id,
        row.source,
        row.location,
        row.format,
        TableState(row.state),
        row.claimed_by,
        row.comment,
        row.row_count,
        row.column_count,
        () if row.notes == "[]" else tuple(json.loads(row.notes)),
        row.block_count,
        row.indexed_at,
        row.updated_at,
        row.held_since,
    )


def sampled_of(row: Row[Any]) -> tuple[RowMark, ...]:
    """Return the rows that stand for a table; none if it was never sampled."""
    marks: list[list[int]] = json.loads(row.sampled_rows or "[]")
    return tuple(RowMark(*mark) for mark in marks)


def table_of(row: Row[Any]) -> Table | None:
    """Return a table's profile, None before it was read."""
    if row.columns is None:
        return None
    columns: list[list[Any]] = json.loads(row.columns)
    return Table(
        row.table_id,
        tuple(Column(*column) for column in columns),
        row.row_count,
        row.location,
        row.comment,
        tuple(json.loads(row.notes)),
    )


def item_of(row: Row[Any]) -> WorkItem:
    """Return a claimed table."""
    return WorkItem(
        ref_of(row),
        table_of(row),
        row.indexed_schema_hash,
        row.indexed_row_count,
        row.sampled_row_count,
        sampled_of(row),
        Stage(row.stage),
    )


def profile_columns(table: Table) -> dict[str, Any]:
    """Return what was read of a table, as the store keeps it."""
    return {
        "columns": json.dumps([(c.name, c.type, c.comment) for c in table.columns]),
        "column_count": len(table.columns),
        "row_count": table.row_count,
        "comment": table.comment,
        "notes": json.dumps(table.notes),
    }
