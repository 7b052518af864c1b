"""Taking over an index of an older format; no encoder is needed.

The new index is built beside the old one and takes its place. Of format 3, which kept no facts of
tables, and of format 2, which kept no evidence either, the file is copied (`completing`). Format 1
had no checksums: its texts are checked against the block ids, which are their hashes, its vectors
must have length 1, and words are counted anew.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from pneuma_assets.core.errors import IndexDamagedError, SearchIndexError
from pneuma_assets.core.grouping import portions
from pneuma_assets.core.index.base import IndexInfo, TableContents
from pneuma_assets.core.index.embedded.committed import note_committed
from pneuma_assets.core.index.embedded.completing import (
    WITHOUT_EVIDENCE,
    WITHOUT_FACTS,
    complete_copy,
)
from pneuma_assets.core.index.embedded.folder import finish_replacing, replace_folder
from pneuma_assets.core.index.embedded.info import info_of
from pneuma_assets.core.index.embedded.records import BLOCKS_A_TRANSACTION, prepare
from pneuma_assets.core.index.embedded.schema import (
    APPLICATION_ID,
    FILE_NAME,
    open_file,
    version_of,
)
from pneuma_assets.core.index.embedded.sqlite_file import SqliteFile, from_blob, to_blob
from pneuma_assets.core.index.embedded.sums import damaged, reading_rows
from pneuma_assets.core.index.embedded.tables import to_block
from pneuma_assets.core.index.embedded.writer import Writer
from pneuma_assets.core.index.facts_text import UNTOLD
from pneuma_assets.core.index.identity import REBUILD, Identity
from pneuma_assets.core.tables import EmbeddedBlock
from pneuma_assets.core.text.analysis import Analyzer

_WITHOUT_CHECKSUMS = 1
_OLDER = frozenset({_WITHOUT_CHECKSUMS, WITHOUT_EVIDENCE, WITHOUT_FACTS})


def upgrade_if_old(
    folder: Path, identity: Identity, analyzer: Analyzer, lock_timeout: float
) -> None:
    """Bring an index of an older format to today's; any other is left as it is.

    Killed at any moment, it leaves the old index or the new one, and is done again.

    Raises:
        IndexMismatchError: The index was built with another encoder, dimension or analyzer.
        IndexDamagedError: It is damaged, as far as its format can tell.
    """
    finish_replacing(folder)
    path = folder / FILE_NAME
    if not path.is_file():
        return
    file = SqliteFile(path, lock_timeout)
    try:
        with file.connection() as connection:
            if not is_old(connection):
                return
        with file.writing() as connection:  # nobody changes it meanwhile
            if file.is_current():  # no other process was faster
                version = version_of(connection)
                anew = version == _WITHOUT_CHECKSUMS
                _check(connection, identity, path, anew=anew)
                replace_folder(
                    folder,
                    lambda fresh: (
                        _copy(connection, fresh, identity, analyzer)
                        if anew
                        else complete_copy(file, fresh, version)
                    ),
                )
    finally:
        file.close()


def is_old(connection: sqlite3.Connection) -> bool:
    """Tell whether a file is an index of an older format that can be taken over."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    return bool(application == APPLICATION_ID) and version_of(connection) in _OLDER


def measure_old(file: SqliteFile) -> IndexInfo:
    """Count what an index of an older format holds."""
    with file.reading() as connection:
        identity = _identity(connection)
        (tables,) = connection.execute("SELECT count(*) FROM tables").fetchone()
        (blocks,) = connection.execute("SELECT count(*) FROM blocks").fetchone()
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    sound = verdict == "ok"
    health = "of an older version; the next question or run upgrades it"
    if not sound:
        health = f"damaged ({' '.join(verdict.split())}); {REBUILD}"
    return info_of(file, identity, tables, blocks, health, usable=sound)


def _identity(connection: sqlite3.Connection) -> Identity:
    with reading_rows("its description"):
        meta = dict(connection.execute("SELECT name, value FROM meta"))
        return Identity(str(meta["encoder"]), int(meta["dimension"]), str(meta["analyzer"]))


def _check(connection: sqlite3.Connection, identity: Identity, path: Path, *, anew: bool) -> None:
    found = _identity(connection)
    if not (anew and found.is_older(identity)):  # its words are counted anew in any case
        found.check(identity, str(path))
    (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if verdict != "ok":
        raise damaged(" ".join(str(verdict).split()))


def _copy(
    connection: sqlite3.Connection, fresh: Path, identity: Identity, analyzer: Analyzer
) -> None:
    """Write everything that is as it should be into a new index; raises where something is not."""
    counts = connection.execute(
        "SELECT table_id, count(seq) FROM tables LEFT JOIN blocks ON table_key = key"
        " GROUP BY table_id"
    )
    with reading_rows("its tables"):
        sizes = {from_blob(table_id): count for table_id, count in counts}
    target = open_file(fresh, identity, 60.0)
    try:
        for ids in portions(sizes, BLOCKS_A_TRANSACTION):
            # Format 1 kept nothing but blocks of a table.
            tables = {i: TableContents(list(_blocks(connection, i)), facts=UNTOLD) for i in ids}
            if any(len(tables[table_id].blocks) != sizes[table_id] for table_id in ids):
                raise damaged("blocks without words")
            _write(target, tables, identity, analyzer)
    finally:
        target.close()


def _write(
    target: SqliteFile,
    tables: dict[str, TableContents],
    identity: Identity,
    analyzer: Analyzer,
) -> None:
    try:
        groups = list(prepare(tables, identity.dimension))
    except SearchIndexError as error:
        raise IndexDamagedError(f"The search index is damaged: {error} {REBUILD}.") from error
    for group in groups:
        with target.writing() as connection:
            writer = Writer(connection, analyzer)
            for table_id, records in group.items():
                writer.replace(table_id, records)
            generation = writer.finish()
        if generation is not None:
            note_committed(target.path.parent, writer.index_id, generation)


def _blocks(connection: sqlite3.Connection, table_id: str) -> Iterator[EmbeddedBlock]:
    rows: Sequence[tuple[bytes, str, bytes, bytes]] = connection.execute(
        "SELECT block_id, kind, text, vector FROM tables JOIN blocks ON table_key = key"
        " JOIN features USING (seq) WHERE table_id = ? ORDER BY seq",
        (to_blob(table_id),),
    ).fetchall()
    with reading_rows(f"a block of table {table_id!r}"):
        for block_id, kind, text, vector in rows:
            block = to_block(to_blob(table_id), to_blob(kind), text, block_id)
            yield EmbeddedBlock(block, np.frombuffer(vector, "<f4"))
