"""The store as its users see it: opens the state, and changes what spans several parts of it."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from pneuma_assets.core.close_once import Closing
from pneuma_assets.core.config.small_sections import StateConfig
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store.access import Access
from pneuma_assets.core.store.asset_keys import OwnedAssetKeys
from pneuma_assets.core.store.catalog import CatalogFacts
from pneuma_assets.core.store.conversations import Conversations
from pneuma_assets.core.store.dagster_manifest import Folder, Place, Server
from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.descriptions import Descriptions
from pneuma_assets.core.store.documents import DocumentStore, UserContext
from pneuma_assets.core.store.edges import Edges, Origin
from pneuma_assets.core.store.embeddings import (
    FILE_NAME,
    EmbeddingCache,
    Embeddings,
    HeaderVectors,
    SharedEmbeddings,
)
from pneuma_assets.core.store.joins import Joins
from pneuma_assets.core.store.keys import MADE, AccessKeys
from pneuma_assets.core.store.knowledge import KnowledgeStore
from pneuma_assets.core.store.listings import Listings
from pneuma_assets.core.store.narrations import NarrationCache
from pneuma_assets.core.store.postgresql_database import PostgreSQL, PostgreSQLDatabase, server_of
from pneuma_assets.core.store.privacy import Privacy
from pneuma_assets.core.store.problems import Problems
from pneuma_assets.core.store.profiles import Profiles, Statistics
from pneuma_assets.core.store.questions import Questions
from pneuma_assets.core.store.queue import Queue
from pneuma_assets.core.store.removals import Removals
from pneuma_assets.core.store.renaming import Renaming
from pneuma_assets.core.store.runs import Runs
from pneuma_assets.core.store.sqlite_database import StateDatabase
from pneuma_assets.core.store.tables import Tables
from pneuma_assets.core.store.usage import Usage
from pneuma_assets.core.store.user_edits_journal import FILE_NAME as JOURNAL
from pneuma_assets.core.tables import Document, DocumentKind

MAX_CONTEXT_CHARS = 200_000


def _has_lost_its_state(file: Path) -> bool:
    """Tell whether a home that was used has neither a state nor what people said, keys included."""
    if (file.exists() and file.stat().st_size) or (file.parent / JOURNAL).exists():
        return False
    others = (FILE_NAME, "tables.manifest", "index/CURRENT")
    return any((file.parent / one).exists() for one in others)


class Store(Closing):
    """Everything the project remembers; several processes, or machines, may use it at once.

    Raises `StateError` from any method where it cannot be read or written.
    """

    def __init__(self, at: Path | PostgreSQL) -> None:
        """Open a file or a server's schema, making it where there is none."""
        self._db: Database
        self.embeddings: Embeddings
        lost = isinstance(at, Path) and _has_lost_its_state(at)  # before the file is made
        if isinstance(at, PostgreSQL):
            self._db = PostgreSQLDatabase(at)
            self.embeddings = SharedEmbeddings(self._db)
            self.manifests: Place = Server(self._db)
        else:
            self._db = StateDatabase(at)
            self.embeddings = EmbeddingCache(at.with_name(FILE_NAME))
            self.manifests = Folder(at.parent)
        self.runs = Runs(self._db)
        self.problems = Problems(self._db)
        self.tables = Tables(self._db)
        self.listings = Listings(self._db)
        self.removals = Removals(self._db)
        self.renaming = Renaming(self._db)
        self.queue = Queue(self._db, self.runs)
        self.profiles = Profiles(self._db)
        self.statistics = Statistics(self._db)
        self.descriptions = Descriptions(self._db)
        self.narrations = NarrationCache(self._db)
        self.documents = DocumentStore(self._db)
        self.headers = HeaderVectors(self._db, self.embeddings)
        self.edges = Edges(self._db)
        self.joins = Joins(self._db)
        self.access = Access(self._db)
        self.privacy = Privacy(self._db)
        self.asset_keys = OwnedAssetKeys(self._db)
        self.questions = Questions(self._db)
        self.catalog = CatalogFacts(self._db)
        self.keys = AccessKeys(self._db, at.with_name(MADE) if isinstance(at, Path) else None)
        if lost:
            self.keys.mark_made()
        self.usage = Usage(self._db, self.embeddings)
        self.conversations = Conversations(self._db)
        self.knowledge = KnowledgeStore(self._db)

    def now(self) -> float:
        """Return the time, in seconds since 1970, by the clock that all who share this go by."""
        return self._db.now()

    def mark_changed(
        self,
        tables: Mapping[str, Collection[str]],
        others: Mapping[str, Collection[str]],
        reason: str,
    ) -> None:
        """Save that tables have changed: known ones wait, and their sources are to be listed.

        Args:
            tables: Ids of known tables, by source.
            others: Other names, by source; none of a source of which nobody knows what changed.
            reason: Who says so, and why: for people.
        """
        with self._db.write():
            for source in sorted({*tables, *others}):
                known = tables.get(source, ())
                self.queue.mark_pending(known)
                self.listings.mark_changed(source, {*known, *others.get(source, ())}, reason)
        self._db.checkpoint()

    def add_context(self, table_id: str, name: str, text: str) -> None:
        """Add what a person knows of a table (Pneuma, section 2); searchable after the next run.

        The table need not be indexed yet. Raises `StateError` for what is empty or oversized.
        """
        if not name.strip() or not text.strip():
            raise StateError("A context needs a name and a text; give both.")
        self._check_names(table_id, name)
        if len(text) > MAX_CONTEXT_CHARS:
            raise StateError(
                f"The context has {len(text)} characters, at most {MAX_CONTEXT_CHARS} are kept; "
                "split it under several names."
            )
        with self._db.write():
            self.documents.add_user_context(table_id, UserContext(name, text))
            self.queue.mark_pending([table_id])
        self._db.checkpoint()

    def remove_context(self, table_id: str, name: str) -> bool:
        """Remove a context that a person added; returns whether there was one of that name."""
        return self._take_back(table_id, lambda: self.documents.remove_user_context(table_id, name))

    def correct(self, table_id: str, column: str | None, text: str, author: str) -> None:
        """Save what a person says of a table (`column` is None) or column; the next run indexes it.

        The table need not be there; an empty text rejects what machines and documents say.
        """
        self._check_names(table_id, column or "")
        with self._db.write():
            self.descriptions.correct(table_id, column, text, author)
            self.queue.mark_pending([table_id])
        self._db.checkpoint()

    def _check_names(self, *names: str) -> None:
        for name in names:
            if not self._db.fits(name):
                raise StateError(
                    f"{name[:80]!r}… has more than {self._db.longest_name} bytes, the most that a "
                    "server keeps; choose a shorter one, or shorten it in the source."
                )

    def withdraw_correction(self, table_id: str, column: str | None) -> bool:
        """Withdraw what a person said; returns whether there was anything."""
        return self._take_back(table_id, lambda: self.descriptions.withdraw(table_id, column))

    def _take_back(self, table_id: str, forget: Callable[[], bool]) -> bool:
        """Forget what a person said of a table, here and in the backup; tells whether they did."""
        with self._db.write():
            forgotten = forget()
            if forgotten:
                self.queue.mark_pending([table_id])
        if forgotten:
            self._db.drop_backup()
            self._db.checkpoint()
        return forgotten

    def link(
        self,
        run_id: str,
        said: Iterable[Origin],
        gone: Iterable[str],
        texts: Callable[[Sequence[str]], Mapping[str, Sequence[Document]]],
        unchanged: Sequence[str] = (),
        also: Collection[str] = (),
    ) -> set[str]:
        """Replace what origins say of tables, and what is written of that, as one act.

        A table whose text is another now is embedded again, and described again where what is said
        of its columns is another. Returns the tables whose texts changed.

        Args:
            run_id: Whose claims are not disturbed.
            said: What each origin says now; those of `gone` say nothing any more.
            gone: Their names.
            texts: Makes the documents about the lineage of tables, once the edges are there.
            unchanged: Other origins; who may see their tables may have changed.
            also: Other tables whose texts may have.
        """
        with self._db.write():
            touched = self.edges.replace(said, gone)
            ends = touched.linked | self.edges.linked(unchanged) | {*also}
            linked = sorted(ends & self.tables.known())
            written = texts(linked)
            before = self.documents.of_kind(DocumentKind.LINEAGE, linked)
            made = {table_id: written.get(table_id, ()) for table_id in linked}
            changed = {i: d for i, d in made.items() if [o.text for o in d] != before.get(i, [])}
            self.documents.replace(DocumentKind.LINEAGE, changed.items())
            others = {*changed} | touched.told
            self.queue.mark_for_embedding(run_id, sorted(others))
            self.queue.mark_for_description(run_id, sorted(touched.described))
        return others

    def check(self) -> None:
        """Raise `StateDamagedError` where the database finds that it is damaged."""
        self._db.check()

    def back_up(self) -> None:
        """Save a copy of a state file, for when it is damaged."""
        self._db.back_up()

    def close(self) -> None:
        """Close the files, or the connections."""
        self.embeddings.close()
        self._db.close()


def open_store(config: StateConfig, file: Path, environ: Mapping[str, str]) -> Store:
    """Open what the project remembers, in a file or where `config` says; make it if need be.

    Raises:
        ConfigError: The variable of a server's password is not set.
        StateError: It cannot be opened.
    """
    return Store(server_of(config, environ) or file)
