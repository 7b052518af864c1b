"""What keeps a table or a source from being indexed as it should, by the stage that met it."""

from collections.abc import Mapping, Sequence

from sqlalchemy import delete, select

from pneuma_assets.core.store.database import StorePart
from pneuma_assets.core.store.schema import delete_by, problems, upsert
from pneuma_assets.core.tables import Problem, source_of

ROWS = "rows"
"""The stage of the problem that lines of a table cannot be read; it is indexed all the same."""

WAITS = "embedding"
"""The stage of the problem that a table waits for an encoder that is away."""

SLOW = "time"
"""The stage of the problem that a table took too long to read; it rests also when it changes."""

_SHOWN = 200


def shortened(subject: str) -> str:
    """Return enough of a name to recognise it."""
    return f"{subject[:_SHOWN]}…"


class Problems(StorePart):
    """The part of the store that remembers what went wrong, until it is solved."""

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

    def record_of_tables(self, stage: str, causes: Mapping[str, str | None]) -> None:
        """Save what is missing of tables that are indexed all the same; None: nothing is."""
        here = select(problems.c.subject, problems.c.cause).where(problems.c.stage == stage)
        read = self._db.read_by(here, problems.c.subject, causes)
        known = {row.subject: row.cause for row in read}
        rows = [
            {"subject": i, "source": source_of(i), "stage": stage, "cause": cause}
            for i, cause in causes.items()
            if cause is not None and cause != known.get(i)
        ]
        solved = [i for i in known if causes[i] is None]
        if rows or solved:
            with self._db.write() as connection:
                delete_by(connection, problems.c.subject, solved, problems.c.stage == stage)
                upsert(connection, problems, rows)

    def all(self) -> list[Problem]:
        """Return everything that keeps a table or a source from being indexed as it should."""
        by = (problems.c.subject, problems.c.stage)
        found = self._db.read(select(*by, problems.c.cause).order_by(*by))
        return [Problem(row.subject, row.stage, row.cause) for row in found]

    def unlisted_sources(self) -> list[str]:
        """Return the sources that could not be listed when they were last tried."""
        return [problem.subject for problem in self.of_listing()]

    def of_listing(self) -> list[Problem]:
        """Return why sources could not be listed, of those that could not when last tried."""
        return [
            problem
            for problem in self.all()
            if problem.stage == "listing" and source_of(problem.subject) == problem.subject
        ]
