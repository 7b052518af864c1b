"""The cluster: connecting, sending searches at one state of the index, and sending documents.

Failures that may pass are met with patience, and an index that was swapped is found again.
"""

import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from elasticsearch import Elasticsearch, OrjsonSerializer
from elasticsearch.helpers import parallel_bulk

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.errors import ConfigError, SearchIndexError
from pneuma_assets.core.index.elastic.alias import IndexHandle, Opened
from pneuma_assets.core.index.elastic.documents import Action
from pneuma_assets.core.index.elastic.errors import (
    ItemError,
    explained,
    is_gone,
    is_transient,
    item_error,
    until_found,
    with_retries,
)
from pneuma_assets.core.index.elastic.queries import MAX_CANDIDATES, Search, hits_of
from pneuma_assets.core.index.elastic.state import (
    State,
    Stored,
    read_state,
    state_from,
    state_query,
)
from pneuma_assets.core.index.registry import Credentials

Answer = list[dict[str, Any]]
"""The hits of one search."""

Result = TypeVar("Result")

_TOO_SLOW = 3
_THREADS = 4
_DOCUMENTS, _BYTES = 500, 8 * 1024 * 1024
"""Most of one request of documents."""
_SHOWN = 5


def connect(config: ElasticsearchConfig, credentials: Credentials) -> Elasticsearch:
    """Return a client; nothing is sent before its first call.

    It tries each node once; waiting for a cluster that cannot answer is `errors.with_retries`'s.

    Raises:
        ConfigError: The file of certificates does not exist, or a secret cannot be one.
    """
    if config.ca_certs is not None and not config.ca_certs.is_file():
        raise ConfigError(f"index.elasticsearch.ca_certs: there is no file {config.ca_certs}")
    options: dict[str, object] = {
        "api_key": _header_value(credentials.api_key, f"{config.api_key_env}"),
        "ca_certs": None if config.ca_certs is None else str(config.ca_certs),
    }
    if credentials.username is not None:
        options["basic_auth"] = (credentials.username, (credentials.password or "").strip())
    return Elasticsearch(
        list(config.urls),
        serializer=OrjsonSerializer(),
        request_timeout=config.timeout_seconds,
        max_retries=len(config.urls) - 1,
        **{name: value for name, value in options.items() if value is not None},  # type: ignore[arg-type]
    )


def _header_value(secret: str | None, variable: str) -> str | None:
    """Return a key that a header can hold; other libraries would show a bad one in their errors."""
    if secret is None:
        return None
    stripped = secret.strip()
    if not stripped or not stripped.isascii() or not stripped.isprintable() or " " in stripped:
        raise ConfigError(
            f"index.elasticsearch.api_key_env: what {variable} holds is no API key; set it to the "
            "key's encoded form: letters, digits, '=' on one line"
        )
    return stripped


