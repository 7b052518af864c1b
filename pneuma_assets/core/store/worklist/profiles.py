"""What was read of a table's schema, as the store keeps it."""

import json
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import Row

from pneuma_assets.core.tables import Column, Definition, ForeignKey, Table


@dataclass(frozen=True, slots=True)
class _Relations:
    """The keys that a table declares, and the query of a view, as one text of the store."""

    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    definition: Definition | None = None


_RELATIONS = TypeAdapter(_Relations)


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
        *_relations_of(row),
    )


def _relations_of(
    row: Row[Any],
) -> tuple[tuple[str, ...], tuple[ForeignKey, ...], Definition | None]:
    if row.relations is None:
        return (), (), None
    kept = _RELATIONS.validate_json(row.relations)
    return kept.primary_key, kept.foreign_keys, kept.definition


def relations_in(text: str | None) -> tuple[tuple[ForeignKey, ...], Definition | None]:
    """Return the keys of other tables and the query that are kept in `tables.relations`."""
    if text is None:
        return (), None
    kept = _RELATIONS.validate_json(text)
    return kept.foreign_keys, kept.definition


def primary_key_in(text: str | None) -> tuple[str, ...]:
    """Return the declared key that is kept in `tables.relations`."""
    return () if text is None else _RELATIONS.validate_json(text).primary_key


def profile_columns(table: Table) -> dict[str, Any]:
    """Return what was read of a table, as the store keeps it."""
    return {
        "columns": json.dumps(
            [(c.name, c.type, c.comment, c.identity, c.hidden) for c in table.columns]
        ),
        "column_count": len(table.columns),
        "row_count": table.row_count,
        "comment": table.comment,
        "notes": json.dumps(table.notes),
        "relations": _written(table),
    }


def _written(table: Table) -> str | None:
    kept = _Relations(table.primary_key, table.foreign_keys, table.definition)
    return None if kept == _Relations() else _RELATIONS.dump_json(kept).decode()
