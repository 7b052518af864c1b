"""From a deployment to its opened parts: the one place that puts them together.

Every door comes here: the command line, Python, Dagster's resources and jobs. What a part is opened
with is decided once, so no door can forget a key of the deployment file.
"""

from collections.abc import Mapping

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.store import Store

STATE_FILE = "state.db"


def has_state(loaded: LoadedDeployment, environ: Mapping[str, str]) -> bool:  # noqa: ARG001
    """Return whether anything was ever remembered of this deployment; creates nothing."""
    return (loaded.home / STATE_FILE).exists()


def open_store(loaded: LoadedDeployment, environ: Mapping[str, str]) -> Store:  # noqa: ARG001
    """Open what the project remembers, and create it where there is none.

    Args:
        loaded: The deployment.
        environ: Holds the secrets that its file names.

    Raises:
        StateError: It cannot be opened.
    """
    return Store(loaded.home / STATE_FILE)