@dataclass(eq=False, repr=False)
class Transport:
    """Carries searches and documents to the index that a handle names, and answers back.

    Attributes:
        client: Connected to the cluster.
        handle: Names the index.
        patience: Seconds to go on while a request's failure may pass (429, lost connections).
        retention: Seconds for which the documents of a replaced table are kept; an answer that
            took longer may lack some, and is asked for again.
    """

    client: Elasticsearch
    handle: IndexHandle
    patience: float
    retention: float
    _preference: str = field(default_factory=lambda: uuid.uuid4().hex, init=False)
    """Copies of a shard count removed documents differently: staying with one of each keeps a
    block's score the same from call to call."""

    def ask(self, make: Callable[[Opened], list[Search]]) -> list[Answer]:
        """Answer the searches that `make` returns for an opened index, in one round trip.

        The state is searched for along with them. If it has changed since the last call, they are
        sent once more, so that an answer is never older than the call.
        """

        def attempt(opened: Opened) -> list[Answer]:
            *answers, found = self.send(opened, [*make(opened), state_query()])
            newest = self.handle.saw(opened, _state_of(found, opened))
            if newest.state == opened.state:
                return answers
            return self.send(newest, make(newest))

        return self._in_time(attempt)

    def at_newest(self, work: Callable[[Opened], Result]) -> Result:
        """Call `work` with the index at its newest state; again if the index is swapped."""
        return self._in_time(lambda opened: work(self.handle.saw(opened, self.state(opened).state)))

    def repeated(self, attempt: Callable[[Opened], Result]) -> Result:
        """Call `attempt` with the index, and again if that was swapped under it."""

        def once() -> Result:
            opened = with_retries(self.patience, self.handle.current)
            try:
                return attempt(opened)
            except Exception as error:
                if is_gone(error):
                    self.handle.forget(opened)
                raise

        return until_found(once)

    def _in_time(self, attempt: Callable[[Opened], Result]) -> Result:
        """Call `attempt` until it is quick enough to have missed nothing.

        Raises:
            SearchIndexError: The cluster is too slow for that.
        """
        for _ in range(_TOO_SLOW):
            started = time.monotonic()
            result = self.repeated(attempt)
            if time.monotonic() - started < self.retention:
                return result
        raise SearchIndexError(
            f"The cluster took longer than {self.retention:.0f} seconds {_TOO_SLOW} times; look "
            "at its load."
        )

    def state(self, opened: Opened) -> Stored:
        """Return the newest state, whether or not searches see it yet."""
        return with_retries(self.patience, lambda: read_state(self.client, opened.index))

    def send(self, opened: Opened, searches: Sequence[Search]) -> list[Answer]:
        """Send searches in one request; part of an answer is a failure, not an answer."""
        if not searches:
            return []
        lines = [line for one in searches for line in (self._header(opened, one), one)]

        def call() -> list[Answer]:
            return list(map(hits_of, self.client.msearch(searches=lines)["responses"]))

        return with_retries(self.patience, call)

    def pages(self, opened: Opened, search: Search, size: int = MAX_CANDIDATES) -> Iterator[Answer]:
        """Yield all hits of a search, whose `sort` has no equals, `size` at a time."""
        page: Search = {**search, "size": size, "track_total_hits": False}
        while True:
            (hits,) = self.send(opened, [page])
            if hits:
                yield hits
            if len(hits) < size:
                return
            page = {**page, "search_after": hits[-1]["sort"]}

    def write(self, opened: Opened, actions: Iterable[Action]) -> None:
        """Carry out every action; on return the cluster has all of them on disk.

        Actions name their documents, so sending one again after a lost answer changes nothing.

        Raises:
            SearchIndexError: Some were refused; names them with their causes.
            IndexGoneError: There is no such index any more.
        """
        pending = {action["_id"]: action for action in actions}

        def attempt() -> None:
            refused: dict[str, Exception] = {}
            for done, item in parallel_bulk(
                self.client,
                list(pending.values()),
                index=opened.described.writing_alias,
                require_alias=True,
                thread_count=_THREADS,
                chunk_size=_DOCUMENTS,
                max_chunk_bytes=_BYTES,
                raise_on_error=False,
                raise_on_exception=False,
            ):
                ((operation, result),) = item.items()
                if done or (operation == "delete" and result.get("result") == "not_found"):
                    del pending[result["_id"]]
                else:
                    refused[result["_id"]] = _failure(result)
            _raise_first(refused, opened.index)

        with_retries(self.patience, attempt)

    def _header(self, opened: Opened, search: Search) -> dict[str, Any]:
        header: dict[str, Any] = {
            "index": opened.index,
            "allow_partial_search_results": False,
            "preference": self._preference,
        }
        ranks_words = "bool" in search["query"] and "_score" in search.get("sort", ())
        if opened.described.shards > 1 and ranks_words:
            header["search_type"] = "dfs_query_then_fetch"  # one shard's statistics are not all
        return header


def _state_of(found: Answer, opened: Opened) -> State:
    if not found:  # not refreshed yet on the copy that was asked: what is known is as new
        return opened.state
    return state_from(found[0]["_source"].get("state"), opened.index)


def _failure(result: Mapping[str, Any]) -> Exception:
    """Return what happened to one document: the request's own failure, or the item's."""
    exception = result.get("exception")
    if isinstance(exception, Exception):
        return exception
    return item_error(int(result.get("status", 500)), result.get("error", "no cause given"))


def _raise_first(refused: Mapping[str, Exception], index: str) -> None:
    """Raise what cannot pass, told as one error, or else one of those that may."""
    hopeless = {key: error for key, error in refused.items() if not is_transient(error)}
    if not hopeless:
        for error in refused.values():
            raise error
        return
    first = next(iter(hopeless.values()))
    if isinstance(first, ItemError):
        causes = list(dict.fromkeys(str(error) for error in hopeless.values()))
        shown = ", ".join(list(hopeless)[:_SHOWN])
        first = ItemError(first.status, {"type": first.type, "reason": "; ".join(causes[:_SHOWN])})
        doing = f"{len(hopeless):,} documents of the index {index!r} were refused ({shown}"
        doing += ", ...)" if len(hopeless) > _SHOWN else ")"
    else:
        doing = f"{len(hopeless):,} documents cannot be written to the index {index!r}"
    with explained(doing):
        raise first
