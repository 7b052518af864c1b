"""What is known of each table as a whole, in the file and in a reader's memory.

Every table has one row of it, whose number grows with every change, so that a reader that follows
the file reads what is new alone.
"""

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from pneuma_assets.core.index.base import is_seen
from pneuma_assets.core.index.embedded.sqlite_file import from_blob, select_in, to_blob
from pneuma_assets.core.index.embedded.sums import damaged, facts_sum, reading_rows, wrapped
from pneuma_assets.core.index.facts_text import facts_from, facts_text
from pneuma_assets.core.tables import TableFacts

_COLUMNS = "seq, table_key, facts, checksum"


@dataclass(frozen=True, slots=True)
class FactsRow:
    """A table's facts as the file holds them; `key` is the table's."""

    seq: int
    key: int
    facts: TableFacts
    checksum: int


@dataclass(frozen=True, slots=True)
class FactsSnapshot:
    """The facts of all tables of one generation, by their keys; `last` is the highest number."""

    by_key: Mapping[int, FactsRow] = field(default_factory=dict)
    last: int = 0

    def followed(self, connection: sqlite3.Connection, gone: Collection[int]) -> "FactsSnapshot":
        """Return them without what these numbers had, followed by all that is new in the file.

        Raises:
            IndexDamagedError: Facts are not as they were written.
        """
        cursor = connection.execute(
            f"SELECT {_COLUMNS} FROM facts WHERE seq > ? ORDER BY seq", (self.last,)
        )
        added = [_checked(row) for row in cursor]
        numbers = set(gone)
        if not added and not any(row.seq in numbers for row in self.by_key.values()):
            return self
        kept = {key: row for key, row in self.by_key.items() if row.seq not in numbers}
        kept.update((row.key, row) for row in added)
        return FactsSnapshot(kept, added[-1].seq if added else self.last)

    def seen_by(self, readers: Collection[str]) -> npt.NDArray[np.int64]:
        """Return the keys of the tables that are shown to who asks as these, ascending."""
        keys = (key for key, row in self.by_key.items() if is_seen(row.facts, readers))
        return np.sort(np.fromiter(keys, np.int64))

    def only(self, keys: npt.NDArray[np.int64]) -> "FactsSnapshot":
        """Return the facts of these tables alone."""
        return FactsSnapshot({key: self.by_key[key] for key in keys.tolist()}, self.last)

    def is_complete(self, tables: int, sums: int) -> bool:
        """Tell whether there are facts of so many tables, with these checksums, and no others."""
        found = wrapped(sum(row.checksum for row in self.by_key.values()))
        return len(self.by_key) == tables and found == sums


def all_facts(connection: sqlite3.Connection) -> FactsSnapshot:
    """Return the facts of all tables."""
    return FactsSnapshot().followed(connection, ())


def read_facts(connection: sqlite3.Connection, keys: Sequence[int]) -> dict[int, FactsRow]:
    """Return the facts of those of these tables that exist, by their keys.

    Raises:
        IndexDamagedError: Some are not as they were written.
    """
    statement = f"SELECT {_COLUMNS} FROM facts WHERE table_key IN ({{values}})"
    return {row.key: row for row in map(_checked, select_in(connection, statement, keys))}


def facts_of(connection: sqlite3.Connection, key: int) -> FactsRow:
    """Return the facts of one table that is there.

    Raises:
        IndexDamagedError: It has none, or they are not as they were written.
    """
    found = read_facts(connection, [key])
    if key not in found:
        raise damaged("a table's facts are missing")
    return found[key]


def insert_facts(
    connection: sqlite3.Connection, rows: Iterable[tuple[int, int, TableFacts]]
) -> int:
    """Write facts, each with its number and its table's key; returns the sum of their checksums."""
    values = []
    for seq, key, facts in rows:
        blob = to_blob(facts_text(facts))
        values.append((seq, key, blob, facts_sum(seq, key, blob)))
    connection.executemany(f"INSERT INTO facts ({_COLUMNS}) VALUES (?, ?, ?, ?)", values)
    return wrapped(sum(checksum for *_, checksum in values))


def _checked(row: Sequence[Any]) -> FactsRow:
    with reading_rows("the facts of a table"):
        seq, key, blob, checksum = row
        if checksum != facts_sum(seq, key, blob):
            raise damaged(f"facts {seq} are not as they were written")
        return FactsRow(seq, key, facts_from(from_blob(blob)), checksum)
