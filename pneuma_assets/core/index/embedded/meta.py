"""What the embedded index says of itself: how it was built, and the sums of all that it holds."""

import sqlite3
from dataclasses import asdict, dataclass, fields

from pneuma_assets.core.index.embedded.sums import damaged, meta_sum, reading_rows
from pneuma_assets.core.index.identity import Identity

_CHECKSUM = "checksum"


@dataclass(frozen=True, slots=True)
class Meta:
    """One state of the index; the sums add up the checksums of all rows.

    `log_since` is the generation at which the log of removals begins, `last_seq` the highest
    number that any block, evidence or facts were ever given. `evidence` counts the tables that
    have any.
    """

    index_id: str
    encoder: str
    dimension: int
    analyzer: str
    generation: int = 0
    log_since: int = 0
    last_seq: int = 0
    tables: int = 0
    table_sums: int = 0
    blocks: int = 0
    block_sums: int = 0
    evidence: int = 0
    evidence_sums: int = 0
    facts_sums: int = 0

    @property
    def identity(self) -> Identity:
        """What the index was built with."""
        return Identity(self.encoder, self.dimension, self.analyzer)


_NAMES = tuple(field.name for field in fields(Meta))


def read_meta(connection: sqlite3.Connection) -> Meta:
    """Return the state that the connection sees.

    Raises:
        IndexDamagedError: It is not as it was written.
    """
    with reading_rows("its description"):
        stored = dict(connection.execute("SELECT name, value FROM meta"))
        checksum = stored.pop(_CHECKSUM)
        if len(stored) != len(_NAMES) or checksum != _sum(stored):
            raise damaged("its description is not as it was written")
        return Meta(**stored)


def write_meta(connection: sqlite3.Connection, meta: Meta) -> None:
    """Record a state, inside the transaction that made it."""
    values = asdict(meta)
    connection.executemany(
        "INSERT OR REPLACE INTO meta VALUES (?, ?)",
        [*values.items(), (_CHECKSUM, _sum(values))],
    )


def _sum(values: dict[str, object]) -> int:
    return meta_sum([(name, values[name]) for name in _NAMES])
