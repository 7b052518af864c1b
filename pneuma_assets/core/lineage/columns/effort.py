"""How much one query may ask of whoever reads it: its SQL is anybody's."""

from pneuma_assets.core.lineage.parsing import UnreadableSQLError

MOST_SOURCES = 300_000
"""Columns passed from scope to scope in one query."""

MOST_LOOKS = 500_000
"""Columns, tables and joins looked at to tell what the names of one query mean."""


class Effort:
    """Counts what the columns of one query have cost so far."""

    def __init__(self) -> None:
        self._spent = self._looked = 0

    def look(self, steps: int) -> None:
        """Count what is looked at; raises `UnreadableSQLError` beyond `MOST_LOOKS`."""
        self._looked += steps
        if self._looked > MOST_LOOKS:
            raise UnreadableSQLError("telling what its names mean takes too long")

    def spend(self, steps: int) -> None:
        """Count what is passed on; raises `UnreadableSQLError` beyond `MOST_SOURCES`."""
        self._spent += steps
        if self._spent > MOST_SOURCES:
            raise UnreadableSQLError(f"it passes on more than {MOST_SOURCES:,} columns")
