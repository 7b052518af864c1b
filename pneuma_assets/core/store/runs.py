"""Indexing runs: who is alive, what each stage of a run did, and who may ask for the next one.

Each process of a run renews a lease for as long as it lives. A run none of whose leases is in force
is dead, and its claims belong to nobody. On its own machine a dead process is seen at once; from
elsewhere only the end of the lease tells, by the database's clock.
"""

import json
import logging
import os
import socket
import threading
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import psutil
from sqlalchemy import Row, and_, bindparam, delete, insert, select, update

from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store.database import StorePart, get_json, put_json
from pneuma_assets.core.store.schema import delete_by, leases, runs, stages, upsert

logger = logging.getLogger(__name__)

KEPT_RUNS = 100
LEASE_S = 60.0
"""How long a process may be silent before its claims are given to others."""
BEAT_S = LEASE_S / 4

REQUEST_LOCK_S = 45.0
"""How long a run may take to show among Dagster's after it was asked for."""

_READING = update(runs).where(runs.c.run_id == bindparam("of")).values(reading=bindparam("table"))
_REQUESTED = "asked for a run"
_SAME_S = 2.0
"""Two readings of when a process began differ by less; another of the same number began later."""

_ENDED: set[str] = set()
"""Leases that this process has ended, be it that the database did not hear of it."""


