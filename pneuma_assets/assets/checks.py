"""What must hold of a deployment, checked against the store and the index themselves.

All checks are one step: Dagster's default executor would begin a process for each of them.
"""

from collections.abc import Iterator, Mapping

import dagster as dg

from pneuma_assets.assets.report import markdown_table, metadata
from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.evaluation.ask_own_questions import standing
from pneuma_assets.core.service import own_questions
from pneuma_assets.core.service.checks import (
    CheckResult,
    Known,
    check_names,
    index_findings,
    questions_finding,
    state_findings,
)
from pneuma_assets.core.text.safe import plain_in_markdown
from pneuma_assets.resources.index import IndexResource
from pneuma_assets.resources.names import Names, bind_resources
from pneuma_assets.resources.query import QueryResource
from pneuma_assets.resources.store import StoreResource

SHOWN = 50
FINGERPRINT = "fingerprint"
"""The metadata that differs between failures about different things."""

ABOUT_THE_INDEX = {
    "every_table_indexed": "Every listed table is indexed, or has a problem with a cause; tables "
    "that wait for a later run are a warning. Its plots show how the deployment is getting on.",
    "every_table_readable": "No table, document or source has a problem.",
    "block_counts_agree": "The index holds what was written for each table, undamaged.",
    "no_removals_held": "No source has lost so many tables at once that they are held.",
}
QUESTIONS = "questions_answered"
"""The check that there is only where questions are asked again (`bench.mined`)."""


def index_checks(deployment: Deployment) -> list[dg.AssetChecksDefinition]:
    """Return the checks of a deployment: of its index, and one for each source."""
    names = Names.of(deployment)
    sources = [source.name for source in deployment.sources]
    specs = check_specs(deployment)

    def checks(
        context: dg.AssetCheckExecutionContext,
        pneuma_store: StoreResource,
        pneuma_index: IndexResource,
        pneuma_query: QueryResource,
    ) -> Iterator[dg.AssetCheckResult]:
        """What the store and the index say, in figures that the UI plots."""
        runs, run_id = pneuma_store.store.runs, context.run.run_id
        if not runs.stages(run_id):  # the checks alone: so it is known when they are killed
            runs.begin(run_id)
        known = Known.of(pneuma_store.store, run_id)
        found = {
            finding.check: finding
            for finding in (
                *index_findings(known, sources, _held_by(pneuma_index, known)),
                *state_findings(known, sources, deployment.dagster.listed_within_hours),
            )
        }
        for key in specs:
            if key not in context.selected_asset_check_keys:
                continue
            if key.name == QUESTIONS:
                found[QUESTIONS] = _asked_again(context, pneuma_store, pneuma_index, pneuma_query)
            yield _result(found[key.name], key)

    checking = dg.multi_asset_check(
        name=names("checks"), specs=list(specs.values()), can_subset=True
    )
    return [checking(bind_resources(checks, names))]


def check_specs(deployment: Deployment) -> dict[dg.AssetCheckKey, dg.AssetCheckSpec]:
    """Return what is checked of a deployment, by key."""
    names, hours = Names.of(deployment), deployment.dagster.listed_within_hours
    index, tables = names.key("search_index"), names.key("raw_tables")
    specs = [
        dg.AssetCheckSpec(name, asset=index, additional_deps=[tables], description=about)
        for name, about in ABOUT_THE_INDEX.items()
    ]
    if deployment.bench.mined:
        about = "The deployment's own questions are answered as well as they ever were."
        specs.append(
            dg.AssetCheckSpec(QUESTIONS, asset=index, additional_deps=[tables], description=about)
        )
    specs += [
        dg.AssetCheckSpec(
            name,
            asset=tables,
            description=f"The source {source} was listed within {hours:g} hours.",
        )
        for source, name in check_names([source.name for source in deployment.sources]).items()
    ]
    return {spec.key: spec for spec in specs}


def _result(finding: CheckResult, key: dg.AssetCheckKey) -> dg.AssetCheckResult:
    shown = metadata(finding.figures)
    if finding.rows:
        shown["cases"] = markdown_table(finding.header, finding.rows[:SHOWN])
    if finding.fingerprint:
        shown[FINGERPRINT] = dg.MetadataValue.text(finding.fingerprint)
    return dg.AssetCheckResult(
        asset_key=key.asset_key,
        check_name=key.name,
        passed=finding.passed,
        severity=dg.AssetCheckSeverity.ERROR if finding.severe else dg.AssetCheckSeverity.WARN,
        description=plain_in_markdown(finding.told),
        metadata=shown,
    )


def _asked_again(
    context: dg.AssetCheckExecutionContext,
    store: StoreResource,
    index: IndexResource,
    query: QueryResource,
) -> CheckResult:
    """Ask the deployment's questions again where models or options changed; tell how they stand."""
    loaded: LoadedDeployment = query.loaded
    try:
        own_questions.catch_up(loaded, store.store, lambda: index.index, query.engine)
    except PneumaError as error:
        context.log.warning("The deployment's questions could not be asked: %s", error)
    return questions_finding(standing(store.store), show_texts=loaded.deployment.dagster.show_rows)


def _held_by(index: IndexResource, known: Known) -> Mapping[str, int] | str:
    """Return the blocks of each table in the index, if there is one, or why it cannot be used."""
    if all(record.indexed_at is None for record in known.records):
        return {}
    try:
        info = index.building.info()
        tables = index.building.list_tables()
    except PneumaError as error:
        return str(error)
    return tables if info.usable else f"The search index is not usable: {info.health}"
