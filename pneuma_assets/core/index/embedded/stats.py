"""Size, health and compaction of the embedded index; all of it is checked when one asks."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.base import IndexInfo
from pneuma_assets.core.index.embedded.file import (
    FILE_NAME,
    IndexFile,
    Meta,
    check_format,
    damaged,
    read_meta,
)
from pneuma_assets.core.index.embedded.rows import (
    FactsSnapshot,
    read_packed,
    read_tables,
    unpack_blocks,
    unpack_evidence,
)
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.sqlite_wal import checkpoint

GREEN = "green"
_LOCK_TIMEOUT_S = 10.0
_FREE_SHARE = 0.1
"""Share of a file's pages that must be unused before it is worth rewriting."""
_QUIET_NS = 100_000_000
"""Changes within some milliseconds may bear the same time, so what is younger is not remembered."""

Stamp = tuple[tuple[int, int, int, int] | None, ...]
"""Device, number, size and time of change of each file."""


@contextmanager
def reading_build(build: Path) -> Iterator[tuple[IndexFile, sqlite3.Connection, Meta]]:
    """Open the file in a build's folder, whatever encoder built it, and read one state of it.

    Raises:
        SearchIndexError: There is no index of this version.
    """
    path = build / FILE_NAME
    with closing(IndexFile(path, _LOCK_TIMEOUT_S)) as file, file.reading() as connection:
        check_format(path, connection)
        yield file, connection, read_meta(connection)


def inspect(build: Path) -> IndexInfo:
    """Return what is in a build's folder; raises as `reading_build`."""
    with reading_build(build) as (file, _, meta):
        return measure(file, meta.identity)


def check(build: Path) -> None:
    """Read all that a build holds.

    Raises:
        IndexDamagedError: Something is not as it was written, or is missing.
        SearchIndexError: It cannot be read.
    """
    with reading_build(build) as (_, connection, meta):
        check_everything(connection, meta)


def measure(file: IndexFile, identity: Identity) -> IndexInfo:
    """Count what the file holds and check all of it against what was written."""
    tables = blocks = 0
    try:
        with file.reading() as connection:
            meta = read_meta(connection)
            tables, blocks = meta.tables, meta.blocks
            check_everything(connection, meta)
        health = GREEN
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
        usable=health == GREEN,
    )


def check_everything(connection: sqlite3.Connection, meta: Meta) -> None:
    """Read all that the index holds, a table at a time; SQLite checks how its pages hang together.

    Raises:
        IndexDamagedError: Something is not as it was written, or is missing.
        sqlite3.Error: SQLite cannot read it.
    """
    (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if verdict != "ok":
        raise damaged(" ".join(str(verdict).split()))
    expected = len(read_tables(connection, meta))
    found = 0
    for table, packed in read_packed(connection):
        unpack_blocks(table, packed, meta.dimension)
        unpack_evidence(table, packed.evidence)
        found += 1
    (kept,) = connection.execute("SELECT count(*) FROM contents").fetchone()
    if not found == kept == expected:
        raise damaged("contents of tables are missing")
    keys = {key for (key,) in connection.execute("SELECT key FROM tables")}
    facts = FactsSnapshot().followed(connection, ())
    if facts.by_key.keys() != keys:
        raise damaged("facts of tables are missing")


def vacuum(file: IndexFile) -> None:
    """Rewrite the file if much of it is unused, and empty the log."""
    with file.connection() as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        (free,) = connection.execute("PRAGMA freelist_count").fetchone()
        if free > pages * _FREE_SHARE:
            connection.execute("VACUUM")
        checkpoint(connection)


class CachedIntegrityCheck:
    """The newest check of one open index that found nothing wrong, until its files change.

    A run asks for the index's health when it begins, when it ends, and in each asset check. Reading
    everything again between two of these would read the same bytes from the same memory.
    """

    def __init__(self) -> None:
        self._sound: tuple[Stamp, IndexInfo] | None = None

    def info(self, file: IndexFile, identity: Identity) -> IndexInfo:
        """Return what `measure` does; checked again unless no file has changed since."""
        before, sound = _stamp(file.path), self._sound
        if sound is not None and sound[0] == before:
            return sound[1]
        info = measure(file, identity)
        after = _stamp(file.path)
        lasting = info.usable and before == after and _is_quiet(after)
        self._sound = (after, info) if lasting else None
        return info


def _stamp(path: Path) -> Stamp:
    """Return what tells states of the index's files apart; None for one that is not there."""

    def of(name: str) -> tuple[int, int, int, int] | None:
        with suppress(FileNotFoundError):
            found = path.with_name(name).stat()
            return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
        return None

    return tuple(of(name) for name in (path.name, f"{path.name}-wal"))


def _is_quiet(stamp: Stamp) -> bool:
    newest = max((one[3] for one in stamp if one is not None), default=0)
    return time.time_ns() - newest >= _QUIET_NS
