"""What a tick of the sensor or the schedule decides: one run, or none and why."""

import os
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path

import dagster as dg

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.pipeline.events import consume_events
from pneuma_assets.core.pipeline.watch import (
    IndexStaleness,
    TickBudget,
    WorkFound,
    check_for_work,
    slow_and_due,
)
from pneuma_assets.core.service.sources import open_sources
from pneuma_assets.core.service.state import open_store
from pneuma_assets.core.sources.files.s3_events import SqsMailbox
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.dagster_manifest_write import refresh_manifest
from pneuma_assets.jobs.dead_runs import fail_orphaned_runs, unfinished_runs
from pneuma_assets.jobs.index_tables import op_config, run_tags
from pneuma_assets.resources.names import Names
from pneuma_assets.sensors.checks import changed_verdicts

FINISHED = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
FIRST_WAIT_S = 120.0
LONGEST_WAIT_S = 3600.0
_MOST = 30
"""Runs that are looked at; after six the wait does not grow: 2, 4, 8, 16, 32 minutes, an hour."""

_ROOT = "dagster/root_run_id"
"""The tag of a run that was executed again: which run was the first of them."""


@dataclass(frozen=True, slots=True)
class PastRuns:
    """How the runs of a job ended.

    Attributes:
        in_vain: How many of the newest in a row failed, were cancelled or had nothing to do. One
            that was executed again counts once.
        ended_at: When the newest ended, in seconds since 1970; None where there was none.
        newest: The newest run, if any.
    """

    in_vain: int = 0
    ended_at: float | None = None
    newest: dg.DagsterRun | None = None

    def next_at(self) -> float:
        """Return before when no other run is asked for, in seconds since 1970."""
        if self.ended_at is None or not self.in_vain:
            return 0.0
        return self.ended_at + min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0 ** (self.in_vain - 1))


def past_runs(
    loaded: LoadedDeployment, instance: dg.DagsterInstance, store: Store, job: str
) -> PastRuns:
    """Return how this deployment's runs of a job ended, those included that people started."""
    chosen = dg.RunsFilter(job_name=job, statuses=FINISHED, tags=run_tags(loaded))
    records = instance.get_run_records(chosen, limit=_MOST)
    if not records:
        return PastRuns()
    in_vain: set[str] = set()
    for record in records:
        run = record.dagster_run
        if run.status == dg.DagsterRunStatus.SUCCESS and has_worked(store, run.run_id):
            break
        in_vain.add(run.tags.get(_ROOT, run.run_id))
    newest = records[0]
    ended = newest.end_time or newest.update_timestamp.timestamp()
    return PastRuns(len(in_vain), ended, newest.dagster_run)


def has_worked(store: Store, run_id: str) -> bool:
    """Tell whether a run changed a table, who may see one, or which index is asked.

    Where the store does not know the run any more, it is taken to have worked.
    """
    stages = store.runs.stages(run_id)
    if not stages:
        return True
    counted = {
        "raw_tables": ("claimed", "begun anew", "other readers"),
        "search_index": ("tables", "removed", "renamed", "forgotten", "published"),
    }
    return any(
        stages[stage].figures.get(name, 0)
        for stage, names in counted.items()
        if stage in stages
        for name in names
    )


FAIL_EVERY_S = 3600.0
"""How often a tick fails that meets the same broken state at every minute."""

GO_ON_S = 45.0
"""How long after a run that has left tables the next one is left to the sensor `go_on`."""

WHY = "why"

Decision = dg.RunRequest | dg.SkipReason


