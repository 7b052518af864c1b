"""What the embedded index holds, how healthy it is, its compaction and its end."""

import shutil
import sqlite3
import uuid
from pathlib import Path

import numpy as np

from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.base import IndexInfo
from pneuma_assets.core.index.embedded_schema import (
    FILE_NAME,
    check_version,
    recorded_identity,
)
from pneuma_assets.core.index.identity import REBUILD, Identity
from pneuma_assets.core.index.sqlite_file import SqliteFile, from_blob, to_blob, to_kind
from pneuma_assets.core.tables import Block, EmbeddedBlock

_FREE_SHARE = 0.1
"""Share of a file's pages that must be unused before it is worth writing anew."""


def read_blocks(
    connection: sqlite3.Connection, table_id: str, dimension: int
) -> list[EmbeddedBlock]:
    """Return one table's blocks in the order in which they were written."""
    rows = connection.execute(
        "SELECT kind, text, vector FROM tables JOIN blocks ON table_key = key"
        " JOIN features USING (seq) WHERE table_id = ? ORDER BY seq",
        (to_blob(table_id),),
    )
    found = []
    for kind, text, stored in rows:
        vector = np.frombuffer(stored, "<f4").astype(np.float32)
        if vector.shape != (dimension,):
            raise SearchIndexError(
                f"The search index holds a vector of length {len(vector)} for table "
                f"{table_id!r}; it is damaged: {REBUILD}."
            )
        found.append(EmbeddedBlock(Block(table_id, to_kind(kind), from_blob(text)), vector))
    return found


def measure(file: SqliteFile, identity: Identity) -> IndexInfo:
    """Count what the file holds and check every page of it."""
    tables = blocks = 0
    try:
        with file.reading() as connection:
            health = _check(connection)
            (tables,) = connection.execute("SELECT count(*) FROM tables").fetchone()
            (blocks,) = connection.execute("SELECT count(*) FROM blocks").fetchone()
    except SearchIndexError as error:
        health = str(error)
    return IndexInfo(
        engine="embedded",
        encoder=identity.encoder,
        dimension=identity.dimension,
        tables=tables,
        blocks=blocks,
        size_bytes=file.size_bytes(),
        health=health,
        details={"file": str(file.path), "analyzer": identity.analyzer},
        usable=health == "green",
    )


def inspect(folder: Path) -> IndexInfo | None:
    """Return what is in a folder, whatever encoder built it; None if there is no index.

    Raises:
        SearchIndexError: There is a file, but no index of this version.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        return None
    file = SqliteFile(path, lock_timeout=10.0)
    try:
        with file.reading() as connection:
            check_version(path, connection)
            identity = recorded_identity(connection)
        return measure(file, identity)
    finally:
        file.close()


def vacuum(file: SqliteFile) -> None:
    """Write the file anew if much of it is unused, and empty the log."""
    with file.connection() as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        (free,) = connection.execute("PRAGMA freelist_count").fetchone()
        if free > pages * _FREE_SHARE:
            connection.execute("VACUUM")
        # Readers of an older state keep some of the log; the next call empties it.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def discard(folder: Path) -> None:
    """Remove an embedded index, whatever its state; open readers then open the next one.

    The folder is renamed first, so that a kill in between leaves no half of a database behind.
    """
    condemned = folder.with_name(f"{folder.name}.discarded-{uuid.uuid4().hex}")
    try:
        if folder.exists():
            folder.rename(condemned)
        for leftover in folder.parent.glob(f"{folder.name}.discarded-*"):
            shutil.rmtree(leftover)
    except OSError as error:
        raise SearchIndexError(
            f"The search index {folder} cannot be removed: {error.strerror}; remove it by hand."
        ) from error


def _check(connection: sqlite3.Connection) -> str:
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        return f"damaged ({verdict}); {REBUILD}"
    (strays,) = connection.execute(
        "SELECT (SELECT count(*) FROM blocks WHERE seq NOT IN (SELECT seq FROM features))"
        " + (SELECT count(*) FROM features WHERE seq NOT IN (SELECT seq FROM blocks))"
    ).fetchone()
    return f"{strays} blocks are incomplete; {REBUILD}" if strays else "green"
