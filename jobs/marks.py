"""Which runs are a deployment's own: other code locations may have jobs of the same names."""

from hashlib import sha256

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.resources.names import Names


def run_mark(loaded: LoadedDeployment) -> dict[str, str]:
    """Return the tag that every run of a deployment's jobs bears.

    It is made of where the state is, so that a trial deployment beside the one in production,
    under the same prefix, holds nothing up there. The store's own mark would say more, but nothing
    may be opened when definitions are made.
    """
    where = loaded.deployment.state.location(loaded.home)
    name = f"{Names.of(loaded.deployment).identifier}/state"
    return {name: sha256(where.encode("utf-8", "surrogateescape")).hexdigest()[:16]}
