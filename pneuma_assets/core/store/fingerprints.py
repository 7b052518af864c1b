"""What is kept of tables to tell copies, and which tables are copies of which."""

from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import BindParameter, bindparam, or_, select, update

from pneuma_assets.core.relations.fingerprints import Fingerprint, unpacked
from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.schema import fingerprints, tables
from pneuma_assets.core.store.statements import upsert

_SEARCHABLE = (tables.c.indexed_at.is_not(None), tables.c.state != "gone")
_KEPT = (
    select(fingerprints)
    .join(tables, tables.c.table_id == fingerprints.c.table_id)
    .where(*_SEARCHABLE)
)
_COPIES = select(tables.c.table_id, tables.c.copy_of, tables.c.seen_copy_of).where(
    or_(tables.c.copy_of.is_not(None), tables.c.seen_copy_of.is_not(None))
)
_TABLE: BindParameter[str] = bindparam("wanted")


class Originals(NamedTuple):
    """What a table is a copy of, as `TableFacts` has it."""

    copy_of: str | None = None
    seen_copy_of: str | None = None


_NO_COPY = Originals()


class Fingerprints:
    """The part of the store that knows copies; what is here goes with its table."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def replace(self, found: Mapping[str, Fingerprint]) -> None:
        """Make these the fingerprints of their tables."""
        rows = [{"table_id": table_id, "data": one.pack()} for table_id, one in found.items()]
        with self._db.write() as connection:
            upsert(connection, fingerprints, rows)

    def searchable(self) -> dict[str, Fingerprint]:
        """Return those of all searchable tables, of which this version can read one."""
        found = ((row.table_id, unpacked(row.data)) for row in self._db.read(_KEPT))
        return {table_id: one for table_id, one in found if one is not None}

    def copies(self) -> dict[str, Originals]:
        """Return the tables that are copies, each with its originals."""
        return {
            row.table_id: Originals(row.copy_of, row.seen_copy_of) for row in self._db.read(_COPIES)
        }

    def note_copies(self, copies: Mapping[str, str], seen: Mapping[str, str]) -> int:
        """Make exactly these tables copies of others; returns of how many that was not known.

        Args:
            copies: Each with its original among all tables.
            seen: Each with its original among those that all may see who may see it.
        """
        known = self.copies()
        found = {i: Originals(copies.get(i), seen.get(i)) for i in {*known, *copies, *seen}}
        news = {i: one for i, one in found.items() if one != known.get(i, _NO_COPY)}
        if news:
            original: BindParameter[str | None] = bindparam("original")
            among_seen: BindParameter[str | None] = bindparam("among_seen")
            noted = update(tables).where(tables.c.table_id == _TABLE)
            noted = noted.values(copy_of=original, seen_copy_of=among_seen)
            rows = [
                {"wanted": i, "original": one.copy_of, "among_seen": one.seen_copy_of}
                for i, one in sorted(news.items())
            ]
            with self._db.write() as connection:
                connection.execute(noted, rows)
        return len(news)
