"""From a deployment to the place of its manifest."""

from collections.abc import Mapping

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.store.manifest.places import Folder, Place, PlaceError


def place_of(loaded: LoadedDeployment, environ: Mapping[str, str]) -> Place:
    """Return where the manifest of a deployment is; reaches nothing before its first call.

    Args:
        loaded: The deployment.
        environ: Holds the password of a server.

    Raises:
        PlaceError: The password's variable is not set.
    """
    if loaded.deployment.state.url is None:
        return Folder(loaded.home)
    from pneuma_assets.core.store.manifest.server import ServerPlace
    from pneuma_assets.core.store.opening import server_of

    try:
        server = server_of(loaded.deployment.state, environ)
    except ConfigError as error:
        raise PlaceError(str(error)) from error
    return ServerPlace(server) if server else Folder(loaded.home)
