"""What writers need of an index: its newest state, replacing that, and cleaning up behind it."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from elasticsearch import Elasticsearch

from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.elastic.bulk import send
from pneuma_assets.core.index.elastic.contents import (
    FactsRecord,
    TableRecord,
    facts_at,
    tables_at,
)
from pneuma_assets.core.index.elastic.documents import removal_of
from pneuma_assets.core.index.elastic.failures import IndexGoneError, item_error, patiently
from pneuma_assets.core.index.elastic.requests import MAX_CANDIDATES
from pneuma_assets.core.index.elastic.state import Garbage, State, generation_clauses
from pneuma_assets.core.index.elastic.state_store import Stored, replace_state
from pneuma_assets.core.index.elastic.target import Opened, Target, being_copied
from pneuma_assets.core.index.elastic.transport import Transport

MAX_HIDDEN = 5_000
"""Retired generations that searches must exclude; a writer waits rather than exceed it."""


@dataclass(frozen=True, slots=True)
class Known:
    """What a state shows of some tables: their records, and those of their facts."""

    tables: Mapping[str, TableRecord]
    facts: Mapping[str, FactsRecord]

    def generations(self, tables: Iterable[str], facts: Iterable[str]) -> list[int]:
        """Return the generations of these tables' texts, and of those tables' facts."""
        texts = [self.tables[i].generation for i in tables if i in self.tables]
        return [*texts, *(self.facts[i].generation for i in facts if i in self.facts)]


class Ledger:
    """The state of the index that a target names, as writers see and change it.

    Args:
        client: Connected to the cluster.
        target: Names the index.
        transport: Finds what is there.
        patience: Seconds to go on while failures may pass.
        retention: Seconds after which nobody reads what was replaced; more than a search takes.
    """

    def __init__(
        self,
        client: Elasticsearch,
        target: Target,
        transport: Transport,
        patience: float,
        retention: float,
    ) -> None:
        self._client = client
        self._target = target
        self._transport = transport
        self._patience = patience
        self._retention = retention

    def stored(self, opened: Opened) -> Stored:
        """Return the newest state of an index that takes writes."""
        stored = self._transport.state(opened)
        if stored.state.successor is None:
            return stored
        if stored.state.successor.copying:
            raise being_copied(opened.index, stored.state.successor.index)
        if self._target.building:
            raise IndexGoneError(f"{opened.index!r} has a successor, which is to be written")
        raise SearchIndexError(
            f"The index {opened.index!r} is being replaced by {stored.state.successor.index!r}; "
            "write through a handle that is opened for building."
        )

    def known(self, opened: Opened, state: State, table_ids: Iterable[str]) -> Known:
        """Return what a state shows of tables."""
        at, wanted = Opened(opened.index, opened.described, state), list(table_ids)
        tables = tables_at(self._transport, at, wanted)
        return Known(tables, facts_at(self._transport, at, wanted))

    def replaced(self, opened: Opened, stored: Stored, state: State) -> Stored | None:
        """Replace the state if it is still the newest; None if it is not."""
        replaced = patiently(
            self._patience,
            lambda: replace_state(self._client, opened.described.writing_alias, stored, state),
        )
        if replaced is not None:
            self._target.saw(opened, state)
        return replaced

    def refresh(self, index: str) -> None:
        """Make what was written searchable on every copy of every shard."""

        def call() -> None:
            shards = self._client.indices.refresh(index=index)["_shards"]
            if shards["failed"]:
                raise item_error(503, shards["failures"][0].get("reason", "a shard failed"))

        patiently(self._patience, call)

    def prepared(self, opened: Opened) -> Stored:
        """Return the newest state, with nothing left in it that could have been cleaned up."""
        give_up = time.monotonic() + 2 * self._retention + self._patience
        while True:
            stored = self.stored(opened)
            now = time.time()
            garbage = stored.state.garbage(now, self._retention)
            if garbage:
                self._delete(opened, garbage)
                cleaned = self.replaced(opened, stored, stored.state.without(garbage))
                stored = cleaned or self.stored(opened)
            if len(stored.state.hidden()) <= MAX_HIDDEN:
                return stored
            if time.monotonic() > give_up:
                raise SearchIndexError(
                    f"The index {opened.index!r} has too many replaced tables that cannot be "
                    "removed yet; check that the clocks of all machines that index agree."
                )
            time.sleep(1.0)  # until enough of what is hidden has been so for long

    def _delete(self, opened: Opened, garbage: Garbage) -> None:
        """Delete the documents of garbage; no reader sees them, before or after."""
        self.refresh(opened.index)  # a dead writer's documents may not have become searchable
        clauses = generation_clauses(garbage.leases, garbage.generations)
        search = {
            "query": {"bool": {"should": clauses, "minimum_should_match": 1}},
            "sort": ["_doc"],
            "size": MAX_CANDIDATES,
            "_source": False,
        }
        while True:
            (hits,) = self._transport.send(opened, [search])
            if not hits:
                return
            send(self._client, opened, map(removal_of, hits), self._patience)
            self.refresh(opened.index)
