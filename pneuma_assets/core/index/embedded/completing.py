"""Taking over an index of format 2 or 3: its file is copied, and the copy completed.

Nothing is counted anew. Everything is checked in the copy, whose rows then tell of what its format
did not keep, too: of evidence (`format_2`), and of facts (`format_3`).
"""

import sqlite3
from contextlib import closing
from pathlib import Path

from pneuma_assets.core.index.embedded.check import check_everything
from pneuma_assets.core.index.embedded.committed import (
    check_committed,
    note_committed,
    read_committed,
)
from pneuma_assets.core.index.embedded.format_2 import with_evidence
from pneuma_assets.core.index.embedded.format_3 import with_facts
from pneuma_assets.core.index.embedded.meta import FORMAT_2, FORMAT_3, read_meta, write_meta
from pneuma_assets.core.index.embedded.schema import FILE_NAME, SCHEMA_VERSION
from pneuma_assets.core.index.embedded.sqlite_file import SqliteFile

WITHOUT_EVIDENCE, WITHOUT_FACTS = 2, 3
"""The formats that are completed."""


def complete_copy(old: SqliteFile, fresh: Path, version: int) -> None:
    """Make an index of today's format in the folder `fresh` of what the old file holds.

    The caller holds the old file's write lock.

    Raises:
        IndexDamagedError: Something is not as it was written.
    """
    committed = read_committed(old.path.parent)
    fresh.mkdir()
    with old.connection() as source, closing(sqlite3.connect(fresh / FILE_NAME)) as target:
        source.backup(target)
    file = SqliteFile(fresh / FILE_NAME, old.lock_timeout)
    try:
        with file.writing() as connection:
            names = FORMAT_2 if version == WITHOUT_EVIDENCE else FORMAT_3
            meta = read_meta(connection, names)
            check_committed(meta, committed)
            if version == WITHOUT_EVIDENCE:
                meta = with_evidence(connection, meta)
            meta = with_facts(connection, meta)
            write_meta(connection, meta)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            check_everything(connection, read_meta(connection))
        note_committed(fresh, meta.index_id, meta.generation)
    finally:
        file.close()
