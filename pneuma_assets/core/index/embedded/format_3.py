"""What an index of format 3 lacks: facts of its tables."""

import sqlite3
from dataclasses import replace

from pneuma_assets.core.index.embedded.facts import insert_facts
from pneuma_assets.core.index.embedded.meta import Meta
from pneuma_assets.core.index.embedded.schema import FACTS_TABLE
from pneuma_assets.core.index.facts_text import UNTOLD


def with_facts(connection: sqlite3.Connection, before: Meta) -> Meta:
    """Let nothing be known of every table; returns the new state."""
    connection.execute(FACTS_TABLE)
    keys = [key for (key,) in connection.execute("SELECT key FROM tables ORDER BY key")]
    numbered = enumerate(keys, before.last_seq + 1)
    return replace(
        before,
        generation=before.generation + 1,
        last_seq=before.last_seq + len(keys),
        facts_sums=insert_facts(connection, ((seq, key, UNTOLD) for seq, key in numbered)),
    )
