"""The public face: one deployment opened from Python, to be asked, indexed and looked at."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.service import workspace

if TYPE_CHECKING:
    from pneuma_assets.core.service.index_report import IndexingReport


class Workspace(workspace.Workspace):
    """A deployment ready for use, which can index, too; Dagster is imported when it does.

    Nothing is opened before it is asked for. Close it, or use it in a `with` statement.
    """

    def index(
        self,
        folder: str | Path | None = None,
        *,
        sources: Sequence[str] = (),
        rebuild: bool = False,
        accept_removals: bool = False,
    ) -> "IndexingReport":
        """Index every table that is new or changed, as `pneuma-assets index` does.

        Where nothing has changed since the last run, none is started.

        Secrets are those of this process's own environment, which Dagster's resources read.

        Args:
            folder: Index this folder, and remember it; None leaves the sources as they are.
            sources: Index only these; none means all.
            rebuild: Reindex every table, even if unchanged.
            accept_removals: Let tables of one source go that are held because too many were gone
                at once; name it where several hold tables.

        Raises:
            ConfigError: There is no such folder or source, or none at all.
            IndexingFailedError: A stage could not go on; what is done is kept.
            StateError: The workspace is closed.
        """
        from pneuma_assets.core.service.sources import select_sources
        from pneuma_assets.core.service.unchanged import report_unchanged

        chosen = _path("folder", folder)
        self._check_open()
        self.release()
        self.loaded, names = select_sources(self.loaded, chosen, sources)
        plain = not (rebuild or accept_removals)
        if plain and (report := report_unchanged(self.loaded, os.environ, names)) is not None:
            return report
        from pneuma_assets.index_run import run_indexing  # last: what is wrong is told at once

        return run_indexing(
            self.loaded, sources=names, rebuild=rebuild, accept_removals=accept_removals
        )


def open_workspace(config: str | Path | None = None, home: str | Path | None = None) -> Workspace:
    """Open the deployment in force, chosen as the command line chooses it.

    Args:
        config: A deployment file, as `--config`.
        home: The state folder, as `--home`.

    Raises:
        ConfigError: The file is missing or wrong.
    """
    return Workspace(load_deployment(_path("config", config), _path("home", home)))


def _path(what: str, given: str | Path | None) -> Path | None:
    if given is None or isinstance(given, Path):
        return given
    if not isinstance(given, str):
        raise ConfigError(f"{what} must be a str or a Path, not {type(given).__name__}")
    return Path(given)
