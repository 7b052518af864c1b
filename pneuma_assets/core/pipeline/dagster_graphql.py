"""Asking a Dagster webserver for the assets of all code locations, page by page, in a run."""

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

from pneuma_assets.core.config.small_sections import WebserverConfig
from pneuma_assets.core.errors import ConfigError, SourceError
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.lineage.dagster_assets import (
    ASSETS,
    EVENTS,
    Key,
    below_ours,
    read_assets,
    tables_among,
)
from pneuma_assets.core.lineage.edges import EdgeKind
from pneuma_assets.core.lineage.external import MOST_TABLES, mapping_of, text_of
from pneuma_assets.core.pipeline.external_files import ExternalFile, refused
from pneuma_assets.core.progress import report
from pneuma_assets.core.tables import content_hash
from pneuma_assets.core.text.safe import one_line

SECONDS = 60.0
"""What a run takes at most for all that it asks."""

PAGE = 200
"""Assets of one answer."""

EVENTS_PAGE = 50
"""Tables of one answer about events, of which each is looked up by itself."""

MOST_BYTES = 32 * 1024 * 1024
"""Of one answer."""

MOST_BYTES_IN_ALL = 256 * 1024 * 1024
"""Of all answers of a run, which are held together."""

_REMEDY = "check lineage.webserver in the deployment file, and that the webserver runs"


def origin_of_webserver(config: WebserverConfig) -> str | None:
    """Return the origin that a webserver is, whether a run asks it or not; None: there is none.

    It is the same wherever that is, so that a wrong address loses nothing of what was heard.
    """
    return None if config.url is None else f"{EdgeKind.DAGSTER}:webserver"


def webserver_assets(config: WebserverConfig, environ: Mapping[str, str]) -> list[ExternalFile]:
    """Ask a webserver, if one is configured; reading what it said raises why it did not answer."""
    origin = origin_of_webserver(config)
    if origin is None:
        return []
    report("asking Dagster's webserver for assets", 0, 0)
    try:
        webserver = _Webserver(config, environ)
        assets = list(webserver.assets())
        definitions = tables_among(assets)
        events = webserver.events(list(definitions))
        said = read_assets(definitions, events, below_ours(assets))
    except (SourceError, ConfigError) as error:
        return [refused(origin, error)]
    stamp = content_hash(*sorted(repr(one) for one in said.tables))
    return [ExternalFile(origin, stamp, lambda: said)]


def graphql_address(url: str) -> str:
    """Return where a webserver answers GraphQL, by its address as a browser opens it."""
    return f"{url.rstrip('/').removesuffix('/graphql')}/graphql"


class _Webserver:
    """Asks its GraphQL, until the time for all questions is over."""

    def __init__(self, config: WebserverConfig, environ: Mapping[str, str]) -> None:
        self._url = graphql_address(config.url or "")
        self._headers = {"Content-Type": "application/json"}
        self._token: str | None = None
        if config.token_env is not None:
            token = environ.get(config.token_env)
            if not token or not token.isascii() or not token.isprintable():
                raise ConfigError(
                    f"lineage.webserver: the environment variable {config.token_env} holds no "
                    "token; set it to a user token of Dagster+"
                )
            self._headers["Dagster-Cloud-Api-Token"] = self._token = token
        self._ends = time.monotonic() + SECONDS
        self._bytes_left = MOST_BYTES_IN_ALL

    def assets(self) -> Iterator[object]:
        """Yield all assets, at most `MOST_TABLES`."""
        cursor, seen = None, 0
        while seen < MOST_TABLES:
            answer = self._ask(ASSETS, cursor=cursor, limit=PAGE)
            page = mapping_of(answer.get("assetsOrError"))
            nodes, after = page.get("nodes"), page.get("cursor")
            if not isinstance(nodes, list):
                raise self._error(text_of(page.get("message")) or "its answer has no assets")
            yield from nodes
            seen += len(nodes)
            if len(nodes) < PAGE:
                return
            if not isinstance(after, str) or after == cursor:
                raise self._error("its answers do not come to an end")
            cursor = after

    def events(self, keys: list[Key]) -> Iterator[object]:
        """Yield some assets with their last materialization."""
        for some in chunks(keys, EVENTS_PAGE):
            answer = self._ask(EVENTS, keys=[{"path": list(key)} for key in some])
            nodes = answer.get("assetNodes")
            if not isinstance(nodes, list):
                raise self._error("its answer has no assets")
            yield from nodes

    def _ask(self, query: str, **variables: object) -> Mapping[str, Any]:
        body = json.dumps({"query": query, "variables": variables}).encode()
        try:
            said = mapping_of(json.loads(self._answer(body)))
        except RecursionError as error:
            raise self._error("its answer is nested too deep") from error
        except (OSError, ValueError) as error:
            raise self._error(str(error)) from error
        if said.get("errors"):
            raise self._error(json.dumps(said["errors"]))
        return mapping_of(said.get("data"))

    def _answer(self, body: bytes) -> bytes:
        from pneuma_assets.core.asking_http import ask  # loads ssl

        left = self._ends - time.monotonic()
        too_long = f"it took more than {SECONDS:g} s"
        if left <= 0:
            raise TimeoutError(too_long)
        try:
            answer = ask(self._url, self._headers, seconds=left, most_bytes=MOST_BYTES, body=body)
        except TimeoutError as error:
            raise TimeoutError(too_long) from error
        self._bytes_left -= len(answer)
        if self._bytes_left < 0:
            raise ValueError(f"its answers have more than {MOST_BYTES_IN_ALL:,} bytes together")
        return answer

    def _error(self, why: str) -> SourceError:
        if self._token is not None:  # which whoever refuses it may quote
            why = why.replace(self._token, "***")
        why = one_line(why, 300)
        return SourceError(f"Dagster's webserver at {self._url} cannot be asked: {why}; {_REMEDY}")
