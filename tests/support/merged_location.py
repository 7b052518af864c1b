"""A code location of another team's, with our deployments merged into it.

All its names are ones that we could have taken, and it sets what a location has only one of.
"""

import os
from pathlib import Path

import dagster as dg

from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.definitions import build_definitions

FILES = "PNEUMA_TEST_FILES"
"""Names the environment variable that lists the deployment files."""


class TheirStore(dg.ConfigurableResource):
    """Has a name of ours, and nothing to do with it."""

    word: str = "theirs"


class TheirIO(dg.IOManager):
    """Is for their assets; ours hand nothing over by Dagster."""

    def handle_output(self, context: dg.OutputContext, obj: object) -> None:
        if obj != "rows":
            raise ValueError(f"{context.asset_key} is none of ours")

    def load_input(self, context: dg.InputContext) -> str:
        return "rows"


@dg.asset(group_name="pneuma", pool="gpu")
def raw_tables(store: TheirStore) -> str:
    if store.word != "theirs":
        raise ValueError(store.word)
    return "rows"


@dg.asset(group_name="indexing")
def search_index(raw_tables: str) -> str:
    return raw_tables


@dg.asset_check(asset=search_index)
def every_table_indexed() -> dg.AssetCheckResult:
    return dg.AssetCheckResult(passed=True)


def theirs() -> dg.Definitions:
    job = dg.define_asset_job("index_tables", selection=[raw_tables, search_index])
    names = ["options", "sources", "encoder", "narrator", "judge", "index", "query", "deployment"]
    return dg.Definitions(
        assets=[raw_tables, search_index],
        asset_checks=[every_table_indexed],
        jobs=[job],
        schedules=[dg.ScheduleDefinition("hourly_indexing", job=job, cron_schedule="@daily")],
        resources={**dict.fromkeys(names, 1), "store": TheirStore(), "io_manager": TheirIO()},
        executor=dg.multiprocess_executor.configured({"max_concurrent": 2}),
    )


@dg.definitions
def merged() -> dg.Definitions:
    files = [Path(file) for file in os.environ[FILES].split(os.pathsep)]
    ours = [build_definitions(load_deployment(config=file, environ={})) for file in files]
    return dg.Definitions.merge(*ours, theirs())
