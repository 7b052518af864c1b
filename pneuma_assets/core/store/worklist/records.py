"""Tables as people see them: where each stands, and how large it is."""

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Row, func

from pneuma_assets.core.store.schema import tables


class TableState(StrEnum):
    """Where a table stands; a failed one keeps what was indexed of it before."""

    PENDING = "pending"
    INDEXED = "indexed"
    FAILED = "failed"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class TableRecord:
    """What is known of a table, for people: state, size, and when it was indexed.

    One with `held_since` is absent from its source since then, and held (see `removals`). One that
    failed was tried `attempts` times since it changed or a person asked last, and sensors let it be
    tried again at `retry_at`. `updated_at` is when its data was written or, where its source
    does not tell, when it was last seen to have changed; None where neither is known.
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
    attempts: int = 0
    retry_at: float | None = None

    @property
    def claimed(self) -> bool:
        """Tell whether a run holds it, which may be one that is no more."""
        return self.claimed_by is not None


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
    func.coalesce(tables.c.updated_at, tables.c.changed_at).label("updated_at"),
    tables.c.held_since,
    tables.c.attempts,
    tables.c.retry_at,
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
        row.attempts,
        row.retry_at,
    )
