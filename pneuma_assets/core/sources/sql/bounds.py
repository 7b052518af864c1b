"""How much one database may be asked for."""

from dataclasses import dataclass

SMALL_ROWS = 50_000
"""Tables of no more rows are read whole for a sample, and no sample reads more."""

COUNTED_ROWS = 10_000_000
"""Rows are counted up to here."""


@dataclass(frozen=True, slots=True)
class SqlBounds:
    """What a deployment file says of it.

    Attributes:
        seconds: What one statement may take.
        rows: Tables of more are not read whole.
        size: Nor are those of more bytes; no query is billed for more where an engine can tell.
        statements: What one listing may send.
        wake: Whether a listing may wake an engine that sleeps.
    """

    seconds: float = 30.0
    rows: int = 1_000_000
    size: int = 1_000_000_000
    statements: int = 200
    wake: bool = False
