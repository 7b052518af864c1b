"""What all rows of a table said: terms for the index, a sample to measure changes from."""

import json
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from typing import Any

from sqlalchemy import Row, func, or_, select

from pneuma_assets.core.changes.changed_share import Change, Measure
from pneuma_assets.core.changes.sketch import MOST_BYTES, SketchError, TableSketch
from pneuma_assets.core.relations.fingerprints import Fingerprint, unpacked
from pneuma_assets.core.store.database import StorePart, get, put
from pneuma_assets.core.store.schema import (
    column_profiles,
    delete_by,
    delete_of_tables,
    drawn,
    evidence,
    fingerprints,
    row_counts,
    tables,
    upsert,
)
from pneuma_assets.core.store.tables import SEARCHABLE, update_each
from pneuma_assets.core.tables import Column, ColumnProfile, TableTerms

_GONE = (
    select(drawn)
    .join(tables, tables.c.table_id == drawn.c.table_id)
    .where(tables.c.state == "gone")
)
_FINGERPRINTS = (
    select(fingerprints)
    .join(tables, tables.c.table_id == fingerprints.c.table_id)
    .where(SEARCHABLE)
)
_RELATED = select(tables.c.table_id, tables.c.copy_of, tables.c.family).where(
    or_(tables.c.copy_of.is_not(None), tables.c.family.is_not(None))
)

_COPIES_MADE_OF = "copies made of"


@dataclass(frozen=True, slots=True)
class SampleSnapshot:
    """A table at the time when all its sampled rows were drawn, and how it was last seen."""

    columns: tuple[Column, ...]
    sketch: TableSketch | None = None
    """A sample of all its rows; None where not all were read."""
    change: Change | None = None
    """How many of its rows had changed then; None where its columns had, or nothing was known."""
    former_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What columns were called before, by their names, the last one first."""


class Profiles(StorePart):
    """The part of the store that holds what was made of tables' rows."""

    def save_terms(self, gathered: Mapping[str, TableTerms]) -> None:
        """Make `rows` and `cells` of each of these tables exactly these, until the index has them.

        `Queue.finish` removes them; names stand in the tables' profiles.
        """
        rows = [{"table_id": i, "data": _packed(found)} for i, found in gathered.items()]
        with self._db.write() as connection:
            upsert(connection, evidence, rows)

    def terms(self, table_ids: Iterable[str]) -> dict[str, TableTerms]:
        """Return what waits for the index of these tables; one of which nothing does is absent."""
        found = self._db.read_by(select(evidence), evidence.c.table_id, table_ids)
        return {row.table_id: _unpacked(row.data) for row in found}

    def snapshots(self, table_ids: Iterable[str]) -> dict[str, SampleSnapshot]:
        """Return what tables were like when their rows were drawn, of those of which any were."""
        found = self._db.read_by(select(drawn), drawn.c.table_id, table_ids)
        return {row.table_id: _snapshot_of(row) for row in found}

    def snapshots_of_gone(self, source: str) -> dict[str, SampleSnapshot]:
        """Return those of the tables that left a source and are not yet forgotten, by id."""
        found = self._db.read(_GONE.where(tables.c.source == source))
        return {row.table_id: _snapshot_of(row) for row in found}

    def former_names(self, table_ids: Iterable[str]) -> dict[str, Mapping[str, tuple[str, ...]]]:
        """Return what columns of tables were called before, the last name first."""
        names = select(drawn.c.table_id, drawn.c.former_names)
        found = self._db.read_by(names, drawn.c.table_id, table_ids)
        return {row.table_id: _names_of(row) for row in found}

    def sketches(self, table_ids: Iterable[str]) -> dict[str, TableSketch]:
        """Return the samples of rows of tables; absent are those of which not all were read."""
        kept = select(drawn.c.table_id, drawn.c.sketch).where(drawn.c.sketch.is_not(None))
        found = self._db.read_by(kept, drawn.c.table_id, table_ids)
        read = ((row.table_id, _sketch_of(row.sketch)) for row in found)
        return {table_id: sketch for table_id, sketch in read if sketch is not None}

    def changes(self, table_ids: Collection[str]) -> dict[str, Change]:
        """Return how much those of these tables had changed that were not drawn anew."""
        measured = select(drawn.c.table_id, drawn.c.changed_share, drawn.c.measured_by)
        found = self._db.read_by(measured, drawn.c.table_id, table_ids)
        read = ((row.table_id, _change_of(row)) for row in found)
        return {table_id: change for table_id, change in read if change is not None}

    def save_snapshots(self, snapshots: Mapping[str, SampleSnapshot]) -> None:
        """Let each of these tables be measured from this."""
        rows = [{"table_id": i, **_snapshot_row(one)} for i, one in snapshots.items()]
        with self._db.write() as connection:
            upsert(connection, drawn, rows)

    def save_fingerprints(self, found: Mapping[str, Fingerprint]) -> None:
        """Make these the fingerprints of their tables, by which copies are told."""
        rows = [{"table_id": table_id, "data": one.pack()} for table_id, one in found.items()]
        with self._db.write() as connection:
            upsert(connection, fingerprints, rows)

    def fingerprints(self) -> dict[str, Fingerprint]:
        """Return those of all searchable tables, of which this version can read one."""
        found = ((row.table_id, unpacked(row.data)) for row in self._db.read(_FINGERPRINTS))
        return {table_id: one for table_id, one in found if one is not None}

    def copies(self) -> dict[str, str]:
        """Return the tables that are copies, each with its original."""
        return {row.table_id: row.copy_of for row in self._db.read(_RELATED) if row.copy_of}

    def copies_made_of(self) -> str | None:
        """Return what the copies and families were made of; None before any were looked for."""
        return get(self._db, _COPIES_MADE_OF)

    def mark_copies(
        self, copies: Mapping[str, str], families: Mapping[str, str], made_of: str
    ) -> int:
        """Make exactly these tables copies and members; returns of how many that was not known.

        `made_of` names what they were made of; `copies_made_of` returns it.
        """
        known = {row.table_id: (row.copy_of, row.family) for row in self._db.read(_RELATED)}
        found = {i: (copies.get(i), families.get(i)) for i in sorted({*known, *copies, *families})}
        news = {
            table_id: dict(zip(("copy_of", "family"), one, strict=True))
            for table_id, one in found.items()
            if one != known.get(table_id, (None, None))
        }
        with self._db.write() as connection:
            update_each(connection, news)
            put(self._db, _COPIES_MADE_OF, made_of)
        return len(news)


