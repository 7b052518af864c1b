"""Finding copies among all tables, once those of a run are searchable."""

from collections.abc import Mapping

from pneuma_assets.core.relations.copies import KnownTable, find_copies, is_seen_alike
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import TableFacts


def mark_copies(store: Store, facts: Mapping[str, TableFacts]) -> int:
    """Note in the store which tables are copies of which; returns of how many that is news.

    Args:
        store: Knows all tables.
        facts: Of these tables: what is used and described more is the original.

    All are compared, since a new table may be the original of old ones; it takes five seconds for
    10,000 of them, and as long again where not everybody may see all. Killed in between, it is
    done by the next run.
    """
    tables = [
        KnownTable(table_id, one, facts.get(table_id, TableFacts()))
        for table_id, one in store.profiles.fingerprints().items()
    ]
    copies = find_copies(tables)
    seen = copies if is_seen_alike(tables) else find_copies(tables, seen=True)
    return store.profiles.mark_copies(copies, seen)
