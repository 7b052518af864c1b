"""The tables that are known, and what is known of them."""

from collections.abc import Iterable, Iterator

from sqlalchemy import select

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.schema import tables
from pneuma_assets.core.store.worklist.conditions import THERE
from pneuma_assets.core.store.worklist.listed import ref_of
from pneuma_assets.core.store.worklist.profiles import table_of
from pneuma_assets.core.store.worklist.records import RECORD_COLUMNS, TableRecord, record_of
from pneuma_assets.core.store.worklist.rows import ASKED_AT_ONCE, SAME, ids_where
from pneuma_assets.core.tables import Table, TableRef

_READ_AT_ONCE = 100
"""Profiles read by one statement: of tables of 300 columns they take 20 MB."""

_RECORD = select(*RECORD_COLUMNS).where(tables.c.table_id == SAME, THERE)


class Tables:
    """The part of the store that tells of tables, and changes nothing."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def known(self) -> set[str]:
        """Return the ids of all tables, those included that are gone but not yet forgotten."""
        return set(ids_where(self._db))

    def indexed(self) -> list[str]:
        """Return the ids of the tables that are searchable and have not left their source."""
        return ids_where(self._db, tables.c.indexed_at.is_not(None), THERE)

    def listed(self) -> list[str]:
        """Return the ids of the tables that have not left their source, in order."""
        return ids_where(self._db, THERE)

    def unchanged(self, table_ids: Iterable[str]) -> set[str]:
        """Return those of some tables that are indexed as they are now, data and all."""
        found: set[str] = set()
        for some in chunks(list(table_ids), ASKED_AT_ONCE):
            same = tables.c.indexed_version == tables.c.claimed_version
            asked = select(tables.c.table_id).where(tables.c.table_id.in_(some), same)
            found.update(row.table_id for row in self._db.read(asked))
        return found

    def ids(self, source: str) -> dict[tuple[str, str], str]:
        """Return the ids of a source's tables by location and format."""
        columns = tables.c.location, tables.c.format, tables.c.table_id
        found = self._db.read(select(*columns).where(tables.c.source == source))
        return {(row.location, row.format): row.table_id for row in found}

    def refs(self, table_ids: Iterable[str]) -> dict[str, TableRef]:
        """Return what the last listing said of these tables, of those that have not left."""
        found: dict[str, TableRef] = {}
        for some in chunks(list(table_ids), ASKED_AT_ONCE):
            asked = select(tables).where(tables.c.table_id.in_(some), THERE)
            found |= {row.table_id: ref_of(row) for row in self._db.read(asked)}
        return found

    def profiles(self, table_ids: Iterable[str]) -> Iterator[Table]:
        """Yield the profiles of these tables, of those that were ever read, in this order."""
        for some in chunks(list(table_ids), _READ_AT_ONCE):
            asked = select(tables).where(tables.c.table_id.in_(some))
            found = {row.table_id: table_of(row) for row in self._db.read(asked)}
            yield from (table for i in some if (table := found.get(i)) is not None)

    def records(self) -> list[TableRecord]:
        """Return every table that has not left its source, ordered by id."""
        found = self._db.read(select(*RECORD_COLUMNS).where(THERE).order_by(tables.c.table_id))
        return [record_of(row) for row in found]

    def record(self, table_id: str) -> TableRecord | None:
        """Return one table; None if it has left its source, or was never in it."""
        found = self._db.read(_RECORD, wanted=table_id)
        return record_of(found[0]) if found else None
