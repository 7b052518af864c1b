"""Changing the index: written first, shown by one replacement of the state, removed later."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from elasticsearch import Elasticsearch

from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.elastic.client import Transport, send_documents
from pneuma_assets.core.index.elastic.contents import (
    FactsRecord,
    TableRecord,
    facts_at,
    tables_at,
)
from pneuma_assets.core.index.elastic.documents import (
    Action,
    Checked,
    actions_of,
    facts_action,
    removal_of,
)
from pneuma_assets.core.index.elastic.errors import IndexGoneError, item_error, with_retries
from pneuma_assets.core.index.elastic.handle import IndexHandle, Opened, being_copied
from pneuma_assets.core.index.elastic.queries import MAX_CANDIDATES, any_of
from pneuma_assets.core.index.elastic.state import (
    Garbage,
    Lease,
    State,
    Stored,
    generation_clauses,
    replace_state,
)
from pneuma_assets.core.tables import TableFacts
from pneuma_assets.core.text.analysis import Analyzer

LEASE_SECONDS = 3600.0
"""How long a writer may take for one group of tables; then it has to begin again, and others
delete what it wrote."""

MERGE_SECONDS = 4 * 3600.0

MAX_HIDDEN = 5_000
"""Retired generations that searches must exclude; a writer waits rather than exceed it."""

_ATTEMPTS = 100
"""How often a change starts over because others were faster."""

Tables = Mapping[str, Checked]
"""Checked contents by table id."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What a state shows of some tables: their records, and those of their facts."""

    tables: Mapping[str, TableRecord]
    facts: Mapping[str, FactsRecord]

    def generations(self, tables: Iterable[str], facts: Iterable[str]) -> list[int]:
        """Return the generations of these tables' texts, and of those tables' facts."""
        texts = [self.tables[i].generation for i in tables if i in self.tables]
        return [*texts, *(self.facts[i].generation for i in facts if i in self.facts)]

    def differing(self, facts: Mapping[str, TableFacts]) -> list[str]:
        """Return the tables whose facts are others than these."""
        return [i for i in facts if i not in self.facts or self.facts[i].facts != facts[i]]


@dataclass(frozen=True, slots=True)
class _Write:
    """What is written under one lease.

    Attributes:
        count: The generations that it takes.
        actions: Returns the documents, given these generations.
        hidden: Returns what it hides, given what is there when it is committed.
        table_ids: The tables to look up for that.
    """

    count: int
    actions: Callable[[Iterator[int]], Iterable[Action]]
    hidden: Callable[[_Known, Lease], Iterable[int]]
    table_ids: Sequence[str]


