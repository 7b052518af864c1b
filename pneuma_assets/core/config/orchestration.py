"""What Dagster shows of a deployment."""

from pydantic import Field

from pneuma_assets.core.config.section import Section
from pneuma_assets.core.config.values import KeyPrefix


class DagsterConfig(Section):
    """What Dagster shows, beside the assets of other teams and deployments."""

    key_prefix: KeyPrefix = Field("pneuma", description="Parts with '/' between them.")
