"""Telling the index what is known of tables as a whole: who may see them, above all."""

from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.pipeline.neighbours import take_back_names
from pneuma_assets.core.store import Store


def tell_facts(store: Store, run_id: str, index: SearchIndex) -> int:
    """Bring the facts in the index to what the store says; returns of how many tables.

    The index is asked what it knows, which may be that of a copy. No model is asked, and no text
    written again; one that names a table that some of its readers may not see any more leaves the
    index first. Killed in between, it is done again by the next run.
    """
    wanted = store.access.of_tables()
    known = index.facts(list(wanted))
    regranted = [i for i, facts in known.items() if wanted[i].readers != facts.readers]
    take_back_names(store, run_id, index, known, regranted)
    differing = {i: wanted[i] for i, facts in known.items() if wanted[i] != facts}
    if differing:
        index.set_facts(differing)
    if (
        store.access.unpublished()
    ):  # asked, since noting it of each table of a large lake takes long
        store.access.mark_published({table_id: wanted[table_id] for table_id in known})
    return len(differing)
