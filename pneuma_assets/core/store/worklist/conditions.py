"""What may be said of a table's row, where several parts of the work list ask for it."""

from sqlalchemy import ColumnElement, and_, exists, false, func, or_, select

from pneuma_assets.core.store.schema import problems, tables

REMEMBERED_S = 3600.0
"""How long a table that left is remembered at most while new ones of its source were not read."""

PENDING = tables.c.state == "pending"
THERE = tables.c.state != "gone"
FREE = tables.c.claimed_by.is_(None)
AT_HAND = tables.c.held_since.is_(None)
"""Of a table that can be read: one that is held is not where it was."""

_NOW = tables.alias("now")
RENAMED = exists().where(_NOW.c.table_id == tables.c.renamed_to, _NOW.c.state != "gone")
"""Of a table that is gone: it is there under another name."""

REACHABLE = tables.c.source.not_in(
    select(problems.c.source).where(
        problems.c.stage == "listing", problems.c.subject == problems.c.source
    )
)
"""Of a table whose source could be listed: others would only use up their attempts."""

_UNREAD = select(tables.c.source).where(
    PENDING, tables.c.indexed_at.is_(None), tables.c.sampled_row_count.is_(None)
)
"""Of new tables, each of which may be one that has left, under another name."""


def to_forget(now: ColumnElement[float]) -> ColumnElement[bool]:
    """Match tables that have left, which the index or the store still knows in vain."""
    return and_(
        *(tables.c.state == "gone", FREE),
        or_(tables.c.indexed_at.is_not(None), ~remembered(now)),
    )


def remembered(now: ColumnElement[float]) -> ColumnElement[bool]:
    """Match tables that left just now and may be one of those that were not read yet."""
    lately = tables.c.changed_at > now - REMEMBERED_S
    read = tables.c.sampled_row_count.is_not(None)
    return and_(read, func.coalesce(lately, false()), tables.c.source.in_(_UNREAD))
