"""When each queue of messages was last begun to be read, so that each has its turn."""

from collections.abc import Collection

from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.noted import note_values, noted_values

_KEY = "turns of queues"


class Turns:
    """The part of the store that knows which queue was not heard for longest."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def read(self) -> dict[str, float]:
        """Return when each was begun last, in seconds since 1970 by the store's clock."""
        return dict(noted_values(self._db, _KEY) or {})

    def begin(self, queue: str, configured: Collection[str]) -> None:
        """Note that a queue is being read now; those that are not configured are forgotten."""
        with self._db.write() as connection:
            known = {name: at for name, at in self.read().items() if name in configured}
            note_values(connection, _KEY, {**known, queue: self._db.now()})
