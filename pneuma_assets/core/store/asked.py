"""Which sensor has asked for a run last: of two that see the same work at once, one asks.

Dagster keeps a sensor from asking twice, not two of them: those of two code locations or daemons,
or a sensor and a schedule.
"""

from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.noted import note_values, noted_values

_KEY = "asked for a run"

HOLD_S = 45.0
"""How long a run may take to show among Dagster's after it was asked for."""


class Asked:
    """The part of the store that lets one sensor ask for a run."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def take(self, who: str, began: float, newest_run: float | None) -> bool:
        """Tell whether `who` may ask for a run; from now on nobody else may, until it is there.

        Args:
            who: Tells those apart that ask.
            began: When it began to look for work, by the store's clock: whatever somebody else has
                asked for since is that work.
            newest_run: When the newest run was made, in seconds since 1970; None: there is none.
        """
        with self._db.write() as connection:
            now = self._db.now()
            by, at = noted_values(self._db, _KEY) or (who, 0.0)
            there = newest_run is not None and newest_run > at
            waits = now - HOLD_S < at <= now and not there
            if by != who and (at >= began or waits):
                return False
            note_values(connection, _KEY, [who, now])
            return True
