"""What a tick of the sensor or the schedule decides: one run, or none and why."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import dagster as dg

from jobs.dead_runs import bury_dead_runs, unfinished_runs
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.pipeline.looking import IndexLook
from pneuma_assets.core.pipeline.watching import Watched, watch
from pneuma_assets.core.service.wiring import open_store
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.sources.isolation.guarded import GuardedSource
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.manifest_making import refresh_manifest
from resources.names import Names
from sensors.checking import changed_verdicts
from sensors.past_runs import PastRuns, past_runs

FAIL_EVERY_S = 3600.0
"""How often a tick fails that meets the same broken state at every minute."""

RETRY_FAILED_S = 1800.0
"""How long after the last run failed tables alone are reason for another: what hinders reading
them, a lock or a server that is down, may need more than a minute to pass."""

GO_ON_S = 45.0
"""How long after a run that has left tables the next one is left to the sensor `go_on`."""

WHY = "why"

Decision = dg.RunRequest | dg.SkipReason


class Ticks:
    """Decides for one deployment; lives as long as the process that serves its definitions.

    A state or an index that cannot be used is told by a failed tick, which Dagster shows in red and
    alerts on, but only once an hour: the ticks between are skipped with the same words. So neither
    does the daemon's log fill with tracebacks, nor does a broken deployment look like a quiet one.

    Args:
        loaded: The deployment.
        job: The name of the job that indexes.
        clock: The time in seconds since 1970.
        checks: The name of the job that checks, which is asked for where nothing is to be indexed
            and a check would come out otherwise than it did; None where it cannot be asked for.
    """

    def __init__(
        self,
        loaded: LoadedDeployment,
        job: str,
        clock: Callable[[], float] = time.time,
        *,
        checks: str | None = None,
    ) -> None:
        self._loaded = loaded
        self._job = job
        self._checks = checks
        self._clock = clock
        self._look = IndexLook(loaded, os.environ, clock)
        self._why = f"{Names.of(loaded.deployment).identifier}/{WHY}"
        self._failed_at: float | None = None
        self._one = threading.Lock()

    def decide(self, instance: dg.DagsterInstance, *, leave_to_go_on: bool = False) -> Decision:
        """Watch the sources; ask for a run if there is work, none works and none failed just now.

        Args:
            instance: Whose runs count.
            leave_to_go_on: Let the sensor `go_on` continue a run that has just ended.

        Raises:
            dagster.Failure: The state, the index or the configuration cannot be used; at most once
                in `FAIL_EVERY_S`.
        """
        if not self._one.acquire(blocking=False):  # Dagster gives a tick up, and begins the next
            return dg.SkipReason("An earlier tick still lists the sources.")
        try:
            return self._decide_alone(instance, leave_to_go_on=leave_to_go_on)
        finally:
            self._one.release()

    def _decide_alone(self, instance: dg.DagsterInstance, *, leave_to_go_on: bool) -> Decision:
        try:
            with open_store(self._loaded, os.environ) as store:
                refresh_manifest(store, self._loaded.deployment)
                decision = self._decide(instance, store, leave_to_go_on=leave_to_go_on)
        except PneumaError as error:
            return self._broken(str(error))
        self._failed_at = None
        return decision

    def _decide(
        self, instance: dg.DagsterInstance, store: Store, *, leave_to_go_on: bool
    ) -> Decision:
        bury_dead_runs(self._loaded, instance, store, self._job)
        working = unfinished_runs(self._loaded, instance, self._job)
        if working:
            return dg.SkipReason(f"Run {working[0].run_id} is still running.")
        with opened_sources(self._loaded) as sources:
            look = partial(self._look.reasons, store)
            seen = watch(store, sources, self._loaded.deployment.indexing, look)
        past, now = past_runs(self._loaded, instance, store, self._job), self._clock()
        reasons = self._reasons(seen, past, now)
        if not reasons:
            return self._check(instance, store, seen)
        if now < past.next_at():
            return dg.SkipReason(_waiting(reasons, past, seen))
        if leave_to_go_on and _goes_on(store, past, now):
            return dg.SkipReason(f"{', '.join(reasons)}; the sensor go_on asks for the next run.")
        return dg.RunRequest(job_name=self._job, tags={self._why: ", ".join(reasons)})

    def _check(self, instance: dg.DagsterInstance, store: Store, seen: Watched) -> Decision:
        """Let people know what the tick has found: held tables and lost sources bring no run."""
        told = _sentence(seen.told())
        if self._checks is None:
            return dg.SkipReason(told)
        changed = changed_verdicts(self._loaded, store, instance)
        if not changed:
            return dg.SkipReason(told)
        bury_dead_runs(self._loaded, instance, store, self._checks)
        if working := unfinished_runs(self._loaded, instance, self._checks):
            return dg.SkipReason(f"Run {working[0].run_id} checks. {told}")
        past = past_runs(self._loaded, instance, store, self._checks)
        why = f"news of {', '.join(changed)}"
        if self._clock() < past.next_at():
            return dg.SkipReason(_waiting([why], past, seen))
        return dg.RunRequest(job_name=self._checks, tags={self._why: why})

    def _reasons(self, seen: Watched, past: PastRuns, now: float) -> list[str]:
        rested = past.ended_at is None or now >= past.ended_at + RETRY_FAILED_S
        if seen.reasons or not (seen.to_do.failed and rested) or seen.no_source:
            return seen.reasons
        return [f"tables that failed are tried again: {seen.to_do.failed:,}"]

    def _broken(self, why: str) -> dg.SkipReason:
        now = self._clock()
        if self._failed_at is None or now >= self._failed_at + FAIL_EVERY_S:
            self._failed_at = now
            raise dg.Failure(why)
        return dg.SkipReason(f"Nothing can be indexed: {why}")


@contextmanager
def opened_sources(loaded: LoadedDeployment) -> Iterator[list[Source]]:
    """Open every source as a run does, for as long as the `with` block lasts.

    Raises:
        ConfigError: A variable that holds a secret of a source is not set.
    """
    limits, base = loaded.deployment.limits, Path(loaded.base)
    with ExitStack() as stack:
        yield [
            stack.enter_context(closing(GuardedSource(one.resolved(base), os.environ, limits)))
            for one in loaded.deployment.sources
        ]


def _goes_on(store: Store, past: PastRuns, now: float) -> bool:
    """Tell whether the newest run has left tables so shortly ago that `go_on` may not know."""
    if past.newest is None or past.in_vain or past.ended_at is None:
        return False
    read = store.runs.stages(past.newest.run_id).get("raw_tables")
    left = read is not None and read.figures.get("waiting", 0)
    return bool(left) and now < past.ended_at + GO_ON_S


def _waiting(reasons: list[str], past: PastRuns, seen: Watched) -> str:
    at = datetime.fromtimestamp(past.next_at(), UTC).isoformat(sep=" ", timespec="seconds")
    runs = "run" if past.in_vain == 1 else f"{past.in_vain} runs"
    return (
        f"{', '.join(reasons)}, but the last {runs} failed or had nothing to do: it goes on at "
        f"{at}, or as soon as a run that somebody starts succeeds. {_sentence(seen.told())}"
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