class Writer:
    """Replaces and removes tables; any number of writers may work at the same time.

    Args:
        client: Connected to the cluster.
        handle: Names the index.
        transport: Finds what is there.
        analyzer: Turns texts into terms.
        patience: Seconds to go on while failures may pass.
        retention: Seconds after which nobody reads what was replaced; more than a search takes.
    """

    def __init__(
        self,
        client: Elasticsearch,
        handle: IndexHandle,
        transport: Transport,
        analyzer: Analyzer,
        patience: float,
        retention: float,
    ) -> None:
        self._client = client
        self._handle = handle
        self._transport = transport
        self._analyzer = analyzer
        self._patience = patience
        self._retention = retention

    def replace(self, tables: Tables) -> None:
        """Make each table's contents exactly these, all at once; equal tables stay untouched.

        The tables are few enough to be sent within the lease.
        """
        digests = {table_id: contents.digest for table_id, contents in tables.items()}
        facts = {table_id: contents.facts for table_id, contents in tables.items()}

        def attempt(opened: Opened) -> bool:
            stored = self._prepared(opened)
            known = self._known(opened, stored.state, tables)
            texts = [
                i for i in tables if i not in known.tables or known.tables[i].digest != digests[i]
            ]
            changed = known.differing(facts)

            def actions(numbers: Iterator[int]) -> Iterator[Action]:
                for i in texts:
                    yield from actions_of(i, tables[i], digests[i], next(numbers), self._analyzer)
                for i in changed:
                    yield facts_action(i, facts[i], next(numbers))

            def hidden(now: _Known, _: Lease) -> list[int]:
                return now.generations(texts, changed)

            write = _Write(len(texts) + len(changed), actions, hidden, list(tables))
            return self._written(opened, stored, write)

        self._until_done(attempt)

    def set_facts(self, facts: Mapping[str, TableFacts]) -> None:
        """Replace what is known of tables, all at once; those that are not there are ignored."""

        def attempt(opened: Opened) -> bool:
            stored = self._prepared(opened)
            known = self._known(opened, stored.state, facts)
            changed = [i for i in known.differing(facts) if i in known.tables]

            def actions(numbers: Iterator[int]) -> Iterator[Action]:
                return (facts_action(i, facts[i], next(numbers)) for i in changed)

            def hidden(now: _Known, lease: Lease) -> list[int]:
                numbered = enumerate(changed, lease.first)
                left = [number for number, i in numbered if i not in now.tables]
                return [*now.generations((), changed), *left]  # of tables that left meanwhile, ours

            return self._written(opened, stored, _Write(len(changed), actions, hidden, list(facts)))

        self._until_done(attempt)

    def delete(self, table_ids: Sequence[str]) -> None:
        """Hide tables from every reader; their documents go later."""

        def attempt(opened: Opened) -> bool:
            stored = self._prepared(opened)
            known = self._known(opened, stored.state, table_ids)
            if not known.tables:
                return True
            state = stored.state.hiding(known.generations(table_ids, table_ids), time.time())
            return self._replaced(opened, stored, state) is not None

        self._until_done(attempt)

    def purge(self) -> None:
        """Delete the documents that nobody reads any more."""
        self._until_done(lambda opened: bool(self._prepared(opened)))

    def merge(self) -> None:
        """Merge each shard into one segment, however long it takes."""

        def attempt(opened: Opened) -> bool:
            self._client.options(request_timeout=MERGE_SECONDS).indices.forcemerge(
                index=opened.index, max_num_segments=1
            )
            self._refresh(opened.index)
            return True

        self._until_done(attempt)

    def _written(self, opened: Opened, stored: Stored, write: _Write) -> bool:
        """Write under a lease and commit; False if others were faster, to start over."""
        if not write.count:
            return True
        state, lease = stored.state.reserved(write.count, time.time() + LEASE_SECONDS)
        reserved = self._replaced(opened, stored, state)
        if reserved is None:
            return False
        numbers = iter(range(lease.first, lease.last + 1))
        send_documents(self._client, opened, write.actions(numbers), self._patience)
        self._refresh(opened.index)
        return self._commit(opened, reserved, lease, write)

    def _commit(self, opened: Opened, stored: Stored, lease: Lease, write: _Write) -> bool:
        """Show what was written under a lease; False if the lease is over, to start over.

        It is over when the commit went through and only its answer was lost: starting over finds
        every table as it should be. What another writer has committed meanwhile is looked up
        again; the later commit wins.
        """
        while lease in stored.state.leases:
            known = self._known(opened, stored.state, write.table_ids)
            state = stored.state.committed(lease, write.hidden(known, lease), time.time())
            if self._replaced(opened, stored, state) is not None:
                return True
            stored = self._stored(opened)
        return False

    def _until_done(self, attempt: Callable[[Opened], bool]) -> None:
        for _ in range(_ATTEMPTS):
            if self._transport.repeated(attempt):
                return
        raise SearchIndexError(
            "Other processes keep changing the index; run again when fewer of them write."
        )

    def _prepared(self, opened: Opened) -> Stored:
        """Return the newest state, with nothing left in it that could have been cleaned up."""
        give_up = time.monotonic() + 2 * self._retention + self._patience
        while True:
            stored = self._stored(opened)
            garbage = stored.state.garbage(time.time(), self._retention)
            if garbage:
                self._delete(opened, garbage)
                cleaned = self._replaced(opened, stored, stored.state.without(garbage))
                stored = cleaned or self._stored(opened)
            if len(stored.state.hidden()) <= MAX_HIDDEN:
                return stored
            if time.monotonic() > give_up:
                raise SearchIndexError(
                    f"The index {opened.index!r} has too many replaced tables that cannot be "
                    "removed yet; check that the clocks of all machines that index agree."
                )
            time.sleep(1.0)  # until enough of what is hidden has been so for long

    def _stored(self, opened: Opened) -> Stored:
        """Return the newest state of an index that takes writes."""
        stored = self._transport.state(opened)
        successor = stored.state.successor
        if successor is None:
            return stored
        if successor.copying:
            raise being_copied(opened.index, successor.index)
        if self._handle.building:
            raise IndexGoneError(f"{opened.index!r} has a successor, which is to be written")
        raise SearchIndexError(
            f"The index {opened.index!r} is being replaced by {successor.index!r}; "
            "write through a handle that is opened for building."
        )

    def _known(self, opened: Opened, state: State, table_ids: Iterable[str]) -> _Known:
        """Return what a state shows of tables."""
        at, wanted = Opened(opened.index, opened.described, state), list(table_ids)
        tables = tables_at(self._transport, at, wanted)
        return _Known(tables, facts_at(self._transport, at, wanted))

    def _replaced(self, opened: Opened, stored: Stored, state: State) -> Stored | None:
        """Replace the state if it is still the newest; None if it is not."""
        replaced = with_retries(
            self._patience,
            lambda: replace_state(self._client, opened.described.writing_alias, stored, state),
        )
        if replaced is not None:
            self._handle.saw(opened, state)
        return replaced

    def _refresh(self, index: str) -> None:
        """Make what was written searchable on every copy of every shard."""

        def call() -> None:
            shards = self._client.indices.refresh(index=index)["_shards"]
            if shards["failed"]:
                raise item_error(503, shards["failures"][0].get("reason", "a shard failed"))

        with_retries(self._patience, call)

    def _delete(self, opened: Opened, garbage: Garbage) -> None:
        """Delete the documents of garbage; no reader sees them, before or after."""
        self._refresh(opened.index)  # a dead writer's documents may not have become searchable
        search = {
            "query": any_of(generation_clauses(garbage.leases, garbage.generations)),
            "sort": ["_doc"],
            "size": MAX_CANDIDATES,
            "_source": False,
        }
        while True:
            (hits,) = self._transport.send(opened, [search])
            if not hits:
                return
            send_documents(self._client, opened, map(removal_of, hits), self._patience)
            self._refresh(opened.index)
