"""The store as its users see it: work list, narrations, documents, problems, contexts."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from pneuma_assets.core.closing import Closing
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store.asked import Asked
from pneuma_assets.core.store.corrections import Corrections
from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.descriptions import Descriptions
from pneuma_assets.core.store.documents import DocumentStore, UserContext
from pneuma_assets.core.store.drawn import DrawnStates
from pneuma_assets.core.store.edges import Edges, Origin
from pneuma_assets.core.store.embeddings import FILE_NAME, EmbeddingCache, Embeddings
from pneuma_assets.core.store.evidence import EvidenceStore
from pneuma_assets.core.store.facts import Facts
from pneuma_assets.core.store.fingerprints import Fingerprints
from pneuma_assets.core.store.headers import HeaderVectors
from pneuma_assets.core.store.joins import Joins
from pneuma_assets.core.store.listing_times import ListingTimes
from pneuma_assets.core.store.listings import Listings
from pneuma_assets.core.store.manifest.places import Folder, Keeper
from pneuma_assets.core.store.manifest.server import ServerKeeper
from pneuma_assets.core.store.mined import Mined
from pneuma_assets.core.store.narrations import NarrationCache
from pneuma_assets.core.store.notices import Notices
from pneuma_assets.core.store.pages import Pages
from pneuma_assets.core.store.postgresql_database import PostgreSQL, PostgreSQLDatabase
from pneuma_assets.core.store.privacy import Privacy
from pneuma_assets.core.store.problems import Problems
from pneuma_assets.core.store.renaming import Renaming
from pneuma_assets.core.store.runs import Runs
from pneuma_assets.core.store.shared_embeddings import SharedEmbeddings
from pneuma_assets.core.store.sqlite_database import SqliteDatabase
from pneuma_assets.core.store.turns import Turns
from pneuma_assets.core.store.worklist.backlog import Backlog
from pneuma_assets.core.store.worklist.inventory import Inventory
from pneuma_assets.core.store.worklist.known import Tables
from pneuma_assets.core.store.worklist.leaving import Leaving
from pneuma_assets.core.store.worklist.results import Results
from pneuma_assets.core.store.worklist.work import Work
from pneuma_assets.core.tables import Document, DocumentKind, Problem

MAX_CONTEXT_CHARS = 200_000


class Store(Closing):
    """Everything the project remembers; several processes, or machines, may use it at once.

    Raises `StateError` from any method where it cannot be read or written.
    """

    def __init__(self, at: Path | PostgreSQL) -> None:
        """Open a file or a server's schema, making it where there is none."""
        self._db: Database
        self.embeddings: Embeddings
        if isinstance(at, PostgreSQL):
            self._db = PostgreSQLDatabase(at)
            self.embeddings = SharedEmbeddings(self._db)
            self.manifests: Keeper = ServerKeeper(self._db)
        else:
            self._db = SqliteDatabase(at)
            self.embeddings = EmbeddingCache(at.with_name(FILE_NAME))
            self.manifests = Folder(at.parent)
        self.runs = Runs(self._db)
        self.inventory = Inventory(self._db)
        self.backlog = Backlog(self._db)
        self.work = Work(self._db, self.runs)
        self.results = Results(self._db)
        self.leaving = Leaving(self._db)
        self.tables = Tables(self._db)
        self.listings = Listings(self._db)
        self.listing_times = ListingTimes(self._db)
        self.notices = Notices(self._db)
        self.asked = Asked(self._db)
        self.turns = Turns(self._db)
        self.narrations = NarrationCache(self._db, self.runs)
        self.documents = DocumentStore(self._db)
        self.evidence = EvidenceStore(self._db)
        self.drawn = DrawnStates(self._db)
        self.facts = Facts(self._db)
        self.fingerprints = Fingerprints(self._db)
        self.descriptions = Descriptions(self._db)
        self.corrections = Corrections(self._db)
        self.renaming = Renaming(self._db)
        self.edges = Edges(self._db)
        self.joins = Joins(self._db)
        self.headers = HeaderVectors(self._db, self.embeddings)
        self._problems = Problems(self._db)
        self.pages = Pages(self._db)
        self.privacy = Privacy(self._db)
        self.mined = Mined(self._db)

    def now(self) -> float:
        """Return the time, in seconds since 1970, by the clock that all who share this go by."""
        return self._db.now()

    def record_problems(self, source: str, stage: str, problems: Sequence[Problem]) -> None:
        """Make these the problems of a source at a stage; older ones of that stage are solved."""
        self._problems.record(source, stage, problems)

    def record_table_problem(self, table_id: str, stage: str, cause: str | None) -> None:
        """Keep what is missing of a table that is indexed all the same; None: nothing is."""
        self._problems.record_of_table(table_id, stage, cause)

    def problems(self) -> list[Problem]:
        """Return everything that keeps a table or a source from being indexed as it should."""
        return self._problems.all()

    def unlisted_sources(self) -> list[str]:
        """Return the sources that could not be listed when they were last tried."""
        return self._problems.unlisted_sources()

    def note_changed(
        self,
        tables: Mapping[str, Collection[str]],
        others: Mapping[str, Collection[str]],
        reason: str,
    ) -> None:
        """Keep that tables have changed: known ones wait, and their sources are to be listed.

        Args:
            tables: Ids of known tables, by source.
            others: What else has changed, by source: names that no known table has, or nothing for
                a source of which nobody knows what.
            reason: Who says so, and why: for people.
        """
        with self._db.write():
            for source in sorted({*tables, *others}):
                known = tables.get(source, ())
                self.backlog.let_wait(known)
                self.notices.note(source, {*known, *others.get(source, ())}, reason)
        self._db.settle()

    def add_context(self, table_id: str, name: str, text: str) -> None:
        """Add what a person knows of a table (Pneuma, section 2); searchable after the next run.

        The table need not be indexed yet. Raises `StateError` for what is empty or oversized.
        """
        if not name.strip() or not text.strip():
            raise StateError("A context needs a name and a text; give both.")
        if not (self._db.fits(table_id) and self._db.fits(name)):
            raise StateError(
                f"The table's id or the context's name has more than {self._db.longest_name} "
                "bytes, the most that a server keeps; choose a shorter one."
            )
        if len(text) > MAX_CONTEXT_CHARS:
            raise StateError(
                f"The context has {len(text)} characters, at most {MAX_CONTEXT_CHARS} are kept; "
                "split it under several names."
            )
        with self._db.write():
            self.documents.add_user_context(table_id, UserContext(name, text))
            self.backlog.let_wait([table_id])
        self._db.settle()

    def remove_context(self, table_id: str, name: str) -> bool:
        """Remove a context that a person added; returns whether there was one of that name."""
        with self._db.write():
            removed = self.documents.remove_user_context(table_id, name)
            if removed:
                self.backlog.let_wait([table_id])
        if removed:
            self._db.drop_backup()
            self._db.settle()
        return removed

    def user_contexts(self, table_id: str) -> list[UserContext]:
        """Return what people added to a table, ordered by name."""
        return self.documents.user_contexts(table_id)

    def link(
        self,
        run_id: str,
        said: Iterable[Origin],
        gone: Iterable[str],
        texts: Callable[[Sequence[str]], Mapping[str, Sequence[Document]]],
        unheard: Sequence[str] = (),
        also: Collection[str] = (),
    ) -> set[str]:
        """Replace what origins say of tables, and what is written of that, as one act.

        A table whose text is another now is embedded again; nothing else is done with it, unless
        what is said of its columns is another: then it waits to be described anew.

        Args:
            run_id: Whose claims are not disturbed.
            said: What each origin says now.
            gone: Origins that say nothing any more.
            texts: Makes the documents about the lineage of tables, once the edges are there.
            unheard: Origins that say what they said; who may see their tables may be others.
            also: Tables whose texts may be others, whoever told of their lineage.

        Returns:
            The tables whose texts changed.
        """
        kind = DocumentKind.LINEAGE
        with self._db.write():
            touched = self.edges.replace(said, gone)
            ends = touched.linked | self.edges.linked(unheard) | {*also}
            linked = sorted(ends & self.tables.known())
            before = self.documents.of_kind(kind, linked)
            written = texts(linked)
            changed = {
                i: written.get(i, ())
                for i in linked
                if [one.text for one in written.get(i, ())] != before.get(i, [])
            }
            self.documents.replace(kind, changed.items())
            others = changed.keys() | touched.told
            self.backlog.let_embed(run_id, sorted(others))
            self.backlog.let_describe(run_id, sorted(touched.described))
        return set(others)

    def ask_about(
        self,
        questions: Mapping[str, Sequence[Document]],
        seen: Mapping[str, float] | None = None,
    ) -> set[str]:
        """Keep questions that tables answer, in the place of earlier ones, as one act.

        A table whose questions are others now is embedded again; nothing else is done with it.

        Args:
            questions: Documents of the kind `questions`, by table; of some there may be none.
            seen: What `Mined.seen` gave before anything was read of the tables. One that was
                indexed again or forgotten since is left as it is: a rule may have hidden meanwhile
                what was read. None: they were made of nothing that was read.

        Returns:
            The tables whose questions changed.
        """
        kind = DocumentKind.QUESTIONS
        with self._db.write():
            there = self.mined.versions(list(questions)) if seen is None else self.mined.still(seen)
            same = {*questions} & {*there}
            before = self.documents.of_kind(kind, sorted(same))
            changed = {
                i: questions[i]
                for i in sorted(same)
                if [one.text for one in questions[i]] != before.get(i, [])
            }
            self.documents.replace(kind, changed.items())
            self.backlog.let_embed("", changed)
        if changed:
            self._db.settle()
        return set(changed)

    def correct(self, table_id: str, column: str | None, text: str, author: str) -> None:
        """Keep what a person says of a table or column; indexed by the next run.

        Args:
            table_id: The table, which need not be there.
            column: The column's name; None: the table itself.
            text: One line; empty rejects what machines and documents say.
            author: Who says it.

        Raises:
            StateError: A server cannot keep a name as long as one of these.
        """
        if not (self._db.fits(table_id) and self._db.fits(column or "")):
            raise StateError(
                f"The table's id or the column's name has more than {self._db.longest_name} "
                "bytes, the most that a server keeps; shorten it in the source."
            )
        with self._db.write():
            self.corrections.put(table_id, column, text, author)
            self.backlog.let_wait([table_id])
        self._db.settle()

    def withdraw_correction(self, table_id: str, column: str | None) -> bool:
        """Take back what a person said; returns whether there was anything."""
        with self._db.write():
            withdrawn = self.corrections.withdraw(table_id, column)
            if withdrawn:
                self.backlog.let_wait([table_id])
        if withdrawn:
            self._db.drop_backup()
            self._db.settle()
        return withdrawn

    def check(self) -> None:
        """Raise `StateDamagedError` where the database finds that it is damaged."""
        self._db.check()

    def back_up(self) -> None:
        """Keep a copy of a state file, for when it is damaged."""
        self._db.back_up()

    def close(self) -> None:
        """Close the files, or the connections."""
        self.embeddings.close()
        self._db.close()
