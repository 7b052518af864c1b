"""The embedded engine: one SQLite file is the truth, numpy arrays in memory answer.

Both sides are exact: BM25 and cosine are computed for every block of the filter, so nothing is
missed and every block's true score can be had. Why this engine: docs/index-engine.md.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.base import (
    IndexFilter,
    IndexInfo,
    SearchIndex,
    TableContents,
    Tables,
)
from pneuma_assets.core.index.embedded.file import (
    FILE_NAME,
    IndexFile,
    open_file,
    read_meta,
)
from pneuma_assets.core.index.embedded.pointer import (
    Pointer,
    changing,
    look_at,
    new_build,
    point,
    read_pointer,
)
from pneuma_assets.core.index.embedded.rows import (
    FactsSnapshot,
    find_tables,
    look_up,
    read_contents,
    read_evidence,
    read_facts,
    read_tables,
    table_key,
)
from pneuma_assets.core.index.embedded.search import View
from pneuma_assets.core.index.embedded.snapshot import Follower
from pneuma_assets.core.index.embedded.stats import CachedIntegrityCheck, vacuum
from pneuma_assets.core.index.embedded.write import Writer
from pneuma_assets.core.index.identity import Identity, OtherIdentityError
from pneuma_assets.core.sqlite_wal import checkpoint
from pneuma_assets.core.tables import DocumentKind, TableFacts, TableTerms
from pneuma_assets.core.text.analysis import ENGLISH, Analyzer


class EmbeddedIndex(SearchIndex):
    """A search index in a folder, for any number of threads and processes of one machine.

    The first search loads the blocks (about 2 kB each, see `snapshot`); later ones load what has
    changed since. Not to be used across a fork.

    Args:
        folder: Holds the index and nothing else; created if missing.
        encoder: Name of the encoder whose vectors these are.
        dimension: Length of one vector.
        analyzer: How texts and questions become terms.
        lock_timeout: Seconds to wait while another process writes.
        building: Work on the successor where one is being built, not on what readers see.
        create: Make the index where there is none.
        pinned: Work on this build, whatever the pointer says.

    Raises:
        IndexMismatchError: The index was built with another encoder, dimension or analyzer.
        SearchIndexError: The index cannot be opened or created, or there is none.
    """

    group_limits = 1_000, None
    """Small tables share a transaction, since each one waits for the disk."""

    def __init__(
        self,
        folder: Path,
        encoder: str,
        dimension: int,
        *,
        analyzer: Analyzer = ENGLISH,
        lock_timeout: float = 60.0,
        building: bool = False,
        create: bool = True,
        pinned: str | None = None,
    ) -> None:
        super().__init__(Identity(encoder, dimension, analyzer.name), analyzer)
        self._folder = folder
        self._lock_timeout = lock_timeout
        self._building = building
        self._pinned = pinned
        self._reopening = threading.Lock()
        self._checkup = CachedIntegrityCheck()
        if create and read_pointer(folder) is None:
            with changing(folder):
                self._create()
        self._opened = self._open()
        self._is_closed = self._is_changed = False

    @property
    def build(self) -> str:
        """The name of the build's folder."""
        return self._current()[0].build

    def facts(self, table_ids: Sequence[str]) -> dict[str, TableFacts]:
        """Return what is known of these tables, from memory where questions have loaded it."""
        keys = {table_id: table_key(table_id) for table_id in table_ids}
        file, follower = self._current()
        with file.reading() as connection:
            loaded = follower.loaded(connection)
            found = read_facts(connection, [*keys.values()]) if loaded is None else loaded.by_key
        return {i: found[key].facts for i, key in keys.items() if key in found}

    def delete_tables(self, table_ids: Sequence[str]) -> None:
        """Remove tables and their blocks; unknown ids are ignored."""
        with self._writer() as writer:
            writer.delete(table_ids)

    def evidence(self, table_ids: Sequence[str]) -> dict[str, TableTerms]:
        """Return the evidence of these tables; unknown ids are left out."""
        file, follower = self._current()
        with file.reading() as connection:
            tables = find_tables(connection, table_ids, read_meta(connection))
            return {
                table.table_id: follower.evidence.get(
                    table, partial(read_evidence, connection, table)
                )
                for table in tables
            }

    def list_tables(self, readers: Sequence[str] | None = None) -> dict[str, int]:
        """Return every indexed table with its number of blocks, in the order of their ids."""
        with self._current()[0].reading() as connection:
            tables = read_tables(connection, read_meta(connection))
            if readers is not None:
                facts = FactsSnapshot().followed(connection, ())
                seen = set(facts.seen_by(readers).tolist())
                tables = [table for table in tables if table.key in seen]
            return {table.table_id: table.blocks for table in tables}

    def kinds(self, readers: Sequence[str] | None = None) -> frozenset[DocumentKind]:
        """Return the kinds of documents of which there are blocks."""
        where = IndexFilter(readers=None if readers is None else tuple(readers))
        with self._searching(where) as view:
            return view.kinds()

    def contents(
        self, table_ids: Sequence[str] | None = None
    ) -> Iterator[tuple[str, TableContents]]:
        """Yield what is kept, each table as it is when its turn comes.

        Nothing stays open while the caller works: a reader that waits holds up the log.
        """
        with self._current()[0].reading() as connection:
            meta = read_meta(connection)
            if table_ids is None:
                tables = read_tables(connection, meta)
            else:
                tables = find_tables(connection, table_ids, meta)
        for table_id in [table.table_id for table in tables]:
            with self._current()[0].reading() as connection:
                table = look_up(connection, table_id)
                found = None if table is None else read_contents(connection, table, meta.dimension)
            if found is not None:
                yield table_id, found

    def info(self) -> IndexInfo:
        """Return engine, encoder, counts, size on disk and health; a damaged file says so.

        Every row is checked, unless no file has changed since this object checked them last.
        """
        return self._checkup.info(self._current()[0], self.identity)

    def optimise(self) -> None:
        """Give the space of removed blocks back to the disk and empty the write-ahead log."""
        vacuum(self._current()[0])

    @contextmanager
    def unchanging(self) -> Iterator[None]:
        """Hold the write lock."""
        with self._current()[0].writing():
            yield

    def close(self) -> None:
        """Close the file, empty its log after a change, and forget what was loaded."""
        file, _ = self._opened
        self._is_closed = True
        try:
            if self._is_changed:
                self._is_changed = False
                with file.connection() as connection:
                    checkpoint(connection)
        finally:
            file.close()
            self._opened = file, Follower(self.identity.dimension)

    def _replace(self, tables: Tables) -> None:
        with self._writer() as writer:
            for table_id, contents in tables.items():
                writer.replace(table_id, contents)

    def _set_facts(self, facts: Mapping[str, TableFacts]) -> None:
        with self._writer() as writer:
            writer.set_facts(facts)

    @contextmanager
    def _writer(self) -> Iterator[Writer]:
        is_done = False
        while not is_done:
            file, _ = self._current()
            with file.writing() as connection:
                if self._current()[0] is file:  # nothing has taken its place while this waited
                    writer = Writer(connection, self.analyzer)
                    yield writer
                    writer.finish()
                    is_done = self._is_changed = True
        with suppress(SearchIndexError), file.connection() as connection:  # what counts is written
            checkpoint(connection, patient=False)

    @contextmanager
    def _searching(self, where: IndexFilter) -> Iterator[View]:
        """Give the newest state, of which who asks sees a part."""
        file, follower = self._current()
        with file.reading() as connection:
            yield View(connection, follower.current(connection).seen_by(where.readers), where)

    def _create(self) -> None:
        """Make the first build, unless another process was faster."""
        if read_pointer(self._folder) is None:
            point(self._folder, Pointer(new_build(self._folder, self.identity)))

    def _named(self) -> str:
        """Return the build that the pointer names for what this index is opened for."""
        if self._pinned is not None:
            return self._pinned
        pointer = read_pointer(self._folder)
        if pointer is None:
            raise SearchIndexError(
                f"There is no search index in {self._folder} yet: run 'pneuma-assets index'."
            )
        return pointer.written if self._building else pointer.current

    def _open(self) -> tuple[IndexFile, Follower]:
        def opened(build: str) -> IndexFile:
            path = self._folder / build / FILE_NAME
            return open_file(path, self.identity, self._lock_timeout)

        return look_at(self._named, opened), Follower(self.identity.dimension)

    def _current(self) -> tuple[IndexFile, Follower]:
        """Return the open file; another is opened where the pointer leads to another build.

        Who indexes goes on with what is searched where its successor is another encoder's.
        """
        if self._is_closed:
            raise SearchIndexError(f"The search index {self._folder} has been closed.")

        def is_current() -> bool:
            file, _ = self._opened
            return file.build == build and file.is_current()

        build = self._named()
        if not is_current():
            with self._reopening:
                if not is_current():
                    file, _ = self._opened
                    try:
                        self._opened = self._open()
                    except OtherIdentityError:
                        pointer = read_pointer(self._folder)
                        if pointer is None or file.build != pointer.current:
                            raise
                    else:
                        file.close()
        return self._opened
