"""What must hold after an indexing run, checked against the store and the index themselves."""

import dagster as dg

from pneuma_assets.assets.search_index import search_index
from pneuma_assets.assets.stage import markdown_table
from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.store.records import TableState
from resources.binding import bound
from resources.index import IndexResource
from resources.names import Names
from resources.store import StoreResource

SHOWN = 50


def index_checks(deployment: Deployment) -> list[dg.AssetChecksDefinition]:
    """Return the checks on a deployment's search index."""
    names = Names.of(deployment)
    key = names.key(search_index.name)
    return [
        dg.asset_check(asset=key, name=check.__name__)(bound(check, names))
        for check in (every_table_indexed, every_table_readable, block_counts_agree)
    ]


def every_table_indexed(
    pneuma_store: StoreResource, pneuma_index: IndexResource
) -> dg.AssetCheckResult:
    """Every listed table is indexed, or has a problem with a name and a cause.

    Tables that wait for their turn in a later run are a warning; tables that a run has taken and
    left without either are an error, and so is an index that cannot be trusted with any.
    """
    if trouble := _trouble(pneuma_index):
        return dg.AssetCheckResult(passed=False, description=trouble)
    named = {problem.subject for problem in pneuma_store.store.problems()}
    records = pneuma_store.store.work.records()
    silent = [r for r in records if r.state != TableState.INDEXED and r.table_id not in named]
    left = [r.table_id for r in silent if r.claimed]
    return dg.AssetCheckResult(
        passed=not silent,
        severity=dg.AssetCheckSeverity.ERROR if left else dg.AssetCheckSeverity.WARN,
        description=f"{len(silent) - len(left)} tables wait for the next run, {len(left)} were "
        f"taken and left, of {len(records)}.",
        metadata={"left": markdown_table(["table"], [(i,) for i in left[:SHOWN]])},
    )


def every_table_readable(pneuma_store: StoreResource) -> dg.AssetCheckResult:
    """No table, document or source has a problem; each problem is listed with its cause."""
    problems = pneuma_store.store.problems()
    rows = [(problem.subject, problem.stage, problem.cause) for problem in problems[:SHOWN]]
    return dg.AssetCheckResult(
        passed=not problems,
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{len(problems)} problems.",
        metadata={"problems": markdown_table(["table", "stage", "cause"], rows)},
    )


def block_counts_agree(
    pneuma_store: StoreResource, pneuma_index: IndexResource
) -> dg.AssetCheckResult:
    """The index holds exactly the blocks that were written for each table, undamaged."""
    if trouble := _trouble(pneuma_index):
        return dg.AssetCheckResult(passed=False, description=trouble)
    indexed = pneuma_index.building.list_tables()
    expected = {
        r.table_id: r.block_count
        for r in pneuma_store.store.work.records()
        if r.indexed_at is not None and r.block_count is not None
    }
    wrong = sorted(
        table_id
        for table_id in {*indexed, *expected}
        if indexed.get(table_id) != expected.get(table_id)
    )
    rows = [(i, expected.get(i, "none"), indexed.get(i, "none")) for i in wrong[:SHOWN]]
    return dg.AssetCheckResult(
        passed=not wrong,
        description=f"{len(wrong)} of {len(expected)} tables differ; the next run mends them.",
        metadata={"differing": markdown_table(["table", "written", "in the index"], rows)},
    )


def _trouble(index: IndexResource) -> str | None:
    """Return why the index cannot be used, and the remedy; None where it is sound."""
    try:
        info = index.building.info()
        index.building.list_tables()
    except PneumaError as error:
        return str(error)
    return None if info.usable else f"The search index is not usable: {info.health}"
