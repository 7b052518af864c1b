"""What the store knows of rules that hide columns, and how what they hide leaves it.

What is removed is overwritten in the state's file (`PRAGMA secure_delete`) and taken out of its
log; the file's backup is removed as a whole. On a server the space is the server's to free: VACUUM
does it, by itself after a while.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sqlalchemy import bindparam, delete, select, update

from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.narrations import forget_answers
from pneuma_assets.core.store.noted import note_values, noted_values
from pneuma_assets.core.store.schema import (
    column_descriptions,
    documents,
    drawn,
    evidence,
    meta,
    mined_questions,
    narrations,
    problems,
    staged_blocks,
    table_narrations,
    tables,
)
from pneuma_assets.core.store.statements import delete_by, upsert

_RULES = "privacy:"
"""Begins the keys under which the rules of each source are noted."""

_PAGES = "privacy pages"
"""Under which it is kept whose pages still show what is hidden now."""

_OF_TABLE = (
    *(documents, column_descriptions, table_narrations, staged_blocks, evidence, drawn),
    mined_questions,
)
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


class Privacy:
    """The part of the store that forgets what is hidden from now on."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def rules(self) -> dict[str, str]:
        """Return what names the rules of each source that its tables were read by."""
        found = self._db.read(select(meta.c.key, meta.c.value).where(meta.c.key.like(f"{_RULES}%")))
        return {row.key.removeprefix(_RULES): row.value for row in found}

    def use_rules(self, rules: Mapping[str, str]) -> None:
        """Note by which rules the tables of these sources are read from now on."""
        with self._db.write() as connection:
            delete_by(connection, meta.c.key, [_RULES + source for source in rules])
            noted = [{"key": _RULES + name, "value": one} for name, one in rules.items() if one]
            upsert(connection, meta, noted)

    def tables_of(self, sources: Collection[str]) -> list[str]:
        """Return the tables of some sources, in order."""
        of_sources = select(tables.c.table_id).where(tables.c.source.in_(list(sources)))
        return sorted(row.table_id for row in self._db.read(of_sources))

    def forget(self, table_ids: Collection[str]) -> None:
        """Forget all that was read of tables and let them wait; no run holds them any more.

        What people added to them, or corrected, stays: nobody read it from a table.
        """
        self._forget(table_ids, {**_OF_ROWS, **_OF_PROFILE})
        self._db.settle()

    def forget_rows(self, table_ids: Collection[str]) -> None:
        """Forget what was made of the rows of tables, which a run goes on to read."""
        self._forget(table_ids, _OF_ROWS)

    def forget_names(self, schemas: Collection[str]) -> None:
        """Forget what a model said of columns of these schemas, which may tell their names."""
        with self._db.write() as connection:
            delete_by(connection, narrations.c.schema_hash, schemas)
        self._db.drop_backup()

    def _forget(self, table_ids: Collection[str], values: Mapping[str, Any]) -> None:
        rows = [{"wanted": table_id} for table_id in table_ids]
        if not rows:
            return
        with self._db.write() as connection:
            for table in _OF_TABLE:
                delete_by(connection, table.c.table_id, table_ids)
            forget_answers(connection, table_ids)
            delete_by(connection, problems.c.subject, table_ids)
            there = tables.c.table_id == bindparam("wanted"), tables.c.state != "gone"
            connection.execute(update(tables).where(*there).values(**values), rows)
            shown = sorted({*self.pages_to_wipe(), *table_ids})
            note_values(connection, _PAGES, shown)
        self._db.drop_backup()

    def pages_to_wipe(self) -> list[str]:
        """Return the tables whose pages may show what is hidden now."""
        return list(noted_values(self._db, _PAGES) or ())

    def pages_wiped(self, table_ids: Iterable[str]) -> None:
        """Note that the pages of these show it no more."""
        with self._db.write() as connection:
            left = sorted({*self.pages_to_wipe()} - {*table_ids})
            connection.execute(delete(meta).where(meta.c.key == _PAGES))
            if left:
                note_values(connection, _PAGES, left)