@dataclass(frozen=True, slots=True)
class StageRecord:
    """What one stage of one run did: seconds, and figures by name."""

    stage: str
    seconds: float
    figures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run: its id, and when it began and ended, in seconds since 1970; None: it has not ended."""

    run_id: str
    started_at: float
    ended_at: float | None


class Runs(StorePart):
    """The part of the store that knows about runs."""

    @contextmanager
    def alive(self, run_id: str) -> Iterator[None]:
        """Count as a process of the run inside the `with` block; a run may have several at once.

        Only a process that is killed leaves a run that is dead.
        """
        lease = {
            "process": uuid.uuid4().hex,
            "run_id": run_id,
            "machine": this_machine(),
            "pid": os.getpid(),
            "born_at": born_at(),
        }
        dead = [row.process for row in self._leases() if not _lives(row)]
        with self._db.write() as connection:  # nobody else ends them
            delete_by(connection, leases.c.process, dead)
        self._take(lease)
        ended = threading.Event()
        heart = threading.Thread(
            target=self._beat, args=(lease, ended), name=f"lease {run_id}", daemon=True
        )
        heart.start()
        try:
            yield
        finally:
            ended.set()
            heart.join()
            self._end(lease)

    def _take(self, lease: Mapping[str, Any]) -> None:
        mine = runs.c.run_id == lease["run_id"]
        with self._db.write() as connection:
            connection.execute(delete(leases).where(leases.c.process == lease["process"]))
            connection.execute(insert(leases).values(**lease, expires_at=self._db.clock + LEASE_S))
            connection.execute(update(runs).where(mine).values(ended_at=None))

    def _beat(self, lease: Mapping[str, Any], ended: threading.Event) -> None:
        while not ended.wait(BEAT_S):
            try:
                self._take(lease)
            except Exception as error:  # noqa: BLE001 (whatever it is may pass; the run will tell)
                logger.warning("The lease of run %s was not renewed: %s", lease["run_id"], error)

    def _end(self, lease: Mapping[str, Any]) -> None:
        """End a lease; its run has died with it for nobody, and was killed by no table."""
        _ENDED.add(lease["process"])
        others = select(leases.c.process).where(leases.c.run_id == lease["run_id"]).exists()
        last = and_(runs.c.run_id == lease["run_id"], ~others)
        ended = update(runs).where(last).values(ended_at=self._db.clock, reading=None)
        try:
            with self._db.write() as connection:
                connection.execute(delete(leases).where(leases.c.process == lease["process"]))
                connection.execute(ended)
        except StateError as error:  # what the run did counts, or how it failed; not this
            logger.warning("A lease was not ended, and runs out by itself: %s", error)

    def living(self) -> set[str]:
        """Return the runs that some process, this one included, works on."""
        return {row.run_id for row in self._leases() if _lives(row)}

    def _leases(self) -> Sequence[Row[Any]]:
        in_force = (leases.c.expires_at > self._db.clock).label("in_force")
        return self._db.read(select(leases, in_force))

    def begin(self, run_id: str) -> None:
        """Record that a run has begun to work."""
        latest = select(runs.c.run_id).order_by(runs.c.started_at.desc()).limit(KEPT_RUNS)
        with self._db.write() as connection:
            connection.execute(delete(runs).where(runs.c.run_id == run_id))
            connection.execute(insert(runs).values(run_id=run_id, started_at=self._db.clock))
            connection.execute(delete(runs).where(runs.c.run_id.not_in(latest)))
            connection.execute(delete(stages).where(stages.c.run_id.not_in(select(runs.c.run_id))))

    def unfinished(self) -> set[str]:
        """Return the runs that began to work and did not end, living or dead."""
        unfinished = select(runs.c.run_id).where(runs.c.ended_at.is_(None))
        return {row.run_id for row in self._db.read(unfinished)}

    def newest(self) -> RunRecord | None:
        """Return the run that began to work last."""
        latest = select(runs).order_by(runs.c.started_at.desc()).limit(1)
        found = self._db.read(latest)
        return next((RunRecord(row.run_id, row.started_at, row.ended_at) for row in found), None)

    def dead(self, run_ids: Iterable[str]) -> list[str]:
        """Return those of these runs that began to work, did not end and have no process."""
        begun = self.unfinished() - self.living()
        return [run_id for run_id in run_ids if run_id in begun]

    def reading(self, run_id: str, table_id: str | None) -> None:
        """Note which table a run is about to read, so that one that kills it can be told."""
        with self._db.write() as connection:
            connection.execute(_READING, {"of": run_id, "table": table_id})

    def record(self, run_id: str, record: StageRecord) -> None:
        """Save what a stage did."""
        row = {"run_id": run_id, "stage": record.stage, "seconds": record.seconds}
        row |= {"figures": json.dumps(dict(record.figures))}
        with self._db.write() as connection:
            upsert(connection, stages, [row])

    def stages(self, run_id: str) -> dict[str, StageRecord]:
        """Return what each stage of a run did, by stage."""
        found = self._db.read(select(stages).where(stages.c.run_id == run_id))
        return {
            row.stage: StageRecord(row.stage, row.seconds, json.loads(row.figures)) for row in found
        }

    def lock_request(self, who: str, began: float, newest_run: float | None) -> bool:
        """Tell whether `who` may ask for a run; from now on nobody else may, until it is there.

        Dagster keeps a sensor from asking twice, not two of them, nor a sensor and a schedule.

        Args:
            who: Tells those apart that ask.
            began: When it began to look for work; what others asked for since is that work.
            newest_run: When the newest run was made; None: there is none.
        """
        with self._db.write():
            now = self._db.now()
            by, at = get_json(self._db, _REQUESTED) or (who, 0.0)
            there = newest_run is not None and newest_run > at
            waits = now - REQUEST_LOCK_S < at <= now and not there
            if by != who and (at >= began or waits):
                return False
            put_json(self._db, _REQUESTED, [who, now])
            return True


def _lives(lease: Row[Any]) -> bool:
    """Tell whether a lease is in force; here the process itself is the better witness."""
    if lease.process in _ENDED:
        return False
    seen = lives_here(lease.pid, lease.born_at) if lease.machine == this_machine() else None
    return bool(lease.in_force) if seen is None else seen


@cache
def this_machine() -> str:
    """Name the place whose processes can be seen from here.

    Containers may share a host's name, and a host is another one once it has started anew.
    """
    address = uuid.getnode()
    known = not address >> 40 & 1  # else each process draws another one
    seen = [socket.gethostname(), f"{address:x}" if known else ""]
    for place in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        try:
            seen.append(
                str(Path(place).readlink()) if "/ns/" in place else Path(place).read_text().strip()
            )
        except OSError:  # not Linux
            seen.append("")
    return "|".join(seen)


def born_at() -> float:
    """Return when this process began, in seconds since 1970."""
    return psutil.Process().create_time()


def lives_here(pid: int, born: float) -> bool | None:
    """Tell whether the process with this number that began then still runs; None: unclear.

    It is where the number is another process's, or the machine's clock was set since.
    """
    try:
        process = psutil.Process(pid)
        if process.status() in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}:
            return False
        return True if abs(process.create_time() - born) < _SAME_S else None
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return None
