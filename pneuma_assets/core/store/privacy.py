"""What the store knows of rules that hide columns, and how what they hide leaves it.

What is removed is overwritten in the state's file (`PRAGMA secure_delete`) and taken out of its
log; the file's backup is removed as a whole. On a server the space is the server's to free: VACUUM
does it, by itself after a while.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sqlalchemy import delete, select

from pneuma_assets.core.store import schema
from pneuma_assets.core.store.database import StorePart, get_all, get_json, put_all, put_json
from pneuma_assets.core.store.removals import OF_TABLE
from pneuma_assets.core.store.tables import THERE, update_rows

_RULES = "privacy:"
"""Begins the keys of the rules of each source."""

_PAGES = "privacy pages"
"""The key of whose pages still show what is hidden now."""

_OF_ROWS: Mapping[str, Any] = {
    "sampled_rows": None,
    "sampled_row_count": None,
    "indexed_at": None,
    "block_count": None,
    "indexed_version": None,
    "told_readers": None,
}
_OF_PROFILE: Mapping[str, Any] = {
    "columns": None,
    "column_count": None,
    "row_count": None,
    "comment": "",
    "notes": "[]",
    "relations": None,
    "state": "pending",
    "stage": "listed",
    "attempts": 0,
    "claimed_by": None,
    "claimed_version": None,
}


class Privacy(StorePart):
    """The part of the store that forgets what is hidden from now on."""

    def rules(self) -> dict[str, str]:
        """Return what names the rules of each source that its tables were read by."""
        return get_all(self._db, _RULES)

    def use_rules(self, rules: Mapping[str, str]) -> None:
        """Note by which rules the tables of these sources are read from now on."""
        put_all(self._db, _RULES, rules)

    def tables_of(self, sources: Collection[str]) -> list[str]:
        """Return the tables of some sources, in order."""
        of_sources = select(schema.tables.c.table_id).where(
            schema.tables.c.source.in_(list(sources))
        )
        return sorted(row.table_id for row in self._db.read(of_sources))

    def forget(self, table_ids: Collection[str]) -> None:
        """Forget all that was read of tables and let them wait; no run holds them any more.

        What people added to them, or corrected, stays: nobody read it from a table.
        """
        self._forget(table_ids, {**_OF_ROWS, **_OF_PROFILE})
        self._db.checkpoint()

    def forget_rows(self, table_ids: Collection[str]) -> None:
        """Forget what was made of the rows of tables, which a run goes on to read."""
        self._forget(table_ids, _OF_ROWS)

    def forget_names(self, schemas: Collection[str]) -> None:
        """Forget what a model said of columns of these schemas, which may tell their names."""
        with self._db.write() as connection:
            schema.delete_by(connection, schema.narrations.c.schema_hash, schemas)
        self._db.drop_backup()

    def _forget(self, table_ids: Collection[str], values: Mapping[str, Any]) -> None:
        if not table_ids:
            return
        with self._db.write() as connection:
            schema.delete_of_tables(connection, table_ids, *OF_TABLE)
            connection.execute(
                delete(schema.conversation_cells)
            )  # whichever of them read these tables
            schema.delete_by(connection, schema.problems.c.subject, table_ids)
            update_rows(connection, table_ids, THERE, **values)
            put_json(self._db, _PAGES, sorted({*self.pages_to_wipe(), *table_ids}))
        self._db.drop_backup()

    def pages_to_wipe(self) -> list[str]:
        """Return the tables whose pages may show what is hidden now."""
        return list(get_json(self._db, _PAGES) or ())

    def pages_wiped(self, table_ids: Iterable[str]) -> None:
        """Note that the pages of these show it no more."""
        with self._db.write():
            put_json(self._db, _PAGES, sorted({*self.pages_to_wipe()} - {*table_ids}))
