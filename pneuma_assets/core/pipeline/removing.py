"""Taking tables out of the index that left their source, or may not be read any more."""

from collections.abc import Callable, Sequence

from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.store import Store


def remove_gone(
    store: Store, index: SearchIndex, on_removed: Callable[[Sequence[str]], None]
) -> int:
    """Take tables that left their source out of the index, then out of the store.

    Those that may not be read any more leave the index, too; the store keeps their problems.

    A table that the store does not know stays while its source is out of sight: a state that was
    lost begins anew, and has not listed every source yet.
    """
    indexed = index.list_tables()  # before the store: another run may add a table in between
    known = set(store.work.listed())
    gone = store.work.gone()
    strangers = store.listings.in_sight(i for i in indexed if i not in known)
    refused = [table_id for table_id in store.work.taken_back() if table_id in indexed]
    if gone or strangers or refused:
        index.delete_tables(sorted({*gone, *strangers, *refused}))
        on_removed([*gone, *refused])
        store.work.forget(gone)
    return len(gone)
