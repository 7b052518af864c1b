"""What keeps a table or a source from being indexed as it should, by the stage that met it."""

from collections.abc import Sequence

from sqlalchemy import bindparam, delete, select

from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.schema import problems
from pneuma_assets.core.store.statements import upsert
from pneuma_assets.core.tables import Problem, source_of

_SHOWN = 200
_CAUSE = select(problems.c.cause).where(
    problems.c.subject == bindparam("subject"), problems.c.stage == bindparam("stage")
)


def shortened(subject: str) -> str:
    """Return enough of a name to recognise it."""
    return f"{subject[:_SHOWN]}…"


class Problems:
    """The part of the store that remembers what went wrong, until it is solved."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def record(self, source: str, stage: str, found: Sequence[Problem]) -> None:
        """Make these the problems of a source at a stage; older ones of that stage are solved."""
        with self._db.write() as connection:
            connection.execute(
                delete(problems).where(problems.c.source == source, problems.c.stage == stage)
            )
            upsert(
                connection,
                problems,
                [
                    {
                        "subject": p.subject if self._db.fits(p.subject) else shortened(p.subject),
                        "source": source,
                        "stage": stage,
                        "cause": p.cause,
                    }
                    for p in found
                ],
            )

    def record_of_table(self, table_id: str, stage: str, cause: str | None) -> None:
        """Keep what is missing of a table that is indexed all the same; None: nothing is."""
        known = self._db.read(_CAUSE, subject=table_id, stage=stage)
        if cause == (known[0].cause if known else None):
            return
        here = (problems.c.subject == table_id, problems.c.stage == stage)
        with self._db.write() as connection:
            connection.execute(delete(problems).where(*here))
            if cause is not None:
                row = {"subject": table_id, "source": source_of(table_id), "cause": cause}
                upsert(connection, problems, [{**row, "stage": stage}])

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
