"""Finding copies among all tables, once those of a run are searchable."""

from collections.abc import Iterator, Mapping

from pneuma_assets.core.copies.finding import KnownTable, find_copies, is_seen_alike
from pneuma_assets.core.copies.fingerprint import Fingerprint, fingerprint_of
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import Evidence, TableFacts

_AT_ONCE = 50
"""Tables whose evidence is read from the index at a time."""


def mark_copies(store: Store, index: SearchIndex, facts: Mapping[str, TableFacts]) -> int:
    """Note in the store which tables are copies of which; returns of how many that is news.

    Args:
        store: Knows all tables.
        index: Holds those that are searchable.
        facts: Of these tables: what is used and described more is the original.

    Tables that were indexed before copies were told are known by what the index has of them. All
    are compared, since a new table may be the original of old ones; it takes five seconds for
    10,000 of them, and as long again where not everybody may see all. Killed in between, it is
    done by the next run.
    """
    for found in _of_indexed(store, index):
        store.fingerprints.replace(found)
    tables = [
        KnownTable(table_id, one, facts.get(table_id, TableFacts()))
        for table_id, one in store.fingerprints.searchable().items()
    ]
    copies = find_copies(tables)
    seen = copies if is_seen_alike(tables) else find_copies(tables, seen=True)
    return store.fingerprints.note_copies(copies, seen)


def _of_indexed(store: Store, index: SearchIndex) -> Iterator[dict[str, Fingerprint]]:
    for some in chunks(store.fingerprints.missing(), _AT_ONCE):
        evidence = index.evidence(some)
        yield {
            table.table_id: fingerprint_of(table, evidence.get(table.table_id, Evidence()))
            for table in store.tables.profiles(some)
        }
