"""Where listings have looked: a table that is not known has left only if it would have been seen.

The work list knows every table that was ever listed. When it is lost and begins anew, the index
and the embeddings still hold tables of sources that nobody has listed since (another one was asked
for, or this one is away), and of these nothing can be said.
"""

import json
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, delete, select

from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.noted import note_values, noted_values
from pneuma_assets.core.store.schema import listings
from pneuma_assets.core.store.statements import upsert
from pneuma_assets.core.tables import source_of

_SOURCES = "sources"


class Listings:
    """The part of the store that knows what the last listing of each source could see."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def listed_at(self) -> dict[str, float]:
        """Return when each source was listed last, in seconds since 1970 by the store's clock.

        A source that could never be listed is not there.
        """
        found = self._db.read(select(listings.c.source, listings.c.listed_at))
        return {row.source: row.listed_at for row in found}

    def in_sight(self, table_ids: Iterable[str]) -> set[str]:
        """Return those tables that the work list would know if they were still there.

        Their source was listed, and not only in part there, or is no longer configured.
        """
        found = self._db.read(select(listings.c.source, listings.c.unlisted))
        hidden = {row.source: tuple(json.loads(row.unlisted)) for row in found}
        configured = noted_values(self._db, _SOURCES)
        seen = set()
        for table_id in table_ids:
            source = source_of(table_id)
            if source in hidden:
                visible = not table_id.startswith(hidden[source])
            else:
                visible = configured is not None and source not in configured
            if visible:
                seen.add(table_id)
        return seen


def listed_since(connection: Connection, source: str, began: float | None, now: float) -> bool:
    """Tell whether a source was listed after `began`: what was seen since may be missing before.

    A listing from the future tells only that a clock was set back.
    """
    if began is None:
        return False
    last = connection.execute(select(listings.c.listed_at).where(listings.c.source == source))
    at = last.scalar()
    return at is not None and began < at <= now


def note_listing(connection: Connection, source: str, unlisted: Sequence[str], at: float) -> None:
    """Record that a source was listed, but for the tables whose ids begin with `unlisted`.

    It stays true when the source is away later: what it showed is known by then.
    """
    row = {"source": source, "unlisted": json.dumps(list(unlisted)), "listed_at": at}
    upsert(connection, listings, [row])


def note_sources(connection: Connection, names: Sequence[str]) -> None:
    """Record which sources are configured, and forget the listings of others."""
    note_values(connection, _SOURCES, list(names))
    connection.execute(delete(listings).where(listings.c.source.not_in(names)))
