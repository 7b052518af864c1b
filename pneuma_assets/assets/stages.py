"""The stages from the listing of sources to the search index, for one deployment."""

import dagster as dg

from pneuma_assets.assets.embedding_blocks import embedding_blocks
from pneuma_assets.assets.raw_tables import raw_tables
from pneuma_assets.assets.sampled_rows import sampled_rows
from pneuma_assets.assets.schema_narrations import schema_narrations
from pneuma_assets.assets.search_index import search_index
from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.index.registry import kind_of
from pneuma_assets.resources.names import Names

STAGES = (raw_tables, sampled_rows, schema_narrations, embedding_blocks, search_index)

MOST_KINDS = 3
"""More of an asset Dagster does not show."""


def stage_assets(deployment: Deployment) -> list[dg.AssetsDefinition]:
    """Return the assets of a deployment, in the order of their work."""
    names, shown = Names.of(deployment), _technologies(deployment)
    return [stage.asset(names, deployment.dagster, shown.get(stage.name)) for stage in STAGES]


def stage_keys(deployment: Deployment) -> list[dg.AssetKey]:
    """Return the keys of these assets; a group may be another team's, too."""
    names = Names.of(deployment)
    return [names.key(stage.name) for stage in STAGES]


def _technologies(deployment: Deployment) -> dict[str, set[str]]:
    """Return what the graph shows of those stages that the deployment decides."""
    read_with = {one for source in deployment.sources for one in source.technologies}
    made_with = kind_of(deployment.index.engine).technologies
    all_of_them = {
        "raw_tables": read_with,
        "sampled_rows": read_with,
        "schema_narrations": {"llm"} if deployment.narration.asks else {"python"},
        "search_index": made_with,
    }
    return {stage: set(sorted(some)[:MOST_KINDS]) for stage, some in all_of_them.items()}
