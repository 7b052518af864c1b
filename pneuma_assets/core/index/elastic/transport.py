"""Sending searches: several in one request, all of them at one state of the index.

Failures that may pass are met with patience, and an index that was swapped is found again.
"""

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from elasticsearch import Elasticsearch

from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.elastic.failures import following, is_gone, patiently
from pneuma_assets.core.index.elastic.requests import MAX_CANDIDATES, Search, hits_of
from pneuma_assets.core.index.elastic.state import State, state_from
from pneuma_assets.core.index.elastic.state_store import (
    Stored,
    read_state,
    state_query,
)
from pneuma_assets.core.index.elastic.target import Opened, Target

Answer = list[dict[str, Any]]
"""The hits of one search."""

Result = TypeVar("Result")

_TOO_SLOW = 3


class Transport:
    """Carries searches to the index that a target names, and its answers back.

    Args:
        client: Connected to the cluster.
        target: Names the index.
        patience: Seconds to go on while a request's failure may pass.
        retention: Seconds for which the documents of a replaced table are kept; an answer that
            took longer may lack some, and is asked for again.
    """

    def __init__(
        self, client: Elasticsearch, target: Target, patience: float, retention: float
    ) -> None:
        self._client = client
        self._target = target
        self._patience = patience
        self._retention = retention
        # Copies of a shard count removed documents differently: staying with one of each keeps
        # a block's score the same from call to call.
        self._preference = uuid.uuid4().hex

    def ask(self, make: Callable[[Opened], list[Search]]) -> list[Answer]:
        """Answer the searches that `make` returns for an opened index, in one round trip.

        The state is searched for along with them. If it has changed since the last call, they are
        sent once more, so that an answer is never older than the call.
        """

        def attempt(opened: Opened) -> list[Answer]:
            *answers, found = self.send(opened, [*make(opened), state_query()])
            newest = self._target.saw(opened, _state_of(found, opened))
            if newest.state == opened.state:
                return answers
            return self.send(newest, make(newest))

        return self._in_time(attempt)

    def at_newest(self, work: Callable[[Opened], Result]) -> Result:
        """Call `work` with the index at its newest state; again if the index is swapped."""
        return self._in_time(
            lambda opened: work(self._target.saw(opened, self.state(opened).state))
        )

    def repeated(self, attempt: Callable[[Opened], Result]) -> Result:
        """Call `attempt` with the index, and again if that was swapped under it."""

        def once() -> Result:
            opened = patiently(self._patience, self._target.current)
            try:
                return attempt(opened)
            except Exception as error:
                if is_gone(error):
                    self._target.forget(opened)
                raise

        return following(once)

    def _in_time(self, attempt: Callable[[Opened], Result]) -> Result:
        """Call `attempt` until it is quick enough to have missed nothing.

        Raises:
            SearchIndexError: The cluster is too slow for that.
        """
        for _ in range(_TOO_SLOW):
            started = time.monotonic()
            result = self.repeated(attempt)
            if time.monotonic() - started < self._retention:
                return result
        raise SearchIndexError(
            f"The cluster took longer than {self._retention:.0f} seconds {_TOO_SLOW} times; look "
            "at its load, or raise index.elasticsearch.timeout_seconds."
        )

    def state(self, opened: Opened) -> Stored:
        """Return the newest state, whether or not searches see it yet."""
        return patiently(self._patience, lambda: read_state(self._client, opened.index))

    def send(self, opened: Opened, searches: Sequence[Search]) -> list[Answer]:
        """Send searches in one request; part of an answer is a failure, not an answer."""
        return [hits_of(answer) for answer in self.answers(opened, searches)]

    def answers(self, opened: Opened, searches: Sequence[Search]) -> list[dict[str, Any]]:
        """Send searches in one request and return all that is answered, counts included."""
        if not searches:
            return []
        lines: list[dict[str, Any]] = []
        for search in searches:
            lines += [self._header(opened, search), search]

        def call() -> list[dict[str, Any]]:
            answers = list(self._client.msearch(searches=lines)["responses"])
            for answer in answers:
                hits_of(answer)  # raises what failed
            return answers

        return patiently(self._patience, call)

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
