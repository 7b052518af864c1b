"""What all rows of tables say in figures: a profile of each column, and their number over time."""

import json
import zlib
from collections.abc import Mapping
from dataclasses import fields, replace
from operator import attrgetter

from sqlalchemy import func, select

from pneuma_assets.core.store.database import StorePart
from pneuma_assets.core.store.schema import (
    column_profiles,
    delete_by,
    delete_of_tables,
    row_counts,
    upsert,
)
from pneuma_assets.core.tables import ColumnProfile

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
        rows = [{"table_id": i, "data": _packed(some)} for i, some in found.items() if some]
        with self._db.write() as connection:
            delete_of_tables(connection, [i for i, some in found.items() if not some], _PROFILES)
            upsert(connection, _PROFILES, rows)

    def column_profiles(self, table_id: str) -> Mapping[str, ColumnProfile]:
        """Return the profiles of a table's columns by name, in order.

        Absent are hidden columns, those beyond a bound, and all of a table of which not all rows
        could be read.
        """
        found = self._db.read_by(select(_PROFILES), _PROFILES.c.table_id, [table_id])
        return next((_unpacked(row.data) for row in found), {})

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


_PROFILES = column_profiles


_values = attrgetter(*(one.name for one in fields(ColumnProfile)))
"""As `astuple` does, which copies each number of a histogram and takes five times as long."""


def _packed(profiles: Mapping[str, ColumnProfile]) -> bytes:
    text = json.dumps([(name, *_values(one)) for name, one in profiles.items()])
    return zlib.compress(text.encode())


def _unpacked(data: bytes) -> dict[str, ColumnProfile]:
    found = ((name, ColumnProfile(*row)) for name, *row in json.loads(zlib.decompress(data)))
    return {
        name: replace(
            one,
            frequent=tuple((cell, share) for cell, share in one.frequent),
            histogram=tuple((low, high, rows) for low, high, rows in one.histogram),
        )
        for name, one in found
    }
