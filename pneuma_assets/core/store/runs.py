"""Indexing runs: who is alive, and what each stage of a run did.

Each process of a run holds a lock file of its own for as long as it lives. The operating system
drops the lock when the process dies, however it dies, so a claim of a run none of whose files is
locked belongs to nobody.
"""

import json
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from filelock import FileLock, Timeout

from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store.database import Database

KEPT_RUNS = 100
LOCK_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class StageRecord:
    """What one stage of one run did: seconds, and figures by name."""

    stage: str
    seconds: float
    figures: Mapping[str, float]


class Runs:
    """The part of the store that knows about runs."""

    def __init__(self, database: Database, folder: Path) -> None:
        self._db = database
        self._folder = folder

    @contextmanager
    def alive(self, run_id: str) -> Iterator[None]:
        """Count as a process of the run inside the `with` block; a run may have several at once.

        Raises:
            StateError: The state folder cannot hold a lock file.
        """
        path = self._folder / f"{run_id}.{uuid.uuid4().hex}.lock"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(path)
            lock.acquire(timeout=LOCK_TIMEOUT_S)  # another process may try it just now
        except (OSError, Timeout) as error:
            raise StateError(
                f"Cannot lock {str(path)!r} ({error}); check that the state folder is writable and "
                "on a local disk."
            ) from error
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
            lock.release()

    def is_alive(self, run_id: str) -> bool:
        """Tell whether some process, this one included, works on the run."""
        return any(is_held(path) for path in self._folder.glob(f"{escape(run_id)}.*lock"))

    def begin(self, run_id: str) -> None:
        """Record that a run has listed its sources and claimed its tables."""
        with self._db.write() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO runs (run_id, started_at) VALUES (?, ?)",
                (run_id, time.time()),
            )
            connection.execute(
                "DELETE FROM runs WHERE run_id NOT IN"
                " (SELECT run_id FROM runs ORDER BY started_at DESC LIMIT ?)",
                (KEPT_RUNS,),
            )
            connection.execute("DELETE FROM stages WHERE run_id NOT IN (SELECT run_id FROM runs)")

    def dead(self, run_ids: Iterable[str]) -> list[str]:
        """Return those of these runs that began to work and whose process is no more."""
        begun = {row[0] for row in self._db.read("SELECT run_id FROM runs")}
        return [run_id for run_id in run_ids if run_id in begun and not self.is_alive(run_id)]

    def reading(self, run_id: str, table_id: str | None) -> None:
        """Note which table a run is about to read, so that one that kills it can be told."""
        with self._db.write() as connection:
            connection.execute("UPDATE runs SET reading = ? WHERE run_id = ?", (table_id, run_id))

    def record(self, run_id: str, record: StageRecord) -> None:
        """Keep what a stage did."""
        with self._db.write() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO stages VALUES (?, ?, ?, ?)",
                (run_id, record.stage, record.seconds, json.dumps(dict(record.figures))),
            )

    def stages(self, run_id: str) -> dict[str, StageRecord]:
        """Return what each stage of a run did, by stage."""
        rows = self._db.read("SELECT * FROM stages WHERE run_id = ?", (run_id,))
        return {
            row["stage"]: StageRecord(row["stage"], row["seconds"], json.loads(row["figures"]))
            for row in rows
        }


def is_held(path: Path) -> bool:
    """Tell whether a living process holds a lock file; one that a dead process left is removed."""
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    path.unlink(missing_ok=True)
    lock.release()
    return False