def _packed(gathered: TableTerms) -> bytes:
    text = json.dumps([gathered.rows, gathered.cells], ensure_ascii=False)
    return zlib.compress(text.encode("utf-8", "replace"))


def _unpacked(data: bytes) -> TableTerms:
    rows, cells = json.loads(zlib.decompress(data))
    return TableTerms(rows=tuple(map(tuple, rows)), cells=tuple(cells))


def _snapshot_row(one: SampleSnapshot) -> dict[str, Any]:
    return {
        "columns": json.dumps([(c.name, c.type, c.identity) for c in one.columns]),
        "sketch": None if one.sketch is None else zlib.compress(one.sketch.to_json()),
        "changed_share": None if one.change is None else one.change.share,
        "measured_by": None if one.change is None else str(one.change.measured_by),
        "former_names": json.dumps(dict(one.former_names)) if one.former_names else None,
    }


def _snapshot_of(row: Row[Any]) -> SampleSnapshot:
    columns: Sequence[Sequence[str]] = json.loads(row.columns)
    return SampleSnapshot(
        tuple(Column(name, kind, identity=identity) for name, kind, identity in columns),
        None if row.sketch is None else _sketch_of(row.sketch),
        _change_of(row),
        _names_of(row),
    )


def _names_of(row: Row[Any]) -> dict[str, tuple[str, ...]]:
    found = json.loads(row.former_names or "{}")
    return {name: tuple(before) for name, before in found.items()}


