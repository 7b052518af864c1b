"""What others have said of tables: that they changed, whatever a listing can see of it.

A notice is about a source and names what of it has changed. It stays until that source has been
listed by a listing that began later, whoever lists it: what was said while one went on, or before a
process died, is not lost.
"""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, select

from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.problems import shortened
from pneuma_assets.core.store.schema import notices
from pneuma_assets.core.store.statements import upsert

MOST = 10_000
"""Subjects kept of a source; where there would be more, one notice stands for the whole source."""


@dataclass(frozen=True, slots=True)
class Noticed:
    """What is said of one source and not looked at yet.

    Attributes:
        subjects: How many of its tables are named; the source itself counts as one.
        since: When the oldest notice came, in seconds since 1970, by the store's clock.
        reason: Why, as the newest says; may be empty.
    """

    subjects: int
    since: float
    reason: str


class Notices:
    """The part of the store that knows which sources are to be listed, and for which tables."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def note(self, source: str, subjects: Collection[str], reason: str) -> None:
        """Keep that these have changed; said again, a notice is as new as the last time.

        Args:
            source: The source's name.
            subjects: Ids of tables, or whatever names them to people; empty: the source itself.
            reason: Who says so, and why: for people.
        """
        here = notices.c.source == source
        with self._db.write() as connection:
            now = self._db.now()
            known = set(connection.execute(select(notices.c.subject).where(here)).scalars())
            named = {one if self._db.fits(one) else shortened(one) for one in subjects}
            if not named or len(known | named) > MOST:
                connection.execute(delete(notices).where(here))
                named = {source}
            row = {"source": source, "reason": reason, "noted_at": now}
            upsert(connection, notices, [{**row, "subject": one} for one in sorted(named)])

    def waiting(self) -> dict[str, Noticed]:
        """Return the sources that are to be listed because of notices."""
        newest = select(notices.c.source, notices.c.reason).order_by(notices.c.noted_at)
        reasons = {row.source: row.reason for row in self._db.read(newest)}
        counted = select(
            notices.c.source,
            func.count().label("subjects"),
            func.min(notices.c.noted_at).label("since"),
        ).group_by(notices.c.source)
        return {
            row.source: Noticed(row.subjects, row.since, reasons.get(row.source, ""))
            for row in self._db.read(counted)
        }


def heed(connection: Connection, source: str, began: float | None) -> None:
    """Forget what was said of a source before a listing began, in that listing's transaction.

    Args:
        connection: Of the transaction.
        source: The source that was listed.
        began: When, by the store's clock; None: just now.
    """
    here = notices.c.source == source
    heeded = here if began is None else here & (notices.c.noted_at < began)
    connection.execute(delete(notices).where(heeded))


def forget_others(connection: Connection, kept: Collection[str]) -> None:
    """Forget what was said of sources that are no longer configured."""
    connection.execute(delete(notices).where(notices.c.source.not_in(list(kept))))
