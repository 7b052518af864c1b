"""What keeps a table or a source from being indexed as it should, by the stage that met it."""

from collections.abc import Sequence

from sqlalchemy import delete, select

from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.schema import problems, upsert
from pneuma_assets.core.tables import Problem, source_of

_SHOWN = 200


def shortened(subject: str) -> str:
    """Return enough of a name to recognise it."""
    return f"{subject[:_SHOWN]}…"


class Problems:
    """The part of the store that remembers what went wrong, until it is solved."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def record(self, source: str, stage: str, found: Sequence[Problem]) -> None:
        """Make these the problems of a source at a stage; older ones of that stage are solved."""
        here = problems.c.source == source, problems.c.stage == stage
        row = {"source": source, "stage": stage}
        rows = [{**row, "subject": self._fitting(p.subject), "cause": p.cause} for p in found]
        with self._db.write() as connection:
            connection.execute(delete(problems).where(*here))
            upsert(connection, problems, rows)

    def _fitting(self, subject: str) -> str:
        return subject if self._db.fits(subject) else shortened(subject)

    def record_of_table(self, table_id: str, stage: str, cause: str | None) -> None:
        """Save what is missing of a table that is indexed all the same; None: nothing is."""
        here = problems.c.subject == table_id, problems.c.stage == stage
        known = self._db.read(select(problems.c.cause).where(*here))
        if cause == (known[0].cause if known else None):
            return
        row = {"subject": table_id, "source": source_of(table_id), "stage": stage, "cause": cause}
        with self._db.write() as connection:
            connection.execute(delete(problems).where(*here))
            upsert(connection, problems, [] if cause is None else [row])

    def all(self) -> list[Problem]:
        """Return everything that keeps a table or a source from being indexed as it should."""
        by = (problems.c.subject, problems.c.stage)
        found = self._db.read(select(*by, problems.c.cause).order_by(*by))
        return [Problem(row.subject, row.stage, row.cause) for row in found]

    def unlisted_sources(self) -> list[str]:
        """Return the sources that could not be listed when they were last tried."""
        return [
            problem.subject
            for problem in self.all()
            if problem.stage == "listing" and source_of(problem.subject) == problem.subject
        ]
