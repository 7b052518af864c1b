"""What a table was like when all rows that stand for it were drawn, to measure changes from."""

import json
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Row, bindparam, select

from pneuma_assets.core.changes.measure import Change, Measure
from pneuma_assets.core.changes.sketch import MOST_BYTES, SketchError, TableSketch
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.schema import drawn, tables
from pneuma_assets.core.store.statements import upsert
from pneuma_assets.core.store.worklist.listed import activity_of, activity_text
from pneuma_assets.core.tables import Activity, Column

_OF_TABLE = select(drawn).where(drawn.c.table_id == bindparam("table"))
_SKETCHES_AT_ONCE = 100
"""They take some kilobytes each."""
_GONE = (
    select(drawn, tables.c.row_count)
    .join(tables, tables.c.table_id == drawn.c.table_id)
    .where(tables.c.source == bindparam("source"), tables.c.state == "gone")
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A table at the time when all its sampled rows were drawn, and how it was last seen.

    Attributes:
        columns: What it had.
        sketch: A sample of all its rows; None where not all were read.
        activity: What its engine had counted; None where it does not count, or has begun anew
            since, so that nothing tells what happened between.
        seen: What its engine had counted when the table was last read.
        change: How many of its rows had changed then, of what was drawn before; None where nothing
            was, or where its columns were others.
        former_names: What its columns were called before, by their names, the last one first; those
            that always had one are absent.
    """

    columns: tuple[Column, ...]
    sketch: TableSketch | None = None
    activity: Activity | None = None
    seen: Activity | None = None
    change: Change | None = None
    former_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class DrawnStates:
    """The part of the store that remembers what tables were drawn from."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def of_table(self, table_id: str) -> Drawn | None:
        """Return what is known of a table."""
        found = self._db.read(_OF_TABLE, table=table_id)
        return _drawn_of(found[0]) if found else None

    def of_gone(self, source: str) -> dict[str, Drawn]:
        """Return the tables that left a source and are not yet forgotten, by id."""
        return {row.table_id: _drawn_of(row) for row in self._db.read(_GONE, source=source)}

    def sketches(self, table_ids: Sequence[str]) -> dict[str, TableSketch]:
        """Return the samples of rows of tables; absent are those of which not all were read."""
        found: dict[str, TableSketch] = {}
        for some in chunks(table_ids, _SKETCHES_AT_ONCE):
            kept = select(drawn.c.table_id, drawn.c.sketch).where(
                drawn.c.table_id.in_(some), drawn.c.sketch.is_not(None)
            )
            read = ((row.table_id, _sketch_of(row.sketch)) for row in self._db.read(kept))
            found |= {table_id: sketch for table_id, sketch in read if sketch is not None}
        return found

    def changes(self, table_ids: Collection[str]) -> dict[str, Change]:
        """Return how much those of these tables had changed that were not drawn anew."""
        found = {table_id: self._db.read(_OF_TABLE, table=table_id) for table_id in table_ids}
        changes = {table_id: _change_of(rows[0]) for table_id, rows in found.items() if rows}
        return {table_id: change for table_id, change in changes.items() if change is not None}

    def former_names(self, table_id: str) -> Mapping[str, tuple[str, ...]]:
        """Return what columns of a table were called before, the last name first."""
        found = self._db.read(_OF_TABLE, table=table_id)
        return _names_of(found[0]) if found else {}

    def keep(self, states: Mapping[str, Drawn]) -> None:
        """Let each of these tables be measured from this."""
        rows = [
            {
                "table_id": table_id,
                "columns": json.dumps([(c.name, c.type, c.identity) for c in one.columns]),
                "sketch": None if one.sketch is None else zlib.compress(one.sketch.to_bytes()),
                "activity": activity_text(one.activity),
                "seen": activity_text(one.seen),
                "changed_share": None if one.change is None else one.change.share,
                "measured_by": None if one.change is None else str(one.change.measured_by),
                "former_names": json.dumps(dict(one.former_names)) if one.former_names else None,
            }
            for table_id, one in states.items()
        ]
        with self._db.write() as connection:
            upsert(connection, drawn, rows)


def _drawn_of(row: Row[Any]) -> Drawn:
    columns: Sequence[Sequence[str]] = json.loads(row.columns)
    return Drawn(
        tuple(Column(name, kind, identity=identity) for name, kind, identity in columns),
        None if row.sketch is None else _sketch_of(row.sketch),
        activity_of(row.activity),
        activity_of(row.seen),
        _change_of(row),
        _names_of(row),
    )


def _names_of(row: Row[Any]) -> Mapping[str, tuple[str, ...]]:
    found = json.loads(row.former_names or "{}")
    return {name: tuple(before) for name, before in found.items()}


def _change_of(row: Row[Any]) -> Change | None:
    if row.changed_share is None:
        return None
    return Change(row.changed_share, Measure(row.measured_by))


def _sketch_of(packed: bytes) -> TableSketch | None:
    try:
        return TableSketch.from_bytes(zlib.decompressobj().decompress(packed, MOST_BYTES))
    except (zlib.error, SketchError):
        return None
