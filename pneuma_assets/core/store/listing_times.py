"""When each source was last begun to be listed by a tick, and how long that took.

A tick has no time for sources that take long, and may be ended from outside while it lists one.
What it begins is therefore noted before: the next tick then begins with another source.
"""

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, select

from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.schema import meta
from pneuma_assets.core.store.statements import upsert

_KEY = "listing times"


@dataclass(frozen=True, slots=True)
class ListingTime:
    """How a tick listed a source last.

    Attributes:
        begun_at: In seconds since 1970, by the store's clock.
        seconds: What it took; None where it never ended.
    """

    begun_at: float
    seconds: float | None = None


class ListingTimes:
    """The part of the store that knows which source was not listed for longest."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def read(self) -> dict[str, ListingTime]:
        """Return what is known, by source."""
        found = self._db.read(select(meta.c.value).where(meta.c.key == _KEY))
        return _parsed(found[0].value) if found else {}

    def begin(self, source: str, configured: Collection[str]) -> None:
        """Note that a source is being listed now; sources that are not configured are forgotten.

        What its last listing took stays known until this one has ended.
        """
        with self._db.write() as connection:
            known = {name: time for name, time in self.read().items() if name in configured}
            now = float(connection.execute(select(self._db.clock)).scalar_one())
            before = known.get(source)
            known[source] = ListingTime(now, None if before is None else before.seconds)
            _write(connection, known)

    def end(self, source: str, seconds: float) -> None:
        """Note what the listing took that was begun last."""
        with self._db.write() as connection:
            known = self.read()
            if source in known:
                known[source] = ListingTime(known[source].begun_at, round(seconds, 3))
                _write(connection, known)


def _parsed(text: str) -> dict[str, ListingTime]:
    values: dict[str, dict[str, Any]] = json.loads(text)
    return {source: ListingTime(**value) for source, value in values.items()}


def _write(connection: Connection, known: dict[str, ListingTime]) -> None:
    value = json.dumps({source: asdict(time) for source, time in known.items()})
    upsert(connection, meta, [{"key": _KEY, "value": value}])
