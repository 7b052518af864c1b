"""What the state knows of tables as a whole, and what of it the index was told."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import BindParameter, Row, and_, bindparam, func, or_, select, update

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.schema import tables
from pneuma_assets.core.store.use import TableUse, use_of_tables
from pneuma_assets.core.store.worklist.listed import readers_of
from pneuma_assets.core.tables import TableFacts

_ASKED_AT_ONCE = 1000
_EVERYBODY = "null"
"""How readers are written of a table that everybody may see."""

_UNUSED = TableUse()
_INDEXED = and_(tables.c.indexed_at.is_not(None), tables.c.state != "gone")
_READERS = func.coalesce(tables.c.readers, _EVERYBODY)
UNTOLD = and_(_INDEXED, or_(tables.c.told_readers.is_(None), tables.c.told_readers != _READERS))
"""Of a searchable table of which the index does not know who may see it."""


class Facts:
    """The part of the store that says who may see tables, and what lets people trust them."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def of_tables(self, table_ids: Iterable[str] | None = None) -> dict[str, TableFacts]:
        """Return the facts of these tables, or of all that are searchable (None).

        How far tables are described and used is counted for all of them together, and left out
        of those of some: it hides nothing that anybody must not see.
        """
        if table_ids is None:
            every, use = self._db.read(select(tables).where(_INDEXED)), use_of_tables(self._db)
            return {row.table_id: _facts(row, use.get(row.table_id, _UNUSED)) for row in every}
        found: dict[str, TableFacts] = {}
        for some in chunks(list(table_ids), _ASKED_AT_ONCE):
            asked = select(tables).where(tables.c.table_id.in_(some))
            found.update((row.table_id, _facts(row, _UNUSED)) for row in self._db.read(asked))
        return found

    def untold(self) -> int:
        """Return of how many searchable tables the index does not know who may see them."""
        return int(self._db.read(select(func.count()).where(UNTOLD))[0][0])

    def note_told(self, facts: Mapping[str, TableFacts]) -> None:
        """Note that the index has these."""
        rows = [
            {"wanted": table_id, "told": json.dumps(one.readers)} for table_id, one in facts.items()
        ]
        told: BindParameter[str] = bindparam("told")
        news = or_(tables.c.told_readers.is_(None), tables.c.told_readers != told)
        if rows:
            same = update(tables).where(tables.c.table_id == bindparam("wanted"), news)
            with self._db.write() as connection:
                connection.execute(same.values(told_readers=told), rows)


def _facts(row: Row[Any], use: TableUse) -> TableFacts:
    """Make the facts of a table's row: the one place that says what they are."""
    return TableFacts(
        readers=readers_of(row.readers),
        updated_at=row.updated_at,
        owned=use.owned,
        documented=use.documented,
        feeds=use.feeds,
        queries=use.queries,
        copy_of=row.copy_of,
        seen_copy_of=row.seen_copy_of,
    )
