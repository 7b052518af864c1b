"""Indexing from Python or a command line: the Dagster job run in this process."""

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from pneuma_assets.assets.checks import index_checks
from pneuma_assets.assets.report import event_log_open
from pneuma_assets.assets.stages import STAGES, stage_assets
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.index.registry import index_credentials
from pneuma_assets.core.models.endpoint import prices_of
from pneuma_assets.core.service.index_report import IndexingReport, make_report
from pneuma_assets.core.service.sources import check_sources_known
from pneuma_assets.core.service.state import history_of, open_store
from pneuma_assets.core.store.runs import StageRecord
from pneuma_assets.dagster_instance import open_instance, remedy_for
from pneuma_assets.jobs.dead_runs import fail_orphaned_runs
from pneuma_assets.jobs.index_tables import index_tables_job, index_tables_name, op_config
from pneuma_assets.resources.build import named_resources
from pneuma_assets.resources.names import Names


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
    asked: dict[str, Any] = {
        "only": list(sources),
        "rebuild": rebuild,
        "retry": True,
        "accept_removals": accept_removals,
    }
    with open_instance(loaded.home) as instance, event_log_open(instance):
        with open_store(loaded, os.environ) as store:
            fail_orphaned_runs(loaded, instance, store, index_tables_name(loaded))
        runs = [_one_run(loaded, instance, asked)]
        while (read := runs[-1]["raw_tables"].figures)["waiting"] and read["claimed"]:
            if read["begun anew"]:  # the new index lacks the tables of every source
                sources = ()
            runs.append(_one_run(loaded, instance, {"only": list(sources)}))
    with open_store(loaded, os.environ) as store:
        names = sources or [source.name for source in loaded.deployment.sources]
        store.asset_keys.use_history(history_of(loaded.home))
        prices = prices_of(loaded.deployment.narration.model)
        return make_report(store, runs, names, time.monotonic() - started, prices)


def _one_run(
    loaded: LoadedDeployment, instance: dg.DagsterInstance, asked: Mapping[str, Any]
) -> Mapping[str, StageRecord]:
    """Run the job once, with no more of the deployment's definitions than a run needs."""
    definitions = dg.Definitions(
        assets=stage_assets(loaded.deployment),
        asset_checks=index_checks(loaded.deployment),
        jobs=[index_tables_job(loaded)],
        resources=named_resources(loaded),
    )
    result = definitions.resolve_job_def(index_tables_name(loaded)).execute_in_process(
        instance=instance,
        raise_on_error=False,
        run_config={
            **op_config(Names.of(loaded.deployment), "raw_tables", **asked),
            "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
        },
    )
    if not result.success:
        cause = _cause(result)
        if "DagsterExecutionInterruptedError" in cause or cause.endswith(": KeyboardInterrupt"):
            raise KeyboardInterrupt  # Dagster records Ctrl-C as a failure of the step
        raise IndexingFailedError(remedy_for(instance, cause) or cause)
    with open_store(loaded, os.environ) as store:
        done = store.runs.stages(result.run_id)
    return {stage.name: done[stage.name] for stage in STAGES if stage.name in done}


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
