"""What a listing of a source changes of what is known of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pneuma_assets.core.changes.renames import Named, renamed
from pneuma_assets.core.store.removals import RemovalRule, held_among
from pneuma_assets.core.store.worklist.listed import differs, retold
from pneuma_assets.core.tables import TableRef


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """What one listing changed in the work list."""

    new: int
    changed: int
    unchanged: int
    gone: int
    held: int = 0
    renamed: int = 0


@dataclass(frozen=True, slots=True)
class Compared:
    """What is to become of the tables of a source.

    Attributes:
        new: Tables that nobody knew.
        changed: Those that are not as they were, or were gone.
        unchanged: How many are.
        retold: Those of these of which the listing tells something else than it did.
        back: Those that were held and are listed again.
        gone: Those that have left.
        newly_held: Those that are held from now on.
        held: All that are held now.
        known: How many there were, held ones included.
        renamed: What tables are called now, by their id before. They are neither new nor gone: what
            is known of them moves to a row of the new name, be it one of `new` or of `changed`.
    """

    new: Sequence[TableRef]
    changed: Sequence[TableRef]
    unchanged: int
    retold: Sequence[TableRef]
    back: Sequence[str]
    gone: Sequence[str]
    newly_held: Sequence[str]
    held: Sequence[str]
    known: int
    renamed: Mapping[str, str] = field(default_factory=dict)

    def counts(self) -> Reconciliation:
        """Return how many of each there are."""
        moved = set(self.renamed.values())
        return Reconciliation(
            sum(ref.table_id not in moved for ref in self.new),
            sum(ref.table_id not in moved for ref in self.changed),
            self.unchanged,
            len(self.gone),
            len(self.held),
            len(moved),
        )


def compare(
    known: Mapping[str, Any],
    refs: Sequence[TableRef],
    unlisted: Sequence[str],
    rule: RemovalRule | None,
) -> Compared:
    """Compare the rows of a source's tables, by id, with a listing of it.

    Args:
        known: Rows with `state`, `version`, `location`, `held_since`, `format` and `TOLD_COLUMNS`.
        refs: What the listing showed.
        unlisted: How the ids begin of tables that it could not show; they stay as they are.
        rule: How many may be gone at once; None: all that are absent are gone, held ones too.
    """
    there = {i: row for i, row in known.items() if row.state != "gone"}
    listed, out_of_sight = {ref.table_id for ref in refs}, tuple(unlisted)
    seen = {i: r for i, r in there.items() if i in listed or not i.startswith(out_of_sight)}
    absent = {i: row for i, row in seen.items() if i not in listed}
    moved = renamed(
        (Named(i, _marks(row)) for i, row in absent.items()),
        (Named(ref.table_id, _marks(ref)) for ref in refs if ref.table_id not in there),
    )
    seen = {i: row for i, row in seen.items() if i not in moved}
    absent = {i: row for i, row in absent.items() if i not in moved}
    held = held_among(absent, len(seen), rule)
    held_before = {i for i, r in there.items() if r.held_since is not None and i not in moved}
    new = [ref for ref in refs if ref.table_id not in known]
    before = [ref for ref in refs if ref.table_id in known]
    changed = [ref for ref in before if differs(known[ref.table_id], ref)]
    same = [ref for ref in before if not differs(known[ref.table_id], ref)]
    return Compared(
        new,
        changed,
        unchanged=len(same),
        retold=[ref for ref in same if retold(known[ref.table_id], ref)],
        back=sorted(held_before & listed),
        gone=sorted(absent.keys() - held),
        newly_held=sorted(held - held_before),
        held=sorted(held | (held_before - seen.keys())),
        known=len(there),
        renamed=moved,
    )


def _marks(table: Any) -> tuple[object, ...]:
    """Return what of a table stays the same when it is renamed, of a row and a reference alike."""
    return () if table.identity is None else (table.identity, table.format)
