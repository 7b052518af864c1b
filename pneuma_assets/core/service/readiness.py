"""Whether a deployment has anything to ask, and what to do where it has not; creates nothing."""

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.index.embedded.folder import has_index


def check_answerable(loaded: LoadedDeployment) -> None:
    """Raise `QueryError` where there is no index to ask.

    It may come from elsewhere: kept by a cluster, or copied here.
    """
    if loaded.deployment.index.engine == "embedded" and not has_index(loaded.home / "index"):
        raise nothing_indexed(loaded)


def nothing_indexed(loaded: LoadedDeployment) -> QueryError:
    """Return the refusal to answer from an index without tables."""
    return QueryError(f"nothing is indexed in {loaded.home} yet; {how_to_index(loaded)}")


def how_to_index(loaded: LoadedDeployment) -> str:
    """Return the command that fills an empty index."""
    if loaded.deployment.sources:
        return "run: pneuma-assets index"
    return "run: pneuma-assets index FOLDER"
