"""Tables that conversations ended in, as assets: made by code that was reviewed, not by a model.

Each saved file is one step with an asset a table, downstream of the tables that it reads, and a
check for each that fails when a rule finds what it did not find when the tables were saved.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence

import dagster as dg

from pneuma_assets.assets.report import beating, markdown_table
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import ConfigError, PneumaError
from pneuma_assets.core.progress import listening
from pneuma_assets.core.seek.conversation import making
from pneuma_assets.core.seek.results import Finding, Severity
from pneuma_assets.core.seek.saved import SavedTables, folder_of, named, read_all
from pneuma_assets.core.seek.state import TargetTable
from pneuma_assets.core.service.saved_tables import SavedRun
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.core.store.dagster_manifest import TablePage
from pneuma_assets.core.text.safe import plain_in_markdown
from pneuma_assets.resources.deployment import DeploymentResource
from pneuma_assets.resources.names import Names, bind_resources

logger = logging.getLogger(__name__)

CHECK = "nothing_new_misleads"
_SHOWN = 10
"""Rows of a table or of a query's result on its asset's page."""


def saved_tables(loaded: LoadedDeployment) -> list[SavedTables]:
    """Return what is saved; files that are wrong keep no definitions from loading, and are told."""
    try:
        return read_all(folder_of(loaded))
    except ConfigError as error:
        logger.warning("Saved tables have no assets: %s", error)
        return []


def saved_assets(
    loaded: LoadedDeployment, saved: Sequence[SavedTables], pages: Sequence[TablePage]
) -> list[dg.AssetsDefinition]:
    """Return one step with its assets for each saved file.

    Args:
        loaded: The deployment.
        saved: The files.
        pages: The tables that have a page, which are upstream of what is made of them.
    """
    keys = {page.table_id: dg.AssetKey(page.key.split("/")) for page in pages}
    return [_step(loaded, one, keys) for one in saved]


def saved_schedules(
    loaded: LoadedDeployment, saved: Sequence[SavedTables]
) -> list[dg.ScheduleDefinition]:
    """Return a schedule for each file that names one; off until it is switched on in the UI."""
    made = (_schedule(loaded, one, one.schedule) for one in saved if one.schedule is not None)
    return [one for one in made if one is not None]


def _schedule(
    loaded: LoadedDeployment, saved: SavedTables, cron: str
) -> dg.ScheduleDefinition | None:
    """Return when tables are made; a time that there is not keeps nothing else from loading."""
    names = Names.of(loaded.deployment)
    try:
        return dg.ScheduleDefinition(
            name=names(f"saved_{saved.name}_schedule"),
            target=dg.AssetSelection.assets(*(_key(names, saved, t) for t in saved.state.tables)),
            cron_schedule=cron,
            execution_timezone=loaded.deployment.dagster.time_zone,
            description=f"Makes anew: {saved.title or saved.name}",
        )
    except dg.DagsterInvalidDefinitionError:
        logger.warning("Saved tables %s have no schedule: %r is no time.", saved.name, cron)
        return None


def _key(names: Names, saved: SavedTables, table: TargetTable) -> dg.AssetKey:
    return names.key("saved", saved.name, table.name)


def _step(
    loaded: LoadedDeployment, saved: SavedTables, keys: Mapping[str, dg.AssetKey]
) -> dg.AssetsDefinition:
    names = Names.of(loaded.deployment)

    def make(
        context: dg.AssetExecutionContext, pneuma_deployment: DeploymentResource
    ) -> Iterator[dg.MaterializeResult]:
        try:
            with (
                beating(context.log, saved.name) as hear,
                listening(hear),
                Workspace(pneuma_deployment.loaded) as desk,
            ):
                run = desk.seek.make_saved(saved)
        except PneumaError as error:
            raise dg.Failure(str(error), metadata={"error": type(error).__name__}) from error
        rows_shown = pneuma_deployment.loaded.deployment.dagster.show_rows
        for table in saved.state.tables:
            yield _result(_key(names, saved, table), table, saved, run, rows_shown=rows_shown)

    made = dg.multi_asset(
        name=names(f"saved_{saved.name}"),
        specs=[_spec(names, saved, table, keys) for table in saved.state.tables],
        check_specs=[
            dg.AssetCheckSpec(
                CHECK,
                asset=_key(names, saved, table),
                description="No rule finds what it did not find when the table was saved.",
            )
            for table in saved.state.tables
        ],
        group_name=names("saved"),
        description=plain_in_markdown(saved.title) or None,
    )
    return made(bind_resources(make, names))


def _spec(
    names: Names, saved: SavedTables, table: TargetTable, keys: Mapping[str, dg.AssetKey]
) -> dg.AssetSpec:
    sources = {one.name.casefold(): one.table_ids for one in saved.state.sources}
    targets = {one.name.casefold(): one for one in saved.state.tables}
    read = {name.casefold() for step in table.steps for name in step.reads}
    above = {i for name in read for i in sources.get(name, ())}
    others = [one for name, one in targets.items() if name in read and one is not table]
    queries = [f"-- {one.name}\n{one.sql}" for one in saved.state.queries]
    return dg.AssetSpec(
        _key(names, saved, table),
        deps=[
            *(keys[i] for i in sorted(above) if i in keys),
            *(_key(names, saved, one) for one in others),
        ],
        description=plain_in_markdown(table.description or saved.title) or None,
        code_version=making(saved.state),
        kinds={"duckdb", "parquet"},
        metadata={
            "queries": dg.MetadataValue.md("```sql\n{}\n```".format("\n\n".join(queries)))
            if queries
            else dg.MetadataValue.text("none"),
            "saved by": dg.MetadataValue.text(saved.author),
        },
        automation_condition=dg.AutomationCondition.eager() if saved.follow else None,
    )


def _result(
    key: dg.AssetKey, table: TargetTable, saved: SavedTables, run: SavedRun, *, rows_shown: bool
) -> dg.MaterializeResult:
    made = run.made[table.name]

    def told(one: Finding) -> str:
        return one.text if rows_shown else named(one)  # a text may quote cells

    shown = {
        "dagster/row_count": dg.MetadataValue.int(made.rows.num_rows),
        "path": dg.MetadataValue.path(str(run.files[table.name])),
        "findings": _lines(
            [f"{one.severity}: {one.rule}: {told(one)}" for one in made.findings], "none"
        ),
    }
    if rows_shown:
        rows = _cells(made.rows.slice(0, _SHOWN).to_pylist())
        shown["rows"] = _preview(made.rows.column_names, rows)
        shown["moved"] = _lines(run.moved[table.name], "nothing that is compared")
        for one in run.results:
            shown[f"query {one.name}"] = _preview(one.columns, one.rows[:_SHOWN])
        if run.results:
            shown["results moved"] = _lines(run.results_moved, "nothing")
    news = [
        one
        for one in (*made.findings, *(f for result in run.results for f in result.findings))
        if one.severity is not Severity.NOTE and named(one) not in saved.accepted
    ]
    check = dg.AssetCheckResult(
        asset_key=key,
        check_name=CHECK,
        passed=not news,
        severity=dg.AssetCheckSeverity.ERROR,
        description=plain_in_markdown("; ".join(map(told, news[:_SHOWN]))) or None,
        metadata={"findings": dg.MetadataValue.int(len(news))},
    )
    return dg.MaterializeResult(key, metadata=shown, check_results=[check])


def _cells(rows: Sequence[Mapping[str, object]]) -> list[Sequence[object]]:
    return [list(row.values()) for row in rows]


def _preview(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> dg.MetadataValue:
    texts = [["" if cell is None else str(cell) for cell in row] for row in rows]
    return markdown_table(list(columns), texts)


def _lines(said: Sequence[str], otherwise: str) -> dg.MetadataValue:
    if not said:
        return dg.MetadataValue.text(otherwise)
    return dg.MetadataValue.md("\n".join(f"- {plain_in_markdown(one)}" for one in said))
