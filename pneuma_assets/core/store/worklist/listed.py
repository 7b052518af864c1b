"""What a listing tells of a table, as the store keeps it, and when that is another table."""

import json
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import Row

from pneuma_assets.core.tables import Activity, TableRef

NOTABLY = 0.1
"""By which share of queries, more or less: of a thousand times as many, a seventieth."""

TOLD_COLUMNS = ("updated_at", "identity", "activity", "readers", "queries")
"""What a listing tells of a table that does not make it another one."""

_ACTIVITY = TypeAdapter(Activity)


def activity_text(activity: Activity | None) -> str | None:
    """Return what an engine counted, as the store keeps it."""
    return None if activity is None else _ACTIVITY.dump_json(activity).decode()


def activity_of(kept: str | None) -> Activity | None:
    """Return what an engine counted; None where it does not count."""
    return None if kept is None else _ACTIVITY.validate_json(kept)


def readers_of(kept: str | None) -> tuple[str, ...] | None:
    """Return who may read a table; None: everybody."""
    return None if kept is None else tuple(json.loads(kept))


def listed_columns(ref: TableRef) -> dict[str, Any]:
    """Return what a listing says of a table, as the store keeps it."""
    return {
        "location": ref.location,
        "format": ref.format,
        "version": ref.version,
        "context_locations": json.dumps(ref.context_locations),
        "updated_at": ref.updated_at,
        "identity": ref.identity,
        "activity": activity_text(ref.activity),
        "readers": None if ref.readers is None else json.dumps(ref.readers),
        "queries": ref.queries,
    }


def retold(row: Any, ref: TableRef) -> bool:
    """Tell whether a listing tells of a table what the stored row does not say, or says otherwise.

    It is written down, and the table does not wait for it. How often a table is queried changes all
    the time, so it is written down where that is notably more or less.
    """
    said = listed_columns(ref)
    others = (name for name in TOLD_COLUMNS if name != "queries")
    return _queried_otherwise(row.queries, ref.queries) or any(
        getattr(row, name) != said[name] for name in others
    )


def _queried_otherwise(before: float | None, now: float | None) -> bool:
    if before is None or now is None:
        return before is not now
    return abs(now - before) > NOTABLY * max(before, now)


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
        row.identity,
        activity_of(row.activity),
        readers_of(row.readers),
        row.queries,
    )
