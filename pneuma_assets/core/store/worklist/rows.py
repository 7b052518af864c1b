"""Reads and changes rows of the work list, however many they are."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Connection, bindparam, select, update

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.schema import tables

ANEW: Mapping[str, Any] = {
    "state": "pending",
    "attempts": 0,
    "indexed_version": None,
    "claimed_version": None,
    "retry_at": None,
}
"""Lets a table wait; without a claimed version it begins anew, and no running run ends the wait."""

SAME: BindParameter[str] = bindparam("wanted")
"""The table whose row a statement is about."""

ASKED_AT_ONCE = 1000
"""Tables that one statement names."""

_HELD = select(tables.c.table_id).where(
    tables.c.claimed_by == bindparam("run"),
    tables.c.table_id.in_(bindparam("some", expanding=True)),
)


def ids_where(database: Database, *where: ColumnElement[bool]) -> list[str]:
    """Return the ids of the tables that fulfil all conditions, in order."""
    found = database.read(select(tables.c.table_id).where(*where).order_by(tables.c.table_id))
    return [row.table_id for row in found]


def held_by(connection: Connection, run_id: str, table_ids: Iterable[str]) -> set[str]:
    """Return those of some tables that a run holds; it may hold very many more."""
    held: set[str] = set()
    for some in chunks(list(table_ids), ASKED_AT_ONCE):
        values = {"run": run_id, "some": some}
        held.update(connection.execute(_HELD, values).scalars())
    return held


def update_rows(
    connection: Connection,
    table_ids: Iterable[str],
    *where: ColumnElement[bool],
    **values: Any,
) -> None:
    """Set the same values in the rows of some tables."""
    rows = [{"wanted": table_id} for table_id in table_ids]
    if rows:
        connection.execute(
            update(tables).where(tables.c.table_id == SAME, *where).values(**values), rows
        )
