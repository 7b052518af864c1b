"""When each source was last begun to be listed by a tick, and how long that took.

A tick has no time for sources that take long, and may be ended from outside while it lists one.
What it begins is therefore noted before: the next tick then begins with another source.
"""

from collections.abc import Collection
from dataclasses import asdict, dataclass

from sqlalchemy import Connection

from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.noted import note_values, noted_values

_KEY = "listing times"

RESTS = 10.0
"""A source that takes long is listed again after so many times what that took."""


@dataclass(frozen=True, slots=True)
class ListingTime:
    """How a tick listed a source last.

    Attributes:
        begun_at: In seconds since 1970, by the store's clock.
        seconds: What the last listing took that ended; None where none did.
        open: Whether the one that was begun then has not ended: it goes on, or was ended with its
            process.
    """

    begun_at: float
    seconds: float | None = None
    open: bool = False

    def is_slow(self, budget_s: float) -> bool:
        """Tell whether the source takes longer to list than a tick has time for."""
        return self.open or (self.seconds is not None and self.seconds > budget_s)

    def may_go_on(self, now: float, budget_s: float) -> bool:
        """Tell whether the listing that was begun last may not have ended yet."""
        return self.open and now < self.due_at(budget_s)

    def due_at(self, budget_s: float) -> float:
        """Return when a source that is slow is listed again, in seconds since 1970.

        Listing may take a tenth of the time; one that has not ended is tried again when it should
        have.
        """
        if self.open or self.seconds is None:
            return self.begun_at + max(2 * budget_s, self.seconds or 0.0)
        return self.begun_at + RESTS * self.seconds


class ListingTimes:
    """The part of the store that knows which source was not listed for longest."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def read(self) -> dict[str, ListingTime]:
        """Return what is known, by source."""
        found = noted_values(self._db, _KEY) or {}
        return {source: ListingTime(**time) for source, time in found.items()}

    def begin(self, source: str, configured: Collection[str]) -> None:
        """Note that a source is being listed now; sources that are not configured are forgotten.

        What its last listing took stays known until this one has ended.
        """
        with self._db.write() as connection:
            known = {name: time for name, time in self.read().items() if name in configured}
            before = known.get(source)
            known[source] = ListingTime(
                self._db.now(), None if before is None else before.seconds, open=True
            )
            _write(connection, known)

    def end(self, source: str, seconds: float) -> None:
        """Note what the listing took that was begun last."""
        with self._db.write() as connection:
            known = self.read()
            if source in known:
                known[source] = ListingTime(known[source].begun_at, round(seconds, 3))
                _write(connection, known)


def _write(connection: Connection, known: dict[str, ListingTime]) -> None:
    note_values(connection, _KEY, {source: asdict(time) for source, time in known.items()})
