"""Writes tables into a state as runs leave them, without a source, an encoder or an index."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import delete

from pneuma_assets.core.store import Store, schema

DAY = 86_400.0


def row(table_id: str, *columns: str, readers: Iterable[str] | None = None, **others: Any) -> dict:
    """Return a table's row, indexed, with columns of text."""
    return {
        "table_id": table_id,
        "source": table_id.split("/", 1)[0],
        "location": f"/at/{table_id}.csv",
        "format": "csv",
        "version": "1",
        "context_locations": "[]",
        "state": "indexed",
        "indexed_at": 1.0,
        "readers": None if readers is None else json.dumps(list(readers)),
        "columns": json.dumps([(name, "VARCHAR", "", "", False) for name in columns]),
        "column_count": len(columns),
        "row_count": 3,
        "copy_of": None,
        "family": None,
        "updated_at": None,
        "comment": "",
        **others,
    }


def write(store: Store, rows: Iterable[Mapping[str, Any]]) -> None:
    with store._db.write() as connection:
        schema.upsert(connection, schema.tables, rows)


def remove(store: Store, table_id: str) -> None:
    with store._db.write() as connection:
        connection.execute(delete(schema.tables).where(schema.tables.c.table_id == table_id))


def link(store: Store, *pairs: tuple[str, str]) -> None:
    edge = {"origin": "test", "kind": "view", "columns": "[]"}
    with store._db.write() as connection:
        schema.upsert(
            connection,
            schema.edges,
            [edge | {"upstream": up, "downstream": down} for up, down in pairs],
        )
        origin = {"origin": "test", "digest": str(pairs), "names": '[""]'}
        schema.upsert(connection, schema.edge_origins, [origin])


def own(store: Store, table_id: str, *owners: str, text: str = "") -> None:
    """Let somebody say who owns a table, and a text about it."""
    said = {"origin": "dbt", "table_id": table_id, "text": text}
    with store._db.write() as connection:
        schema.upsert(connection, schema.told, [said | {"fields": json.dumps({"owners": owners})}])
        origin = {"origin": "dbt", "digest": f"{table_id} {owners}", "names": '[""]'}
        schema.upsert(connection, schema.edge_origins, [origin])


def update(store: Store, table_id: str, readers: Iterable[str] | None) -> None:
    """Let somebody else see a table."""
    kept = None if readers is None else json.dumps(list(readers))
    with store._db.write() as connection:
        here = schema.tables.c.table_id == table_id
        connection.execute(schema.tables.update().where(here).values(readers=kept))
