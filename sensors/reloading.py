"""The sensor that lets Dagster load the definitions anew when tables came or went."""

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

import dagster as dg

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.config.orchestration import ReloadConfig
from pneuma_assets.core.store.manifest import read_manifest
from resources.names import Names

TIMEOUT_S = 45
"""A location with 10,000 tables loads in about ten; the tick itself has 60."""


@dataclass(frozen=True, slots=True)
class Reloaded:
    """What the sensor remembers: of which manifest pages were last loaded, and when it asked."""

    digest: str = ""
    asked_at: float = 0.0

    @classmethod
    def read(cls, cursor: str | None) -> "Reloaded":
        """Return what a cursor says; one that another version wrote says nothing."""
        try:
            found: dict[str, Any] = json.loads(cursor or "{}")
            return cls(str(found.get("digest", "")), float(found.get("asked_at", 0.0)))
        except (ValueError, TypeError, AttributeError):
            return cls()


def reload_sensors(loaded: LoadedDeployment) -> list[dg.SensorDefinition]:
    """Return the sensor of a deployment where `dagster.reload.url` is set, else none.

    It is off until it is switched on in the UI. Dagster's webserver is asked by GraphQL, at most
    every `dagster.reload.seconds`; that it does not answer is told and tried again.
    """
    config = loaded.deployment.dagster.reload
    if config.url is None:
        return []

    @dg.sensor(
        name=Names.of(loaded.deployment)("reload"),
        minimum_interval_seconds=config.seconds,
        description="Lets the webserver load this code location anew when tables came or went.",
    )
    def reloading(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        told, cursor = reload_if_changed(
            loaded, Reloaded.read(context.cursor), config.location or _own_location(context)
        )
        context.update_cursor(json.dumps(asdict(cursor)))
        return dg.SkipReason(told)

    return [reloading]


def reload_if_changed(
    loaded: LoadedDeployment,
    last: Reloaded,
    location: str | None,
    clock: Callable[[], float] = time.time,
) -> tuple[str, Reloaded]:
    """Ask for a reload if the manifest is another one; returns what happened, and the new cursor.

    Args:
        loaded: The deployment; its `dagster.reload.url` is set.
        last: What was loaded last.
        location: The code location; None where its name is not known.
        clock: The time in seconds since 1970.
    """
    config, manifest = loaded.deployment.dagster.reload, read_manifest(loaded, os.environ)
    if manifest.trouble is not None:
        return f"The pages cannot be known: {manifest.trouble}", last
    if manifest.digest == last.digest:
        return f"The pages of {len(manifest.tables):,} tables are loaded.", last
    if location is None:
        return "Set dagster.reload.location: the name of this code location is not known.", last
    now = clock()
    if now < last.asked_at + config.seconds:
        return "Tables came or went; the last reload was asked for just now.", last
    why = ask_for_reload(config, location)
    if why is not None:
        told = f"{config.url} did not reload {location}, it is asked again: {why}"
        return told, Reloaded(last.digest, now)
    told = f"Reloaded {location} with the pages of {len(manifest.tables):,} tables."
    return told, Reloaded(manifest.digest, now)


def ask_for_reload(config: ReloadConfig, location: str) -> str | None:
    """Ask the webserver to reload a code location; returns why it has not, None where it has."""
    from dagster_graphql import (
        DagsterGraphQLClient,
        DagsterGraphQLClientError,
        ReloadRepositoryLocationStatus,
    )
    from gql.transport.exceptions import TransportError
    from requests import RequestException

    at = urlsplit(config.url or "")
    try:
        client = DagsterGraphQLClient(
            at.hostname or "",
            at.port,
            use_https=at.scheme == "https",
            path_prefix=at.path.rstrip("/"),
            timeout=TIMEOUT_S,
        )
        answer = client.reload_repository_location(location)
    except (DagsterGraphQLClientError, TransportError, RequestException) as error:
        return " ".join(str(error).split())[:500]
    if answer.status == ReloadRepositoryLocationStatus.SUCCESS:
        return None
    return " ".join(f"{answer.failure_type}: {answer.message}".split())[:500]


def _own_location(context: dg.SensorEvaluationContext) -> str | None:
    origin = context.code_location_origin
    return None if origin is None else origin.location_name