def _change_of(row: Row[Any]) -> Change | None:
    if row.measured_by not in [*Measure]:  # None, or by a former version
        return None
    return Change(row.changed_share, Measure(row.measured_by))


def _sketch_of(packed: bytes) -> TableSketch | None:
    try:
        return TableSketch.from_json(zlib.decompressobj().decompress(packed, MOST_BYTES))
    except (zlib.error, SketchError):
        return None


COUNTS_KEPT = 200
"""Row counts that are kept of a table; when there are more, every other of the older half goes."""

_later = row_counts.alias()
_LAST = select(row_counts.c.table_id, row_counts.c.rows).where(
    row_counts.c.counted_at
    == select(func.max(_later.c.counted_at))
    .where(_later.c.table_id == row_counts.c.table_id)
    .scalar_subquery()
)
_COUNTS = select(row_counts).order_by(row_counts.c.table_id, row_counts.c.counted_at)


class Statistics(StorePart):
    """The part of the store that holds the figures of tables."""

    def save_column_profiles(self, found: Mapping[str, Mapping[str, ColumnProfile]]) -> None:
        """Replace the profiles of each table's columns, by name, also by none."""
        rows = [{"table_id": i, "data": _dumped(some)} for i, some in found.items() if some]
        with self._db.write() as connection:
            delete_of_tables(
                connection, [i for i, some in found.items() if not some], column_profiles
            )
            upsert(connection, column_profiles, rows)

    def column_profiles(self, table_id: str) -> Mapping[str, ColumnProfile]:
        """Return the profiles of a table's columns by name, in order.

        Absent are hidden columns, those beyond a bound, and all of a table of which not all rows
        could be read.
        """
        found = self._db.read_by(select(column_profiles), column_profiles.c.table_id, [table_id])
        return next((_loaded(row.data) for row in found), {})

    def note_row_counts(self, counts: Mapping[str, int]) -> None:
        """Note how many rows tables have now, of those of which it is another number."""
        with self._db.write() as connection:
            found = self._db.read_by(_LAST, row_counts.c.table_id, counts)
            known = {row.table_id: row.rows for row in found}
            news = {i: rows for i, rows in counts.items() if known.get(i) != rows}
            if not news:
                return
            now = self._db.now()
            noted = [{"table_id": i, "counted_at": now, "rows": n} for i, n in news.items()]
            upsert(connection, row_counts, noted)
            old = self._db.grouped(_COUNTS, row_counts.c.table_id, known.keys() & news.keys())
            for table_id, rows in old.items():
                if len(rows) > COUNTS_KEPT:
                    surplus = [row.counted_at for row in rows[1 : len(rows) // 2 : 2]]
                    here = row_counts.c.table_id == table_id
                    delete_by(connection, row_counts.c.counted_at, surplus, here)

    def row_counts(self, table_id: str) -> tuple[tuple[float, int], ...]:
        """Return when a table's number of rows became another one, and which; oldest first.

        Times are seconds since 1970: of the reading that found it, not of the change.
        """
        found = self._db.read_by(_COUNTS, row_counts.c.table_id, [table_id])
        return tuple((row.counted_at, row.rows) for row in found)


_values = attrgetter(*(one.name for one in fields(ColumnProfile)))
"""As `astuple` does, which copies each number of a histogram and takes five times as long."""


def _dumped(profiles: Mapping[str, ColumnProfile]) -> bytes:
    text = json.dumps([(name, *_values(one)) for name, one in profiles.items()])
    return zlib.compress(text.encode())


def _loaded(data: bytes) -> dict[str, ColumnProfile]:
    found = ((name, ColumnProfile(*row)) for name, *row in json.loads(zlib.decompress(data)))
    return {
        name: replace(
            one,
            frequent=tuple((cell, share) for cell, share in one.frequent),
            histogram=tuple((low, high, rows) for low, high, rows in one.histogram),
            missing=tuple(one.missing),
        )
        for name, one in found
    }
