"""All resources of a deployment, made of what its file says."""

from collections.abc import Mapping
from typing import Any

import dagster as dg

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.index.registry import sign_in_of
from pneuma_assets.core.service.state import models_folder
from pneuma_assets.resources.deployment import DeploymentResource
from pneuma_assets.resources.index import IndexResource
from pneuma_assets.resources.models import (
    AnswersResource,
    EncoderResource,
    JudgeResource,
    NarratorResource,
)
from pneuma_assets.resources.names import Names
from pneuma_assets.resources.query import QueryResource
from pneuma_assets.resources.sources import SourcesResource
from pneuma_assets.resources.store import StoreResource


def build_resources(loaded: LoadedDeployment) -> dict[str, Any]:
    """Return the resources that a deployment file describes; each takes its section whole.

    They have the names by which the code takes them; in Dagster they bear the deployment's own,
    because definitions that are merged must not share one.
    """
    deployment = DeploymentResource.of(loaded)
    says, home, models = deployment.settings, deployment.home, str(models_folder(loaded))
    encoder = EncoderResource(settings=says["encoder"])
    judge = JudgeResource(settings=says["judge"], cache=models)
    answers = AnswersResource(settings=says["answers"], cache=models)
    sign_in = sign_in_of(loaded.deployment.index)
    index = IndexResource(
        settings=says["index"],
        home=home,
        api_key=_secret(sign_in.api_key_env),
        password=_secret(sign_in.password_env),
        encoder=encoder,
    )
    return {
        "pneuma_deployment": deployment,
        "pneuma_store": StoreResource(deployment=deployment),
        "pneuma_sources": SourcesResource(
            entries=says["sources"], base=deployment.base, limits=says["limits"]
        ),
        "pneuma_encoder": encoder,
        "pneuma_narrator": NarratorResource(settings=says["narration"], cache=models),
        "pneuma_judge": judge,
        "pneuma_answers": answers,
        "pneuma_index": index,
        "pneuma_query": QueryResource(
            deployment=deployment, index=index, encoder=encoder, judge=judge, answers=answers
        ),
    }


def _secret(variable: str | None) -> dg.EnvVar | None:
    """Return what Dagster reads from the environment when a run begins, and never shows."""
    return None if variable is None else dg.EnvVar(variable)


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
