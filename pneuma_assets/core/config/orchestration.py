"""How a deployment stands in Dagster, beside the assets of other teams and deployments."""

import re
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field

from pneuma_assets.core.config.secrets import EndpointUrl
from pneuma_assets.core.config.section import Section
from pneuma_assets.core.config.values import KeyPrefix, Owner

_CRON = re.compile(r"[\w*/,?#-]+( [\w*/,?#-]+){4}|@(hourly|daily|weekly|monthly)", re.ASCII)


def _cron(value: str) -> str:
    """Check the form; what the fields may hold, Dagster checks when it loads the schedule."""
    if not _CRON.fullmatch(value):
        raise ValueError("must be five fields, such as '0 * * * *' for every hour")
    return value


def _time_zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError("must be the name of a time zone, such as Europe/Berlin") from error
    return value


Cron = Annotated[str, AfterValidator(_cron)]
"""When something happens, in the five fields of cron."""

TimeZone = Annotated[str, AfterValidator(_time_zone)]
"""Where a cron's hours are told."""

DagsterName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{1,100}$")]
"""What Dagster takes for the name of a group or a pool."""


class PoolsConfig(Section):
    """Whose limits hold back which stages; teams that share a GPU share the pool's name."""

    gpu: DagsterName = Field("gpu", description="Stages that run a model.")
    index_writer: DagsterName = Field("index_writer", description="The stage that writes.")


class ReloadConfig(Section):
    """Who is told to load definitions anew when tables came or went, so that they have pages."""

    url: EndpointUrl | None = Field(None, description="Where Dagster's webserver listens.")
    location: str | None = Field(None, description="The code location; None: the sensor's own.")


class DagsterConfig(Section):
    """Names, owners, times and tags of everything that Dagster shows of a deployment."""

    key_prefix: KeyPrefix | None = Field(None, description="Parts with '/' between them.")
    owners: tuple[Owner, ...] = Field((), description="Of all assets: e-mail addresses, 'team:x'.")
    tags: dict[str, str] = Field({}, description="Of all assets.")
    run_tags: dict[str, Any] = Field({}, description="Of all runs: index, check, optimise.")
    indexing_tags: dict[str, Any] = Field({}, description="Of runs that index, before run_tags.")
    pools: PoolsConfig = PoolsConfig()
    cron: Cron = Field("0 * * * *", description="When the schedule lists the sources.")
    optimise_cron: Cron = Field("0 4 * * 0", description="When the index is optimised.")
    time_zone: TimeZone = "UTC"
    watch_seconds: int = Field(60, ge=10, description="How often the sensor lists the sources.")
    listed_within_hours: float = Field(26.0, gt=0, description="Else a source's check fails.")
    show_rows: bool = Field(False, description="Whether sampled rows are shown in the UI.")
    reload: ReloadConfig = ReloadConfig()
