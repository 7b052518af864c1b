"""All resources of a deployment, made of what its file says."""

from collections.abc import Mapping
from typing import Any

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.resources.deployment import DeploymentResource
from pneuma_assets.resources.index import IndexResource
from pneuma_assets.resources.models import EncoderResource, NarratorResource
from pneuma_assets.resources.names import Names
from pneuma_assets.resources.query import QueryResource
from pneuma_assets.resources.sources import SourcesResource
from pneuma_assets.resources.store import StoreResource


def build_resources(loaded: LoadedDeployment) -> dict[str, Any]:
    """Return the resources that a deployment file describes.

    They have the names by which the code takes them; in Dagster they bear the deployment's own,
    because definitions that are merged must not share one.
    """
    deployment = DeploymentResource.of(loaded)
    encoder = EncoderResource(deployment=deployment)
    return {
        "pneuma_deployment": deployment,
        "pneuma_store": StoreResource(deployment=deployment),
        "pneuma_sources": SourcesResource(deployment=deployment),
        "pneuma_encoder": encoder,
        "pneuma_narrator": NarratorResource(deployment=deployment),
        "pneuma_index": IndexResource(deployment=deployment, encoder=encoder),
        "pneuma_query": QueryResource(deployment=deployment, encoder=encoder),
    }


def named_resources(
    loaded: LoadedDeployment, overrides: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return these resources by their names in Dagster, some of them replaced.

    Raises:
        ConfigError: There is no resource of the name of an override.
    """
    names, built = Names.of(loaded.deployment), build_resources(loaded)
    if unknown := {*(overrides or ())} - built.keys():
        raise ConfigError(
            f"there is no resource {min(unknown)} to override; there are {', '.join(built)}"
        )
    return {names.resource(name): made for name, made in {**built, **(overrides or {})}.items()}