class Ticks:
    """Decides for one deployment; lives as long as the process that serves its definitions.

    A state or an index that cannot be used is told by a failed tick, which Dagster shows in red,
    once an hour: the ticks between are skipped with the same words.

    Args:
        loaded: The deployment.
        job: The name of the job that indexes.
        clock: The time in seconds since 1970.
        checks: The name of the job that checks, where it can be asked for.
        scans: The name of the job that lists slow sources; None: they are listed here.
    """

    def __init__(
        self,
        loaded: LoadedDeployment,
        job: str,
        clock: Callable[[], float] = time.time,
        *,
        checks: str | None = None,
        scans: str | None = None,
    ) -> None:
        self._loaded = loaded
        self._job = job
        self._checks = checks
        self._scans = scans
        self._clock = clock
        self._look = IndexStaleness(loaded, os.environ, clock)
        self._names = Names.of(loaded.deployment)
        self._why = f"{self._names.identifier}/{WHY}"
        self._failed_at: float | None = None
        self._one = threading.Lock()
        self._me = uuid.uuid4().hex

    def decide(self, instance: dg.DagsterInstance, *, leave_to_go_on: bool = False) -> Decision:
        """Watch the sources; ask for a run if there is work, none works and none failed just now.

        With `leave_to_go_on`, the sensor `go_on` continues a run that has just ended.

        Raises:
            dagster.Failure: State, index or configuration cannot be used; once in `FAIL_EVERY_S`.
        """
        if not self._one.acquire(blocking=False):  # Dagster gives a tick up, and begins the next
            return dg.SkipReason("An earlier tick still lists the sources.")
        try:
            with open_store(self._loaded, os.environ) as store:
                refresh_manifest(store, self._loaded.deployment)
                decision = self._decide(instance, store, leave_to_go_on=leave_to_go_on)
        except PneumaError as error:
            return self._broken(str(error))
        finally:
            self._one.release()
        self._failed_at = None
        return decision

    def _decide(
        self, instance: dg.DagsterInstance, store: Store, *, leave_to_go_on: bool
    ) -> Decision:
        if (scan := self._scan(instance, store)) is not None:
            return scan
        began, budget = store.now(), TickBudget()
        fail_orphaned_runs(self._loaded, instance, store, self._job)
        working = unfinished_runs(self._loaded, instance, self._job)
        if working:
            return dg.SkipReason(f"Run {working[0].run_id} is still running.")
        rests = consume_events(store, self._configs, self._mailboxes, budget)
        with ExitStack() as stack:
            opened = open_sources(self._loaded, os.environ)
            sources = [stack.enter_context(closing(source)) for source in opened]
            look, config = partial(self._look.reasons, store), self._loaded.deployment.indexing
            seen = check_for_work(
                store,
                sources,
                config,
                look,
                rests=rests,
                leave_slow=self._scans is not None,
                budget=budget,
            )
        reasons = self._reasons(seen)
        if not reasons:
            return self._check(instance, store, seen)
        past, now = past_runs(self._loaded, instance, store, self._job), self._clock()
        if now < past.next_at():
            return dg.SkipReason(_waiting(reasons, past, seen))
        if leave_to_go_on and _goes_on(store, past, now):
            return dg.SkipReason(f"{', '.join(reasons)}; the sensor go_on asks for the next run.")
        return self._ask(instance, store, seen, began)

    def _ask(
        self, instance: dg.DagsterInstance, store: Store, seen: WorkFound, began: float
    ) -> Decision:
        """Ask for the run, unless another sensor or schedule has asked for it meanwhile."""
        reasons = self._reasons(seen)
        ours = dg.RunsFilter(job_name=self._job, tags=run_tags(self._loaded))
        made = [one.create_timestamp for one in instance.get_run_records(ours, limit=1)]
        newest = made[0].timestamp() if made else None
        if not store.runs.lock_request(self._me, began, newest):
            return dg.SkipReason(f"{', '.join(reasons)}; another sensor has asked for a run.")
        left = [*seen.slow, *seen.rested]
        asked = {"patient": True, **({"as_listed": left} if left else {})}
        return dg.RunRequest(
            job_name=self._job,
            run_config=op_config(self._names, "raw_tables", **asked),
            tags={self._why: ", ".join(reasons)},
        )

    @cached_property
    def _configs(self) -> list[SourceConfig]:
        base = Path(self._loaded.base)
        return [one.resolved(base) for one in self._loaded.deployment.sources]

    @cached_property
    def _mailboxes(self) -> dict[str, SqsMailbox]:
        """Where sources tell of changes; their clients live as long as this."""
        found = {one.name: one.mailbox(os.environ) for one in self._configs}
        return {name: mailbox for name, mailbox in found.items() if mailbox is not None}

    def _scan(self, instance: dg.DagsterInstance, store: Store) -> dg.RunRequest | None:
        """Ask for a run that lists the sources for which no tick has time, also while one works."""
        names = [source.name for source in self._loaded.deployment.sources]
        if self._scans is None or not (due := slow_and_due(store, names)):
            return None
        fail_orphaned_runs(self._loaded, instance, store, self._scans)
        if unfinished_runs(self._loaded, instance, self._scans):
            return None
        if self._clock() < past_runs(self._loaded, instance, store, self._scans).next_at():
            return None
        return dg.RunRequest(
            job_name=self._scans,
            run_config=op_config(self._names, "list_sources", only=due),
            tags={self._why: f"no tick has time to list {', '.join(due)}"},
        )

    def _check(self, instance: dg.DagsterInstance, store: Store, seen: WorkFound) -> Decision:
        """Let people know what the tick has found: held tables and lost sources bring no run."""
        told = _sentence(seen.told())
        # What somebody else is finding out is not news yet: who lists asks for the run.
        if self._checks is None or seen.elsewhere:
            return dg.SkipReason(told)
        changed = changed_verdicts(self._loaded, store, instance)
        if not changed:
            return dg.SkipReason(told)
        fail_orphaned_runs(self._loaded, instance, store, self._checks)
        if working := unfinished_runs(self._loaded, instance, self._checks):
            return dg.SkipReason(f"Run {working[0].run_id} checks. {told}")
        past = past_runs(self._loaded, instance, store, self._checks)
        why = f"news of {', '.join(changed)}"
        if self._clock() < past.next_at():
            return dg.SkipReason(_waiting([why], past, seen))
        return dg.RunRequest(job_name=self._checks, tags={self._why: why})

    def _reasons(self, seen: WorkFound) -> list[str]:
        if seen.reasons or not seen.to_do.failed or seen.no_source:
            return seen.reasons
        return [f"tables that failed or are incomplete are tried again: {seen.to_do.failed:,}"]

    def _broken(self, why: str) -> dg.SkipReason:
        now = self._clock()
        if self._failed_at is None or now >= self._failed_at + FAIL_EVERY_S:
            self._failed_at = now
            raise dg.Failure(why)
        return dg.SkipReason(f"Nothing can be indexed: {why}")


def _goes_on(store: Store, past: PastRuns, now: float) -> bool:
    """Tell whether the newest run has left tables so shortly ago that `go_on` may not know."""
    if past.newest is None or past.in_vain or past.ended_at is None:
        return False
    read = store.runs.stages(past.newest.run_id).get("raw_tables")
    left = read is not None and read.figures.get("waiting", 0)
    return bool(left) and now < past.ended_at + GO_ON_S


def _waiting(reasons: list[str], past: PastRuns, seen: WorkFound) -> str:
    at = datetime.fromtimestamp(past.next_at(), UTC).isoformat(sep=" ", timespec="seconds")
    runs = "run" if past.in_vain == 1 else f"{past.in_vain} runs"
    return (
        f"{', '.join(reasons)}, but the last {runs} failed or had nothing to do: it goes on at "
        f"{at}, or as soon as a run that somebody starts succeeds. {_sentence(seen.told())}"
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
