"""The sensor that has Dagster load the definitions again when tables came or went."""

import json
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

import dagster as dg

from pneuma_assets.core.asking_http import ask
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.config.small_sections import ReloadConfig
from pneuma_assets.core.pipeline.dagster_graphql import graphql_address
from pneuma_assets.core.store.dagster_manifest import TablePage, read_manifest
from pneuma_assets.core.tables import content_hash
from pneuma_assets.resources.names import Names

EVERY_S = 300
"""Least seconds between two reloads."""

TIMEOUT_S = 45
"""A location with 10,000 tables loads in about ten; the tick itself has 60."""

_MOST_BYTES = 1 << 20

_DEV_VARIABLE, _DEV_URL = "DAGSTER_IS_DEV_CLI", "http://localhost:3000"
"""What `dagster dev` and `dg dev` set for the processes they start, and where they listen."""


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
    """Return the sensor of a deployment whose webserver's address is known, else none.

    It is off until it is switched on in the UI; under `dagster dev`, which has no other users, it
    is on. Dagster's webserver is asked by GraphQL, at most every `EVERY_S` seconds; that it does
    not answer is told and tried again.
    """
    config = _webserver(loaded)
    if config.url is None:
        return []
    on = os.environ.get(_DEV_VARIABLE)

    @dg.sensor(
        name=Names.of(loaded.deployment)("reload"),
        minimum_interval_seconds=EVERY_S,
        default_status=dg.DefaultSensorStatus.RUNNING if on else dg.DefaultSensorStatus.STOPPED,
        description="Lets the webserver load this code location anew when tables came or went.",
    )
    def reloading(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        # Dagster marks nothing as public that names it; where this is gone, the setting remains.
        own = getattr(getattr(context, "code_location_origin", None), "location_name", None)
        told, cursor = reload_if_changed(
            loaded, Reloaded.read(context.cursor), config.location or own
        )
        context.update_cursor(json.dumps(asdict(cursor)))
        return dg.SkipReason(told)

    return [reloading]


def _webserver(loaded: LoadedDeployment) -> ReloadConfig:
    """Return whom to ask: as configured, else the webserver of `dagster dev` where that runs."""
    config = loaded.deployment.dagster.reload
    if config.url is None and os.environ.get(_DEV_VARIABLE):
        return config.model_copy(update={"url": _DEV_URL})
    return config


def reload_if_changed(
    loaded: LoadedDeployment,
    last: Reloaded,
    location: str | None,
    clock: Callable[[], float] = time.time,
) -> tuple[str, Reloaded]:
    """Ask for a reload if the manifest is another one; returns what happened, and the new cursor.

    `last` was loaded last; `location` is None where the name of the code location is not known.
    """
    config, manifest = _webserver(loaded), read_manifest(loaded, os.environ)
    if manifest.trouble is not None:
        return f"The pages cannot be known: {manifest.trouble}", last
    digest = _shown(manifest.tables)
    if digest == last.digest:
        return f"The pages of {len(manifest.tables):,} tables are loaded.", last
    if location is None:
        return "Set dagster.reload.location: the name of this code location is not known.", last
    now = clock()
    # A time to come is no time at which anybody asked.
    if last.asked_at <= now < last.asked_at + EVERY_S:
        return "Tables came or went; the last reload was asked for just now.", last
    told, asked = _asked(config, location, len(manifest.tables))
    return told, Reloaded(digest if asked else last.digest, now)


_RELOAD = """mutation ($location: String!) {
  reloadRepositoryLocation(repositoryLocationName: $location) {
    __typename
    ... on WorkspaceLocationEntry {
      locationOrLoadError { __typename ... on PythonError { message } }
    }
    ... on ReloadNotSupported { message }
    ... on RepositoryLocationNotFound { message }
  }
}"""


def _asked(config: ReloadConfig, location: str, tables: int) -> tuple[str, bool]:
    """Ask, and wait; return what came of it, and whether that is all there is to ask for.

    A webserver that has not answered in `TIMEOUT_S` still loads: asked again, it would begin anew.
    """
    url, pages = config.url or "", f"{location} with the pages of {tables:,} tables"
    body = json.dumps({"query": _RELOAD, "variables": {"location": location}}).encode()
    headers = {"Content-Type": "application/json"}
    try:
        said = ask(
            graphql_address(url), headers, seconds=TIMEOUT_S, most_bytes=_MOST_BYTES, body=body
        )
        answer = json.loads(said)["data"]["reloadRepositoryLocation"]
        answer = answer.get("locationOrLoadError", answer)
        if answer["__typename"] == "RepositoryLocation":
            return f"Reloaded {pages}.", True
        why = f"{answer['__typename']}: {answer.get('message')}"
    except TimeoutError:
        return f"Asked for a reload of {pages}; after {TIMEOUT_S} s it was still loading.", True
    except OSError as error:
        why = f"{type(error).__name__}: {error}"
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        why = "this is no answer of Dagster's webserver"
    why = " ".join(why.split())[:500]
    return f"{url} did not reload {location}, it is asked again: {why}", False


def _shown(pages: Iterable[TablePage]) -> str:
    """Return what is another one when definitions are: data that is written again changes none."""
    said = [repr(replace(page, updated_at=None, indexed=True)) for page in pages]
    return content_hash(*said) if said else ""
