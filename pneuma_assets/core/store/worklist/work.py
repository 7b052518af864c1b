"""Which run works on which tables."""

from collections.abc import Sequence

from sqlalchemy import and_, case, func, literal, or_, select, update

from pneuma_assets.core.store import schema
from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.patience import Patience, at_rest, tried_again
from pneuma_assets.core.store.runs import Runs
from pneuma_assets.core.store.schema import tables
from pneuma_assets.core.store.worklist.conditions import AT_HAND, FREE, PENDING, REACHABLE
from pneuma_assets.core.store.worklist.items import Stage, WorkItem, item_of
from pneuma_assets.core.store.worklist.rows import ids_where


class Work:
    """The part of the store that deals out tables to runs."""

    def __init__(self, database: Database, runs: Runs) -> None:
        self._db = database
        self._runs = runs

    def release_claims(self, run_id: str) -> int:
        """Give up the claims of runs that no longer live; returns how many tables they held.

        A table that was being read when its run died may have killed it, and is charged. The
        claims of `run_id`, who asks, stay.
        """
        deadly = select(schema.runs.c.reading).where(schema.runs.c.run_id == tables.c.claimed_by)
        with self._db.write() as connection:
            # Asked before, a run that began meanwhile would be taken for dead.
            dead = tables.c.claimed_by.not_in({run_id, *self._runs.living()})
            connection.execute(
                update(tables)
                .where(dead, tables.c.table_id == deadly.scalar_subquery())
                .values(deaths=tables.c.deaths + 1)
            )
            return connection.execute(update(tables).where(dead).values(claimed_by=None)).rowcount

    def deadly(self, deaths: int) -> list[str]:
        """Return the waiting tables during whose reading at least `deaths` runs died."""
        return ids_where(self._db, PENDING, FREE, AT_HAND, tables.c.deaths >= deaths)

    def claim(
        self,
        run_id: str,
        limit: int,
        max_attempts: int,
        sources: Sequence[str] = (),
        patience: Patience | None = None,
    ) -> int:
        """Take up to `limit` waiting tables for this run, at whatever stage; returns how many.

        One that changed since somebody worked on it, or failed, begins anew. Those of a source that
        cannot be listed wait until it can; with `patience`, so do those that are being written, and
        failed ones until they have rested.
        """
        ready = and_(PENDING, at_rest(self._db.clock, patience))
        waiting = or_(ready, tried_again(self._db.clock, max_attempts, patience))
        chosen = (
            select(tables.c.table_id)
            .where(FREE, AT_HAND, REACHABLE, waiting, tables.c.deaths < max_attempts)
            .where(tables.c.source.in_(sources))
            .order_by(tables.c.attempts, tables.c.table_id)
            .limit(limit)
        )
        begun = and_(
            PENDING,
            tables.c.claimed_version == tables.c.version,
            tables.c.stage != str(Stage.INDEXED),
        )
        held = select(func.count()).select_from(tables).where(tables.c.claimed_by == run_id)
        with self._db.write() as connection:
            connection.execute(
                update(tables)
                .where(tables.c.table_id.in_(chosen))
                .values(
                    claimed_by=run_id,
                    claimed_version=tables.c.version,
                    attempts=tables.c.attempts + 1,
                    stage=case((begun, tables.c.stage), else_=literal(str(Stage.LISTED))),
                )
            )
            return int(connection.execute(held).scalar_one())

    def take(self, run_id: str, ready: Stage) -> list[WorkItem]:
        """Return what this run holds at a stage, and all else that waits there and nobody holds.

        So a stage goes on with what another run has left, or what was never meant to go further.
        """
        left = and_(
            FREE,
            PENDING,
            AT_HAND,
            tables.c.stage == str(ready),
            tables.c.claimed_version == tables.c.version,
        )
        with self._db.write() as connection:
            self.release_claims(run_id)
            connection.execute(update(tables).where(left).values(claimed_by=run_id))
        return self.claimed(run_id, ready)

    def claimed(self, run_id: str, stage: Stage | None = None) -> list[WorkItem]:
        """Return the tables this run holds, ordered by id; failed ones have left it."""
        held = [tables.c.claimed_by == run_id]
        if stage is not None:
            held.append(tables.c.stage == str(stage))
        found = self._db.read(select(tables).where(*held).order_by(tables.c.table_id))
        return [item_of(row) for row in found]
