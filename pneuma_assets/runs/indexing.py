"""One indexing run from Python or a command line: the Dagster job, executed in this process."""

import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import dagster as dg

from jobs.dead_runs import bury_dead_runs
from jobs.index_tables import index_tables_job
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.index.registry import index_credentials
from pneuma_assets.core.service.wiring import open_store
from pneuma_assets.core.store.records import TableState
from pneuma_assets.core.store.runs import StageRecord
from pneuma_assets.core.tables import Problem, source_of
from pneuma_assets.definitions import build_definitions

DAGSTER_YAML = """\
# Runs recorded here show in the UI: DAGSTER_HOME=<this folder> dagster dev
# No pool has a limit here: a run that waits for its slot in this process would spin. Claims and
# the index's own lock keep two runs out of each other's way; docs/operators.md sets limits.
telemetry:
  enabled: false
nux:
  enabled: false
run_monitoring:
  enabled: true
  free_slots_after_run_end_seconds: 10
"""


class IndexingFailedError(PneumaError):
    """The run stopped before its end; what it finished is kept, and the next run goes on."""


@dataclass(frozen=True, slots=True)
class IndexingReport:
    """What one call of `run_indexing` did; `elsewhere` counts tables that other runs hold."""

    indexed: int
    unchanged: int
    removed: int
    failed: int
    elsewhere: int
    blocks: int
    narrated_columns: int
    seconds: float
    stage_seconds: Mapping[str, float]
    problems: Sequence[Problem]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON types."""
        problems = [{"table": p.subject, "stage": p.stage, "cause": p.cause} for p in self.problems]
        return {**asdict(self), "problems": problems}


def run_indexing(
    loaded: LoadedDeployment, *, sources: Sequence[str] = (), rebuild: bool = False
) -> IndexingReport:
    """Index every table that is new or changed, in as many runs as its number asks for.

    Progress is told to the listeners of `pneuma_assets.core.progress`. The runs are kept in
    DAGSTER_HOME, or else in the state folder, where `dagster dev` shows them.

    Raises:
        IndexingFailedError: A stage could not go on; the message is that of its cause.
        ConfigError: A variable that holds a secret of the index is not set.
    """
    index_credentials(loaded.deployment.index, os.environ)  # a missing one is told in one line
    started = time.monotonic()
    totals: dict[str, StageRecord] = {}
    with _instance(loaded.home) as instance:
        with open_store(loaded, os.environ) as store:
            bury_dead_runs(instance, store)
        while True:
            stages = _one_run(loaded, instance, sources, rebuild=rebuild, retry=not totals)
            totals = {name: _add(totals.get(name), record) for name, record in stages.items()}
            claimed = stages["raw_tables"].figures
            if claimed["waiting"] == 0 or claimed["claimed"] == 0:
                return _report(loaded, totals, sources, time.monotonic() - started)
            rebuild = False
            if claimed["begun anew"]:  # the new index lacks the tables of every source
                sources = ()


def _one_run(
    loaded: LoadedDeployment,
    instance: dg.DagsterInstance,
    sources: Sequence[str],
    *,
    rebuild: bool,
    retry: bool,
) -> dict[str, StageRecord]:
    config = {"only": list(sources), "rebuild": rebuild, "retry": retry}
    job = build_definitions(loaded, with_tables=False).resolve_job_def(index_tables_job.name)
    result = job.execute_in_process(
        instance=instance,
        raise_on_error=False,
        run_config={
            "ops": {"raw_tables": {"config": config}},
            "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
        },
    )
    if not result.success:
        cause = _cause(result)
        if "DagsterExecutionInterruptedError" in cause or cause.endswith(": KeyboardInterrupt"):
            raise KeyboardInterrupt  # Dagster records Ctrl-C as a failure of the step
        raise IndexingFailedError(cause)
    with open_store(loaded, os.environ) as store:
        return store.runs.stages(result.run_id)


def _cause(result: dg.ExecuteInProcessResult) -> str:
    for event in result.all_events:
        if event.is_step_failure:
            data = event.step_failure_data
            if data.user_failure_data is not None and data.user_failure_data.description:
                return data.user_failure_data.description
            if data.error is not None:
                return f"{event.step_key}: {_innermost(data.error)}"
        if event.is_run_failure and event.job_failure_data.error is not None:
            return _innermost(event.job_failure_data.error)
    return "The run failed; its log in the Dagster UI says why."


def _innermost(error: Any) -> str:
    while error.cause is not None:
        error = error.cause
    return " ".join(error.message.split())


@contextmanager
def _instance(home: Path) -> Iterator[dg.DagsterInstance]:
    if os.environ.get("DAGSTER_HOME"):
        instance = dg.DagsterInstance.get()
    else:
        folder = home / "dagster"
        folder.mkdir(parents=True, exist_ok=True)
        settings = folder / "dagster.yaml"
        if not settings.exists():
            settings.write_text(DAGSTER_YAML, encoding="utf-8")
        instance = dg.DagsterInstance.from_config(str(folder))
    with instance:
        yield instance


def _add(before: StageRecord | None, record: StageRecord) -> StageRecord:
    if before is None:
        return record
    figures = Counter(before.figures)
    figures.update(record.figures)
    return StageRecord(record.stage, before.seconds + record.seconds, dict(figures))


def _report(
    loaded: LoadedDeployment,
    stages: Mapping[str, StageRecord],
    sources: Sequence[str],
    seconds: float,
) -> IndexingReport:
    def chosen(subject: str) -> bool:
        return not sources or source_of(subject) in sources

    done = stages["search_index"].figures
    with open_store(loaded, os.environ) as store:
        problems = [p for p in store.problems() if chosen(p.subject)]
        records = [r for r in store.work.records() if chosen(r.table_id)]
    states = Counter(record.state for record in records)
    indexed = int(done["tables"])
    return IndexingReport(
        indexed=indexed,
        unchanged=max(0, states[TableState.INDEXED] - indexed),
        removed=int(done["removed"]),
        failed=states[TableState.FAILED],
        elsewhere=sum(record.claimed for record in records),
        blocks=int(stages["embedding_blocks"].figures["blocks"]),
        narrated_columns=int(stages["schema_narrations"].figures["narrated"]),
        seconds=seconds,
        stage_seconds={name: record.seconds for name, record in stages.items()},
        problems=problems,
    )
