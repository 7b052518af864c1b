"""Which waiting tables are left alone for a while: those being written, and those that failed.

A person who asks for a run wants everything now. What is asked for by a sensor can wait: a file
that is half written would be read in vain, and a table that has failed will most likely fail again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, case, or_, true

from pneuma_assets.core.store.schema import tables

LONGEST = 30
"""A table that never comes to rest is read after so many times the time it should have rested."""

RETRY_AFTER_S: Sequence[float] = (1800.0, 7200.0, 28_800.0)
"""How long a table rests after its first, second and third attempt that failed; then a day."""

RETRY_DAILY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a changed table has to rest before it is read.

    Attributes:
        settle_s: Seconds since it was written last, or was seen to have changed.
        longest_s: Seconds after which it is read all the same, since it began to wait.
    """

    settle_s: float
    longest_s: float

    @classmethod
    def of(cls, settle_s: float) -> "Patience":
        """Return that of a deployment, by `indexing.settle_seconds`."""
        return cls(settle_s, LONGEST * settle_s)


def at_rest(now: ColumnElement[float], patience: Patience | None) -> ColumnElement[bool]:
    """Match tables that are not being written as far as anybody can tell.

    When a file was written is told by another clock, which may be ahead of this one; when the
    change was seen, by this one. The earlier of both counts.
    """
    if patience is None:
        return true()
    quiet = now - patience.settle_s
    return or_(
        tables.c.changed_at.is_(None),
        tables.c.changed_at <= quiet,
        and_(tables.c.updated_at.is_not(None), tables.c.updated_at <= quiet),
        and_(
            tables.c.waits_since.is_not(None),
            tables.c.waits_since <= now - patience.longest_s,
        ),
    )


def tried_again(
    now: ColumnElement[float], max_attempts: int, patience: Patience | None
) -> ColumnElement[bool]:
    """Match failed tables that have attempts left and, where there is patience, have rested."""
    failed = and_(tables.c.state == "failed", tables.c.attempts < max_attempts)
    if patience is None:
        return failed
    return and_(failed, or_(tables.c.retry_at.is_(None), tables.c.retry_at <= now))


def next_attempt(now: ColumnElement[float]) -> ColumnElement[float]:
    """Return when a table that has just failed is tried again, by how often it was tried."""
    rests = dict(enumerate(RETRY_AFTER_S, start=1))
    return now + case(rests, value=tables.c.attempts, else_=RETRY_DAILY_S)
