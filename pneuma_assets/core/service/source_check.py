"""Says of each configured source where it is and whether it can be listed now."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pneuma_assets.core import progress
from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.indexing import LimitsConfig
from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.sources.isolation.source import IsolatedSource
from pneuma_assets.core.tables import Problem


@dataclass(frozen=True, slots=True)
class SourceCheck:
    """One source now; `tables` is None, and `cause` says why, where it cannot be listed."""

    name: str
    type: str
    where: str
    reachable: bool
    cause: str | None
    tables: int | None
    problems: Sequence[Problem]


def check_sources(
    deployment: Deployment, base: Path, environ: Mapping[str, str]
) -> list[SourceCheck]:
    """List every source once; one that cannot be opened or listed does not hide the others.

    Args:
        deployment: The validated configuration.
        base: Folder that relative paths start from.
        environ: Where the variables that hold secrets are looked up.
    """
    checks = []
    for done, config in enumerate(deployment.sources, start=1):
        checks.append(_check(config.resolved(base), environ, deployment.limits))
        progress.report("listing sources", done, len(deployment.sources))
    return checks


def _check(config: SourceConfig, environ: Mapping[str, str], limits: LimitsConfig) -> SourceCheck:
    where = config.location
    try:
        with closing(IsolatedSource(config, environ, limits)) as source:
            listing = source.list_tables()
    except PneumaError as error:
        return SourceCheck(config.name, config.type, where, False, str(error), None, ())
    count = len(listing.tables)
    return SourceCheck(config.name, config.type, where, True, None, count, listing.problems)
