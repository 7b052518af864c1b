"""A table with a problem says so on its own page, by a check that fails there.

A page without a materialization is grey, one with a failed check is not green, whatever was logged
before; the catalogue counts it among those that need somebody.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import dagster as dg

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.store.manifest import TablePage
from pneuma_assets.core.store.manifest_write import problems_by_table
from pneuma_assets.core.store.tables import TableState
from pneuma_assets.core.text.safe import plain_in_markdown
from pneuma_assets.resources.binding import bound
from pneuma_assets.resources.names import Names
from pneuma_assets.resources.store import StoreResource

CHECK = "has_no_problem"

MOST_CHECKED = 500
"""Tables with a check; the others say so in their description, and all are on the index's check."""


def problem_checks(
    pages: Sequence[TablePage], deployment: Deployment
) -> list[dg.AssetChecksDefinition]:
    """Return a check a table that has a problem, all of them in one step; none where none has.

    Dagster makes the step's inputs and outputs of the keys, of letters, digits and '_' alone. A
    table whose key does not fit into that, or becomes what another's does, says it in its
    description only: such a check would keep the code location from loading.
    """
    times = Counter(_folded(page.key) for page in pages)
    ill = {
        page.key: page.table_id
        for page in pages
        if page.problem is not None and times[_folded(page.key)] == 1 and _fits(page.key)
    }
    shown = dict(list(ill.items())[:MOST_CHECKED])
    if not shown:
        return []
    names = Names.of(deployment)
    specs = [
        dg.AssetCheckSpec(
            CHECK,
            asset=dg.AssetKey(key.split("/")),
            description="Whether anything keeps this table from being indexed as it should be.",
        )
        for key in shown
    ]

    def tables_have_no_problem(
        context: dg.AssetCheckExecutionContext, pneuma_store: StoreResource
    ) -> Iterator[dg.AssetCheckResult]:
        store = pneuma_store.store
        problems = problems_by_table(store.problems.all())
        for one in context.selected_asset_check_keys:
            table_id = shown["/".join(one.asset_key.path)]
            problem, record = problems.get(table_id), store.tables.record(table_id)
            yield dg.AssetCheckResult(
                passed=problem is None,
                asset_key=one.asset_key,
                check_name=CHECK,
                severity=_severity(record is not None and record.state == TableState.FAILED),
                description=None if problem is None else plain_in_markdown(problem),
            )

    check = dg.multi_asset_check(name=names("tables_have_no_problem"), specs=specs, can_subset=True)
    return [check(bound(tables_have_no_problem, names))]


def problem_event(
    key: dg.AssetKey, problem: str | None, *, failed: bool
) -> dg.AssetCheckEvaluation:
    """Return what tells Dagster of a table's problem, or that it has none any more.

    Args:
        key: The table's own.
        problem: What is wrong with it; None: nothing is.
        failed: Whether that keeps it from being indexed, and not only from being whole.
    """
    return dg.AssetCheckEvaluation(
        asset_key=key,
        check_name=CHECK,
        passed=problem is None,
        severity=_severity(failed),
        description=None if problem is None else plain_in_markdown(problem),
    )


def _fits(key: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9_./-]+", key) is not None


def _folded(key: str) -> str:
    """Return what two keys have in common that Dagster may make one name of."""
    return re.sub(r"[_./-]+", "_", key)


def _severity(failed: bool) -> dg.AssetCheckSeverity:
    return dg.AssetCheckSeverity.ERROR if failed else dg.AssetCheckSeverity.WARN
