"""How much a table changed since the rows that stand for it were drawn, and what follows of that.

Pneuma, section 5.2: rows are drawn anew when more than 20 % of a table's rows changed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pneuma_assets.core.changes.measure import Change, Extent, measured, writes
from pneuma_assets.core.changes.schema_diff import SchemaDiff, schema_diff
from pneuma_assets.core.changes.sketch import TableSketch
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.profiles import SampleSnapshot
from pneuma_assets.core.store.queue import WorkItem
from pneuma_assets.core.tables import Column, Table

FORMER_NAMES = 5
"""Of a column; a name that another column has now is none of them."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a reading of a table says about the rows that stand for it.

    Attributes:
        anew: Whether all of them are drawn anew.
        change: How many of its rows changed since they were drawn; None where none were, or where
            its columns are not those that it had: that is no share of rows.
        other_columns: Whether columns were added, dropped, reordered or retyped since then.
        drawn: What it is measured from as long as one of the rows that were drawn is kept.
        drawn_anew: What it is measured from where none is.
        columns: What its columns are called now, by their name before, of those with another one.
    """

    anew: bool
    change: Change | None
    drawn: SampleSnapshot
    drawn_anew: SampleSnapshot
    other_columns: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)


def judge(
    item: WorkItem,
    table: Table,
    before: SampleSnapshot | None,
    sketch: TableSketch | None,
    threshold: float,
) -> Verdict:
    """Compare a table with what it was when its rows were drawn, not at the last look.

    So slow drift is not missed. This is about rows that are still true: those that left the table
    are replaced in any case. Rows of other columns are other rows, by whatever change is measured:
    all are drawn anew, and no share of them is told.

    Args:
        item: The table as it was listed, and what is known of it.
        table: Its profile, read just now.
        before: What it was; None where no rows were drawn.
        sketch: Of all its rows; None where they were not all read.
        threshold: The share of rows that may change; 0: every table that was written is drawn anew.
    """
    activity = item.ref.activity
    now = SampleSnapshot(table.columns, sketch, activity, activity)
    diff = None if before is None else _columns_since(before, now)
    columns = {} if diff is None else diff.renamed
    now = replace(now, former_names=_former_names(before, now, columns))
    if before is None or diff is None or item.sampled_row_count is None or not item.sampled:
        return Verdict(True, None, now, now, columns=columns)
    if not diff.same_cells:
        return Verdict(True, None, now, now, other_columns=True, columns=columns)
    base = _base(before, now)
    then = Extent(item.sampled_row_count, base.activity, before.sketch)
    change = measured(then, Extent(table.row_count, activity, sketch))
    return Verdict(
        threshold == 0 or bool(columns) or change.share > threshold,
        change,
        replace(base, change=change),
        replace(now, change=change),
        columns=columns,
    )


def find_under_old_name(
    store: Store, item: WorkItem, table: Table, sketch: TableSketch | None
) -> str | None:
    """Return the table that left and had just these columns and rows; None: there is none.

    Or several, so that nobody knows which. That is how a table that was written again under another
    name is recognised, where no identity tells of it.
    """
    if item.sampled_row_count is not None or sketch is None or not sketch.rows:
        return None
    gone = store.profiles.snapshots_of_gone(item.ref.source)
    same = [
        table_id
        for table_id, was in gone.items()
        if was.sketch == sketch and _said(was.columns) == _said(table.columns)
    ]
    return same[0] if len(same) == 1 else None


def _base(before: SampleSnapshot, now: SampleSnapshot) -> SampleSnapshot:
    """Return what to measure from, without counters that began anew since the last look."""
    went_on = (
        before.activity is not None
        and before.seen is not None
        and now.activity is not None
        and writes(before.seen, now.activity) is not None
    )
    return SampleSnapshot(
        now.columns,
        now.sketch if before.sketch is None else before.sketch,
        before.activity if went_on else None,
        now.activity,
        former_names=now.former_names,
    )


def _columns_since(before: SampleSnapshot, now: SampleSnapshot) -> SchemaDiff:
    cells = [() if one.sketch is None else one.sketch.columns for one in (before, now)]
    return schema_diff(before.columns, now.columns, *cells)


def _former_names(
    before: SampleSnapshot | None, now: SampleSnapshot, columns: Mapping[str, str]
) -> Mapping[str, tuple[str, ...]]:
    """Return former names of the columns there are, with what was just seen to be renamed."""
    if before is None:
        return {}
    old_name = {new: old for old, new in columns.items()}
    there = [column.name for column in now.columns]
    found: dict[str, tuple[str, ...]] = {}
    for name in there:
        old = old_name.get(name, name)
        known = before.former_names.get(old, ())
        names = known if old == name else (old, *known)
        if some := [one for one in dict.fromkeys(names) if one not in there]:
            found[name] = tuple(some[:FORMER_NAMES])
    return found


def _said(columns: tuple[Column, ...]) -> list[tuple[str, str]]:
    return [(column.name, column.type) for column in columns]
