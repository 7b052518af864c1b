"""The sources of a deployment: which of them a run is about, and whether they can be listed now."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pneuma_assets.core import progress
from pneuma_assets.core.config.indexed_folders import source_of_folder
from pneuma_assets.core.config.load import LoadedDeployment, remember_folder
from pneuma_assets.core.config.owner import check_unowned
from pneuma_assets.core.config.small_sections import LimitsConfig
from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.errors import ConfigError, PneumaError
from pneuma_assets.core.sources.isolation.source import IsolatedSource
from pneuma_assets.core.tables import Problem
from pneuma_assets.core.text.suggest import check_known, check_names


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


def open_sources(loaded: LoadedDeployment, environ: Mapping[str, str]) -> list[IsolatedSource]:
    """Return every source, which starts a process when something is read of it; close each.

    Raises:
        ConfigError: A variable that holds a secret of a source is not set.
    """
    configs = [source.resolved(loaded.base) for source in loaded.deployment.sources]
    return [IsolatedSource(config, environ, loaded.deployment.limits) for config in configs]


def check_sources(loaded: LoadedDeployment, environ: Mapping[str, str]) -> list[SourceCheck]:
    """List every source once; one that cannot be opened or listed does not hide the others."""
    checks, deployment = [], loaded.deployment
    for done, config in enumerate(deployment.sources, start=1):
        checks.append(_check(config.resolved(loaded.base), environ, deployment.limits))
        progress.report("listing sources", done, len(deployment.sources))
    return checks


def _check(config: SourceConfig, environ: Mapping[str, str], limits: LimitsConfig) -> SourceCheck:
    place = (config.name, config.type, config.location)
    try:
        with closing(IsolatedSource(config, environ, limits)) as source:
            listing = source.list_tables()
    except PneumaError as error:
        return SourceCheck(*place, False, str(error), None, ())
    return SourceCheck(*place, True, None, len(listing.tables), listing.problems)


def select_sources(
    loaded: LoadedDeployment, folder: Path | None, names: Sequence[str]
) -> tuple[LoadedDeployment, list[str]]:
    """Return the deployment, with `folder` in it, and the names of the sources to index.

    Args:
        loaded: The deployment.
        folder: The one folder to index; remembered, so that later questions find it.
        names: The sources to index; none means all of them.

    Raises:
        ConfigError: There is no such folder or source, none at all, a folder and names are given,
            or the state is a component's.
    """
    check_names("sources", names, ConfigError)
    check_unowned(loaded)
    if folder is not None:
        if names:
            raise ConfigError("give a folder or names of sources, not both")
        loaded = remember_folder(loaded, folder)
        holder = source_of_folder(loaded.deployment, folder)
        return loaded, [holder.name] if holder is not None else []
    configured = [source.name for source in loaded.deployment.sources]
    if not configured:
        where = f"list sources in {loaded.file}" if loaded.file else "write a pneuma.yaml"
        raise ConfigError(f"there are no sources yet; run: pneuma-assets index FOLDER, or {where}")
    check_sources_known(loaded, names)
    return loaded, list(names) or configured


def check_sources_known(loaded: LoadedDeployment, names: Sequence[str]) -> None:
    """Raise `ConfigError`, with the nearest names, for a source that is not configured."""
    check_names("sources", names, ConfigError)
    configured = [source.name for source in loaded.deployment.sources]
    otherwise = "`pneuma-assets sources` lists them"
    check_known("source", names, configured, ConfigError, otherwise=otherwise)
