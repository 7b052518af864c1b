"""One indexing run from Python or a command line: the Dagster job, executed in this process."""

import os
import time
from collections.abc import Sequence
from typing import Any

import dagster as dg

from pneuma_assets.assets.raw_tables import RawTablesConfig, raw_tables
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.index.registry import index_credentials
from pneuma_assets.core.service.choosing import check_sources_known
from pneuma_assets.core.service.wiring import open_store
from pneuma_assets.definitions import build_definitions
from pneuma_assets.jobs.dead_runs import bury_dead_runs
from pneuma_assets.jobs.index_tables import index_tables_name
from pneuma_assets.resources.names import Names
from pneuma_assets.runs.instance import open_instance, remedy_for
from pneuma_assets.runs.report import IndexingReport, RunFigures, make_report


class IndexingFailedError(PneumaError):
    """The run stopped before its end; what it finished is kept, and the next run goes on."""


def run_indexing(
    loaded: LoadedDeployment,
    *,
    sources: Sequence[str] = (),
    rebuild: bool = False,
    accept_removals: bool = False,
) -> IndexingReport:
    """Index every table that is new or changed, in as many runs as its number asks for.

    Progress is told to the listeners of `pneuma_assets.core.progress`. The runs are kept in
    DAGSTER_HOME, or else in the state folder, where `dagster dev` shows them.

    Raises:
        IndexingFailedError: A stage could not go on; the message is that of its cause.
        ConfigError: A source is not configured, or a variable that holds a secret of the index
            is not set.
    """
    check_sources_known(loaded, sources)
    index_credentials(loaded.deployment.index, os.environ)  # a missing one is told in one line
    started = time.monotonic()
    asked = _asked(sources, rebuild=rebuild, retry=True, accept_removals=accept_removals)
    with open_instance(loaded.home) as instance:
        with open_store(loaded, os.environ) as store:
            bury_dead_runs(loaded, instance, store, index_tables_name(loaded))
        done = total = _one_run(loaded, instance, asked)
        while done.read.waiting and done.read.claimed:
            if done.read.begun_anew:  # the new index lacks the tables of every source
                sources = ()
            asked = _asked(sources)
            done = _one_run(loaded, instance, asked)
            total += done
    with open_store(loaded, os.environ) as store:
        return make_report(store, total, sources, time.monotonic() - started)


def _asked(
    sources: Sequence[str],
    *,
    rebuild: bool = False,
    retry: bool = False,
    accept_removals: bool = False,
) -> RawTablesConfig:
    """Return what a person asks for: everything now, and every source listed."""
    return RawTablesConfig(
        only=list(sources),
        rebuild=rebuild,
        retry=retry,
        accept_removals=accept_removals,
        patient=False,
        as_listed=[],
    )


def _one_run(
    loaded: LoadedDeployment, instance: dg.DagsterInstance, asked: RawTablesConfig
) -> RunFigures:
    names = Names.of(loaded.deployment)
    job = build_definitions(loaded, with_tables=False).resolve_job_def(index_tables_name(loaded))
    result = job.execute_in_process(
        instance=instance,
        raise_on_error=False,
        run_config={
            "ops": {names(raw_tables.name): {"config": asked.model_dump()}},
            "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
        },
    )
    if not result.success:
        cause = _cause(result)
        if "DagsterExecutionInterruptedError" in cause or cause.endswith(": KeyboardInterrupt"):
            raise KeyboardInterrupt  # Dagster records Ctrl-C as a failure of the step
        raise IndexingFailedError(remedy_for(instance, cause) or cause)
    with open_store(loaded, os.environ) as store:
        return RunFigures.from_records(store.runs.stages(result.run_id))


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
