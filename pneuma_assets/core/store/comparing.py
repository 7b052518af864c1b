"""What a listing of a source changes of what is known of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pneuma_assets.core.store.records import Reconciliation, differs
from pneuma_assets.core.store.removals import RemovalRule, held_among
from pneuma_assets.core.tables import TableRef


@dataclass(frozen=True, slots=True)
class Compared:
    """What is to become of the tables of a source.

    Attributes:
        new: Tables that nobody knew.
        changed: Those that are not as they were, or were gone.
        unchanged: How many are.
        back: Those that were held and are listed again.
        gone: Those that have left.
        newly_held: Those that are held from now on.
        held: All that are held now.
        known: How many there were, held ones included.
    """

    new: Sequence[TableRef]
    changed: Sequence[TableRef]
    unchanged: int
    back: Sequence[str]
    gone: Sequence[str]
    newly_held: Sequence[str]
    held: Sequence[str]
    known: int

    def counts(self) -> Reconciliation:
        """Return how many of each there are."""
        return Reconciliation(
            len(self.new), len(self.changed), self.unchanged, len(self.gone), len(self.held)
        )


def compare(
    known: Mapping[str, Any],
    refs: Sequence[TableRef],
    unlisted: Sequence[str],
    rule: RemovalRule | None,
) -> Compared:
    """Compare the rows of a source's tables, by id, with a listing of it.

    Args:
        known: Rows with `state`, `version`, `location` and `held_since`.
        refs: What the listing showed.
        unlisted: How the ids begin of tables that it could not show; they stay as they are.
        rule: How many may be gone at once; None: all that are absent are gone, held ones too.
    """
    there = {i: row for i, row in known.items() if row.state != "gone"}
    listed, out_of_sight = {ref.table_id for ref in refs}, tuple(unlisted)
    seen = {i: r for i, r in there.items() if i in listed or not i.startswith(out_of_sight)}
    absent = {i: row for i, row in seen.items() if i not in listed}
    held = held_among(absent, len(seen), rule)
    held_before = {i for i, row in there.items() if row.held_since is not None}
    new = [ref for ref in refs if ref.table_id not in known]
    changed = [r for r in refs if r.table_id in known and differs(known[r.table_id], r)]
    return Compared(
        new,
        changed,
        unchanged=len(refs) - len(new) - len(changed),
        back=sorted(held_before & listed),
        gone=sorted(absent.keys() - held),
        newly_held=sorted(held - held_before),
        held=sorted(held | (held_before - seen.keys())),
        known=len(there),
    )
