"""Taking tables out of the index that left their source, or may not be read any more."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.store import Store


@dataclass(frozen=True, slots=True)
class Left:
    """How many tables left, each counted by the one run that lets go of it.

    Attributes:
        removed: Those that were searchable.
        renamed: Those that were searchable under a name that they do not have now.
        forgotten: Those that the state alone still knew: they could never be found, or were removed
            before and remembered as long as new tables of their source were not read.
    """

    removed: int = 0
    renamed: int = 0
    forgotten: int = 0


def remove_gone(
    store: Store, index: SearchIndex, on_removed: Callable[[Sequence[str]], None]
) -> Left:
    """Take tables that left their source out of the index, then out of the store.

    Those that may not be read any more leave the index, too; the store keeps their problems.

    A table that the store does not know stays while its source is out of sight: a state that was
    lost begins anew, and has not listed every source yet.
    """
    indexed = index.list_tables()  # before the store: another run may add a table in between
    known = set(store.tables.listed())
    gone, renamed = store.removals.gone(), {*store.removals.renamed()}
    # Another run may let go of some, or see others leave, between two looks at the store.
    forgotten = {*gone} & {*store.removals.unsearchable()} - indexed.keys()
    strangers = store.listings.in_sight(i for i in indexed if i not in known)
    refused = [table_id for table_id in store.removals.retracted() if table_id in indexed]
    if gone or strangers or refused:
        index.delete_tables(sorted({*gone, *strangers, *refused}))
        on_removed([*gone, *refused])
        store.removals.forget(gone)
    left = {*gone} - forgotten
    return Left(len(left - renamed), len(left & renamed), len(forgotten))
