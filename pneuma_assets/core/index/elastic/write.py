"""Changing the index: written first, shown by one replacement of the state, removed later."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.elastic.alias import Opened, being_copied
from pneuma_assets.core.index.elastic.client import Transport
from pneuma_assets.core.index.elastic.contents import (
    FactsRecord,
    TableRecord,
    facts_at,
    tables_at,
)
from pneuma_assets.core.index.elastic.documents import (
    Prepared,
    actions_of,
    facts_action,
    removal_of,
)
from pneuma_assets.core.index.elastic.errors import IndexGoneError, item_error, with_retries
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


@dataclass(frozen=True, slots=True)
class _Known:
    """What a state shows of some tables: their records, and those of their facts."""

    tables: Mapping[str, TableRecord]
    facts: Mapping[str, FactsRecord]

    def generations(self, tables: Iterable[str], facts: Iterable[str]) -> list[int]:
        """Return the generations of these tables' texts, and of those tables' facts."""
        texts = [self.tables[i].generation for i in tables if i in self.tables]
        return [*texts, *(self.facts[i].generation for i in facts if i in self.facts)]


@dataclass(frozen=True, slots=True)
class _Write:
    """What is written under one lease: tables, and tables' facts, by their generations."""

    lease: Lease
    texts: Mapping[str, int]
    facts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Writer:
    """Replaces and removes tables; any number of writers may work at the same time."""

    transport: Transport
    analyzer: Analyzer

    def replace(self, tables: Mapping[str, Prepared], facts: Mapping[str, TableFacts]) -> None:
        """Make these the tables' texts and facts, all at once; what is equal stays untouched.

        Facts are those of these tables and of others; of others that are not there, they are
        ignored. The tables are few enough to be sent within the lease.
        """

        def attempt(opened: Opened) -> bool:
            stored = self._prepared(opened)
            known = self._known(opened, stored.state, facts)
            old = {i: record.digest for i, record in known.tables.items()}
            told = {i: record.facts for i, record in known.facts.items()}
            texts = [i for i, table in tables.items() if old.get(i) != table.digest]
            there = tables.keys() | known.tables.keys()
            changed = [i for i, one in facts.items() if i in there and told.get(i) != one]
            if not texts and not changed:
                return True
            until = time.time() + LEASE_SECONDS
            state, lease = stored.state.reserved(len(texts) + len(changed), until)
            reserved = self._replaced(opened, stored, state)
            if reserved is None:
                return False
            numbers = iter(range(lease.first, lease.last + 1))
            write = _Write(
                lease,
                dict(zip(texts, numbers, strict=False)),
                dict(zip(changed, numbers, strict=True)),
            )
            self._send(opened, write, tables, facts)
            return self._commit(opened, reserved, write, facts.keys())

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
            self.transport.client.options(request_timeout=MERGE_SECONDS).indices.forcemerge(
                index=opened.index, max_num_segments=1
            )
            self._refresh(opened.index)
            return True

        self._until_done(attempt)

    def _send(
        self,
        opened: Opened,
        write: _Write,
        tables: Mapping[str, Prepared],
        facts: Mapping[str, TableFacts],
    ) -> None:
        """Write the documents, which nobody sees before the commit."""
        of_texts = (
            action
            for i, number in write.texts.items()
            for action in actions_of(i, tables[i], number, self.analyzer)
        )
        of_facts = (facts_action(i, facts[i], number) for i, number in write.facts.items())
        self.transport.write(opened, chain(of_texts, of_facts))
        self._refresh(opened.index)

    def _commit(
        self, opened: Opened, stored: Stored, write: _Write, table_ids: Collection[str]
    ) -> bool:
        """Show what was written under a lease; False if the lease is over, to start over.

        It is over when the commit went through and only its answer was lost: starting over finds
        every table as it should be. What another writer has committed meanwhile is looked up
        again; the later commit wins. Facts of a table that left meanwhile are never shown.
        """
        while write.lease in stored.state.leases:
            known = self._known(opened, stored.state, table_ids)
            there = write.texts.keys() | known.tables.keys()
            hidden = known.generations(write.texts, write.facts)
            hidden += [number for i, number in write.facts.items() if i not in there]
            state = stored.state.committed(write.lease, hidden, time.time())
            if self._replaced(opened, stored, state) is not None:
                return True
            stored = self._stored(opened)
        return False

    def _until_done(self, attempt: Callable[[Opened], bool]) -> None:
        for _ in range(_ATTEMPTS):
            if self.transport.repeated(attempt):
                return
        raise SearchIndexError(
            "Other processes keep changing the index; run again when fewer of them write."
        )

    def _prepared(self, opened: Opened) -> Stored:
        """Return the newest state, with nothing left in it that could have been cleaned up."""
        retention = self.transport.retention
        give_up = time.monotonic() + 2 * retention + self.transport.patience
        while True:
            stored = self._stored(opened)
            garbage = stored.state.garbage(time.time(), retention)
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
        stored = self.transport.state(opened)
        successor = stored.state.successor
        if successor is None:
            return stored
        if successor.copying:
            raise being_copied(opened.index, successor.index)
        if self.transport.handle.building:
            raise IndexGoneError(f"{opened.index!r} has a successor, which is to be written")
        raise SearchIndexError(
            f"The index {opened.index!r} is being replaced by {successor.index!r}; "
            "write through a handle that is opened for building."
        )

    def _known(self, opened: Opened, state: State, table_ids: Iterable[str]) -> _Known:
        """Return what a state shows of tables."""
        at, wanted = Opened(opened.index, opened.described, state), list(table_ids)
        tables = tables_at(self.transport, at, wanted)
        return _Known(tables, facts_at(self.transport, at, wanted))

    def _replaced(self, opened: Opened, stored: Stored, state: State) -> Stored | None:
        """Replace the state if it is still the newest; None if it is not."""
        replaced = with_retries(
            self.transport.patience,
            lambda: replace_state(
                self.transport.client, opened.described.writing_alias, stored, state
            ),
        )
        if replaced is not None:
            self.transport.handle.saw(opened, state)
        return replaced

    def _refresh(self, index: str) -> None:
        """Make what was written searchable on every copy of every shard."""

        def call() -> None:
            shards = self.transport.client.indices.refresh(index=index)["_shards"]
            if shards["failed"]:
                raise item_error(503, shards["failures"][0].get("reason", "a shard failed"))

        with_retries(self.transport.patience, call)

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
            (hits,) = self.transport.send(opened, [search])
            if not hits:
                return
            self.transport.write(opened, map(removal_of, hits))
            self._refresh(opened.index)
