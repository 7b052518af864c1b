"""Indexing runs: who is alive, and what each stage of a run did.

Each process of a run holds a lease, a row that it renews for as long as it lives. A run none of
whose leases is in force is dead, and its claims belong to nobody. On the machine that holds the
lease a dead process is seen at once; from elsewhere only the end of the lease tells, by the
database's clock, so that no two machines need agree on the time.
"""

import json
import logging
import multiprocessing
import os
import threading
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.engine import Row

from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.machine import born_at, lives_here, this_machine
from pneuma_assets.core.store.schema import leases, runs, stages
from pneuma_assets.core.store.statements import upsert

logger = logging.getLogger(__name__)

KEPT_RUNS = 100
LEASE_S = 60.0
"""How long a process may be silent before its claims are given to others."""
BEAT_S = LEASE_S / 4


_READING = update(runs).where(runs.c.run_id == bindparam("run")).values(reading=bindparam("table"))


@dataclass(frozen=True, slots=True)
class StageRecord:
    """What one stage of one run did: seconds, and figures by name."""

    stage: str
    seconds: float
    figures: Mapping[str, float]


class Runs:
    """The part of the store that knows about runs."""

    def __init__(self, database: Database) -> None:
        self._db = database

    @contextmanager
    def alive(self, run_id: str) -> Iterator[None]:
        """Count as a process of the run inside the `with` block; a run may have several at once."""
        process = uuid.uuid4().hex
        self._take_lease(process, run_id)
        ended = threading.Event()
        heart = threading.Thread(
            target=self._beat, args=(process, run_id, ended), name=f"lease {run_id}", daemon=True
        )
        heart.start()
        try:
            yield
        finally:
            ended.set()
            heart.join()
            self._end_lease(process)

    def _take_lease(self, process: str, run_id: str) -> None:
        lease = {
            "process": process,
            "run_id": run_id,
            "machine": this_machine(),
            "pid": os.getpid(),
            "born_at": born_at(),
        }
        with self._db.write() as connection:
            # What ended long ago is of no use to anybody.
            connection.execute(
                delete(leases).where(leases.c.expires_at < self._db.clock - 100 * LEASE_S)
            )
            connection.execute(delete(leases).where(leases.c.process == process))
            connection.execute(insert(leases).values(**lease, expires_at=self._db.clock + LEASE_S))

    def _beat(self, process: str, run_id: str, ended: threading.Event) -> None:
        while not ended.wait(BEAT_S):
            try:
                self._take_lease(process, run_id)
            except StateError as error:  # the run itself will tell if it lasts
                logger.warning("The lease of run %s was not renewed: %s", run_id, error)

    def _end_lease(self, process: str) -> None:
        """End a lease now; one of several steps of a run lasts until the next step has begun."""
        between_steps = multiprocessing.parent_process() is not None
        mine = leases.c.process == process
        try:
            with self._db.write() as connection:
                if between_steps:
                    connection.execute(update(leases).where(mine).values(machine=""))
                else:
                    connection.execute(delete(leases).where(mine))
        except StateError as error:  # what the run did counts, or how it failed; not this
            logger.warning("A lease was not ended, and runs out by itself: %s", error)

    def is_alive(self, run_id: str) -> bool:
        """Tell whether some process, this one included, works on the run."""
        return run_id in self.living()

    def living(self) -> set[str]:
        """Return the runs that some process works on."""
        in_force = (leases.c.expires_at > self._db.clock).label("in_force")
        found = self._db.read(
            select(leases.c.run_id, leases.c.machine, leases.c.pid, leases.c.born_at, in_force)
        )
        return {row.run_id for row in found if _lives(row)}

    def begin(self, run_id: str) -> None:
        """Record that a run has begun to work."""
        latest = select(runs.c.run_id).order_by(runs.c.started_at.desc()).limit(KEPT_RUNS)
        with self._db.write() as connection:
            connection.execute(delete(runs).where(runs.c.run_id == run_id))
            connection.execute(insert(runs).values(run_id=run_id, started_at=self._db.clock))
            connection.execute(delete(runs).where(runs.c.run_id.not_in(latest)))
            connection.execute(delete(stages).where(stages.c.run_id.not_in(select(runs.c.run_id))))

    def dead(self, run_ids: Iterable[str]) -> list[str]:
        """Return those of these runs that began to work and whose process is no more."""
        begun = {row.run_id for row in self._db.read(select(runs.c.run_id))}
        living = self.living()
        return [run_id for run_id in run_ids if run_id in begun and run_id not in living]

    def reading(self, run_id: str, table_id: str | None) -> None:
        """Note which table a run is about to read, so that one that kills it can be told."""
        with self._db.write() as connection:
            connection.execute(_READING, {"run": run_id, "table": table_id})

    def record(self, run_id: str, record: StageRecord) -> None:
        """Keep what a stage did."""
        figures = json.dumps(dict(record.figures))
        with self._db.write() as connection:
            upsert(
                connection,
                stages,
                [
                    {
                        "run_id": run_id,
                        "stage": record.stage,
                        "seconds": record.seconds,
                        "figures": figures,
                    }
                ],
            )

    def stages(self, run_id: str) -> dict[str, StageRecord]:
        """Return what each stage of a run did, by stage."""
        found = self._db.read(select(stages).where(stages.c.run_id == run_id))
        return {
            row.stage: StageRecord(row.stage, row.seconds, json.loads(row.figures)) for row in found
        }


def _lives(lease: Row[tuple[str, str, int, float, bool]]) -> bool:
    """Tell whether a lease is in force; here the process itself is the better witness."""
    if lease.machine == this_machine():
        return lives_here(lease.pid, lease.born_at)
    return bool(lease.in_force)
