"""When the checks are run although no run has changed anything."""

from collections.abc import Iterable
from typing import Any

import dagster as dg

from pneuma_assets.assets.checks import FINGERPRINT, QUESTIONS, check_specs
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.evaluation.ask_own_questions import standing
from pneuma_assets.core.service import own_questions
from pneuma_assets.core.service.checks import Known, questions_finding, state_findings
from pneuma_assets.core.store import Store
from pneuma_assets.jobs.dead_runs import fail_orphaned_runs, unfinished_runs
from pneuma_assets.jobs.index_tables import index_tables_name
from pneuma_assets.resources.names import Names, bind_resources
from pneuma_assets.resources.store import StoreResource

LOOKED_BACK = 50
"""So many runs may have failed before their checks until the last result is out of sight."""


def check_schedule(loaded: LoadedDeployment, job: Any) -> dg.ScheduleDefinition:
    """Return the schedule of a deployment; it is off until it is switched on in the UI.

    It asks for a run of the checks only where one would come out otherwise than it did last.
    """
    names, config = Names.of(loaded.deployment), loaded.deployment.dagster

    def check_what_changed(
        context: dg.ScheduleEvaluationContext, pneuma_store: StoreResource
    ) -> dg.RunRequest | dg.SkipReason:
        """Ask the store alone: what the index holds changes only in runs, which check it."""
        changed = changed_verdicts(loaded, pneuma_store.store, context.instance)
        if not changed:
            return dg.SkipReason("No check would come out otherwise than it did.")
        for name in (index_tables_name(loaded), job.name):
            fail_orphaned_runs(loaded, context.instance, pneuma_store.store, name)
            if working := unfinished_runs(loaded, context.instance, name):
                return dg.SkipReason(f"Run {working[0].run_id} checks when it ends.")
        context.log.info(f"These checks come out otherwise now: {', '.join(changed)}")
        return dg.RunRequest()

    schedule = dg.schedule(
        name=names("hourly_checks"),
        job=job,
        cron_schedule=config.cron,
        execution_timezone=config.time_zone,
    )
    return schedule(bind_resources(check_what_changed, names))


def changed_verdicts(
    loaded: LoadedDeployment, store: Store, instance: dg.DagsterInstance
) -> list[str]:
    """Return the checks that would come out otherwise than this instance told people last."""
    sources = [source.name for source in loaded.deployment.sources]
    hours = loaded.deployment.dagster.listed_within_hours
    found = state_findings(Known.of(store), sources, hours)
    questions = standing(store) if loaded.deployment.bench.mined else None
    if questions is not None:
        found.append(questions_finding(questions, show_texts=False))
    told = told_last(instance, check_specs(loaded.deployment))
    changed = [one.check for one in found if _fingerprint(told.get(one.check)) != one.fingerprint]
    if questions is not None and QUESTIONS not in changed:
        changed += [QUESTIONS] * own_questions.is_news(loaded, store, questions)
    return changed


def told_last(
    instance: dg.DagsterInstance, keys: Iterable[dg.AssetCheckKey]
) -> dict[str, dg.AssetCheckEvaluation]:
    """Return how checks came out last, by name, of those that ever did."""
    log = instance.event_log_storage
    told: dict[str, dg.AssetCheckEvaluation] = {}
    for key, latest in log.get_latest_asset_check_execution_by_key(list(keys)).items():
        records = [latest]
        if not isinstance(latest.evaluation, dg.AssetCheckEvaluation):  # it is planned, no more
            records = list(log.get_asset_check_execution_history(key, limit=LOOKED_BACK))
        evaluations = (record.evaluation for record in records)
        came_out = (one for one in evaluations if isinstance(one, dg.AssetCheckEvaluation))
        if evaluation := next(came_out, None):
            told[key.name] = evaluation
    return told


def _fingerprint(told: dg.AssetCheckEvaluation | None) -> str:
    """Return that of the last result; a check that never ran is taken for one that passed."""
    return "" if told is None or told.passed else str(told.metadata[FINGERPRINT].value)
