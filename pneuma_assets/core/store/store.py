"""The store as its users see it: work list, narrations, documents, problems, contexts."""

from collections.abc import Sequence
from pathlib import Path

from pneuma_assets.core.closing import Closing
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.documents import DocumentStore, UserContext
from pneuma_assets.core.store.embeddings import FILE_NAME, EmbeddingCache
from pneuma_assets.core.store.listings import Listings
from pneuma_assets.core.store.narrations import NarrationCache
from pneuma_assets.core.store.pages import Pages
from pneuma_assets.core.store.runs import Runs
from pneuma_assets.core.store.worklist import WorkList
from pneuma_assets.core.tables import Problem, source_of

MAX_CONTEXT_CHARS = 200_000


class Store(Closing):
    """Everything the project remembers, in one file that several processes may use at once.

    Raises `StateError` from any method where the file cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self._db = Database(path)
        self.path = path
        self.work = WorkList(self._db)
        self.listings = Listings(self._db)
        self.narrations = NarrationCache(self._db)
        self.documents = DocumentStore(self._db)
        self.embeddings = EmbeddingCache(path.with_name(FILE_NAME))
        self.pages = Pages(self._db)
        self.runs = Runs(self._db, path.parent / "runs")

    def record_problems(self, source: str, stage: str, problems: Sequence[Problem]) -> None:
        """Make these the problems of a source at a stage; older ones of that stage are solved."""
        with self._db.write() as connection:
            connection.execute(
                "DELETE FROM problems WHERE source = ? AND stage = ?", (source, stage)
            )
            connection.executemany(
                "INSERT OR REPLACE INTO problems VALUES (?, ?, ?, ?)",
                [(p.subject, source, stage, p.cause) for p in problems],
            )

    def record_table_problem(self, table_id: str, stage: str, cause: str | None) -> None:
        """Keep what is missing of a table that is indexed all the same; None: nothing is."""
        known = self._db.read(
            "SELECT cause FROM problems WHERE subject = ? AND stage = ?", (table_id, stage)
        )
        if cause == (known[0]["cause"] if known else None):
            return
        with self._db.write() as connection:
            connection.execute(
                "DELETE FROM problems WHERE subject = ? AND stage = ?", (table_id, stage)
            )
            if cause is not None:
                connection.execute(
                    "INSERT INTO problems VALUES (?, ?, ?, ?)",
                    (table_id, source_of(table_id), stage, cause),
                )

    def problems(self) -> list[Problem]:
        """Return everything that keeps a table or a source from being indexed as it should."""
        rows = self._db.read("SELECT subject, stage, cause FROM problems ORDER BY subject, stage")
        return [Problem(row["subject"], row["stage"], row["cause"]) for row in rows]

    def unlisted_sources(self) -> list[str]:
        """Return the sources that could not be listed when they were last tried."""
        return [
            problem.subject
            for problem in self.problems()
            if problem.stage == "listing" and source_of(problem.subject) == problem.subject
        ]

    def add_context(self, table_id: str, name: str, text: str) -> None:
        """Add what a person knows of a table (Pneuma, section 2); searchable after the next run.

        The table need not be indexed yet. Raises `StateError` for an empty or oversized text.
        """
        if not name.strip() or not text.strip():
            raise StateError("A context needs a name and a text; give both.")
        if len(text) > MAX_CONTEXT_CHARS:
            raise StateError(
                f"The context has {len(text)} characters, at most {MAX_CONTEXT_CHARS} are kept; "
                "split it under several names."
            )
        self.documents.add_user_context(table_id, UserContext(name, text))
        self.work.let_wait([table_id])
        self._db.settle()

    def remove_context(self, table_id: str, name: str) -> bool:
        """Remove a context that a person added; returns whether there was one of that name."""
        removed = self.documents.remove_user_context(table_id, name)
        if removed:
            self.work.let_wait([table_id])
            self._db.settle()
        return removed

    def user_contexts(self, table_id: str) -> list[UserContext]:
        """Return what people added to a table, ordered by name."""
        return self.documents.user_contexts(table_id)

    def check(self) -> None:
        """Raise `StateDamagedError` unless everything is as it was written."""
        self._db.check()

    def close(self) -> None:
        """Close the file."""
        self.embeddings.close()
        self._db.close()
