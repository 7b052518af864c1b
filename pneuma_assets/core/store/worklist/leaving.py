"""Tables that leave the index, and then the store."""

from collections.abc import Sequence

from sqlalchemy import and_, select

from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.narrations import forget_answers
from pneuma_assets.core.store.schema import (
    column_descriptions,
    documents,
    drawn,
    evidence,
    fingerprints,
    mined_questions,
    problems,
    staged_blocks,
    table_narrations,
    tables,
)
from pneuma_assets.core.store.statements import delete_by
from pneuma_assets.core.store.worklist.conditions import FREE, RENAMED, remembered, to_forget
from pneuma_assets.core.store.worklist.rows import ids_where, update_rows


class Leaving:
    """The part of the store that forgets tables."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def gone(self) -> list[str]:
        """Return the tables that have left their source, and are to leave index or store."""
        return ids_where(self._db, to_forget(self._db.clock))

    def renamed(self) -> list[str]:
        """Return those of the tables that are gone which are there under another name."""
        return ids_where(self._db, to_forget(self._db.clock), RENAMED)

    def unsearchable(self) -> list[str]:
        """Return those of the tables that are gone which the index has lost, or never had."""
        return ids_where(self._db, to_forget(self._db.clock), tables.c.indexed_at.is_(None))

    def taken_back(self) -> list[str]:
        """Return the failed tables of which nothing is to be found."""
        return ids_where(self._db, tables.c.state == "failed", tables.c.indexed_at.is_(None))

    def take_back(self, table_id: str) -> None:
        """Forget what was read of a table that may not be read any more; the index loses it, too.

        `taken_back` names it until then.
        """
        forgotten = ("indexed_version", "indexed_at", "block_count", "sampled_rows")
        with self._db.write() as connection:
            update_rows(connection, [table_id], **dict.fromkeys((*forgotten, "sampled_row_count")))
            for table in (
                *(documents, column_descriptions, table_narrations, staged_blocks, evidence),
                *(drawn, mined_questions),
            ):
                delete_by(connection, table.c.table_id, [table_id])
            forget_answers(connection, [table_id])

    def forget(self, table_ids: Sequence[str]) -> None:
        """Remove every trace of tables that are gone, once the index holds nothing of them.

        One that came back meanwhile stays. So does, for a while, what is known of one that may be
        among the new ones of its source, which is found out when those are read.
        """
        gone = and_(tables.c.state == "gone", FREE)
        leaving = select(tables.c.table_id).where(gone, ~remembered(self._db.clock))
        with self._db.write() as connection:
            update_rows(connection, table_ids, gone, indexed_at=None, block_count=None)
            table_ids = sorted({*connection.execute(leaving).scalars()} & {*table_ids})
            for table in (
                *(tables, documents, column_descriptions, table_narrations),
                *(staged_blocks, evidence, drawn, fingerprints, mined_questions),
            ):
                delete_by(connection, table.c.table_id, table_ids)
            forget_answers(connection, table_ids)
            delete_by(connection, problems.c.subject, table_ids)
