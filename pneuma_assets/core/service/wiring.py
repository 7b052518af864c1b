"""From a deployment to its opened parts: the one place that puts them together.

Every door comes here: the command line, Python, Dagster's resources and jobs. What a part is opened
with is decided once, so no door can forget a key of the deployment file.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pneuma_assets.core.config.load import LoadedDeployment

if TYPE_CHECKING:
    from pneuma_assets.core.store import Store

STATE_FILE = "state.db"


def has_state(loaded: LoadedDeployment, environ: Mapping[str, str]) -> bool:
    """Return whether anything was ever remembered of this deployment; creates nothing.

    Raises:
        ConfigError: A variable that holds a secret of the state is not set.
        StateError: The state's server cannot be asked.
    """
    if loaded.deployment.state.url is None:  # without what it takes to open one
        return (loaded.home / STATE_FILE).exists()
    from pneuma_assets.core.store import opening

    return opening.has_state(loaded.deployment.state, loaded.home, environ)


def open_store(loaded: LoadedDeployment, environ: Mapping[str, str]) -> "Store":
    """Open what the project remembers, and create it where there is none.

    Args:
        loaded: The deployment.
        environ: Holds the secrets that its file names.

    Raises:
        ConfigError: A variable that holds a secret of the state is not set.
        StateError: It cannot be opened.
    """
    from pneuma_assets.core.store import opening

    return opening.open_store(loaded.deployment.state, loaded.home, environ)
