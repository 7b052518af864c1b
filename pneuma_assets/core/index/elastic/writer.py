"""Changing the index: written first, shown by one replacement of the state, removed later."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from elasticsearch import Elasticsearch

from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.elastic.bulk import send
from pneuma_assets.core.index.elastic.documents import Action, Checked, actions_of, facts_action
from pneuma_assets.core.index.elastic.ledger import Known, Ledger
from pneuma_assets.core.index.elastic.state import Lease
from pneuma_assets.core.index.elastic.state_store import Stored
from pneuma_assets.core.index.elastic.target import Opened
from pneuma_assets.core.index.elastic.transport import Transport
from pneuma_assets.core.tables import TableFacts
from pneuma_assets.core.text.analysis import Analyzer

LEASE_SECONDS = 3600.0
"""How long a writer may take for one group of tables; then it has to begin again, and others
delete what it wrote."""

MERGE_SECONDS = 4 * 3600.0

_ATTEMPTS = 100
"""How often a change starts over because others were faster."""

Tables = Mapping[str, Checked]
"""Checked contents by table id."""


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
    hidden: Callable[[Known, Lease], Iterable[int]]
    table_ids: Sequence[str]


class Writer:
    """Replaces and removes tables; any number of writers may work at the same time.

    Args:
        client: Connected to the cluster.
        ledger: The index's state.
        transport: Finds the index, and again when it was swapped.
        analyzer: Turns texts into terms.
        patience: Seconds to go on while failures may pass.
    """

    def __init__(
        self,
        client: Elasticsearch,
        ledger: Ledger,
        transport: Transport,
        analyzer: Analyzer,
        patience: float,
    ) -> None:
        self._client = client
        self._ledger = ledger
        self._transport = transport
        self._analyzer = analyzer
        self._patience = patience

    def replace(self, tables: Tables) -> None:
        """Make each table's contents exactly these, all at once; equal tables stay untouched.

        The tables are few enough to be sent within the lease.
        """
        digests = {table_id: contents.digest for table_id, contents in tables.items()}
        facts = {table_id: contents.facts for table_id, contents in tables.items()}

        def attempt(opened: Opened) -> bool:
            stored = self._ledger.prepared(opened)
            known = self._ledger.known(opened, stored.state, tables)
            texts = [
                i for i in tables if i not in known.tables or known.tables[i].digest != digests[i]
            ]
            told = _differing(facts, known)

            def actions(numbers: Iterator[int]) -> Iterator[Action]:
                for i in texts:
                    yield from actions_of(i, tables[i], digests[i], next(numbers), self._analyzer)
                for i in told:
                    yield facts_action(i, facts[i], next(numbers))

            def hidden(now: Known, _: Lease) -> list[int]:
                return now.generations(texts, told)

            write = _Write(len(texts) + len(told), actions, hidden, list(tables))
            return self._written(opened, stored, write)

        self._until_done(attempt)

    def set_facts(self, facts: Mapping[str, TableFacts]) -> None:
        """Tell anew what is known of tables, all at once; those that are not there are ignored."""

        def attempt(opened: Opened) -> bool:
            stored = self._ledger.prepared(opened)
            known = self._ledger.known(opened, stored.state, facts)
            told = [i for i in _differing(facts, known) if i in known.tables]

            def actions(numbers: Iterator[int]) -> Iterator[Action]:
                return (facts_action(i, facts[i], next(numbers)) for i in told)

            def hidden(now: Known, lease: Lease) -> list[int]:
                numbered = enumerate(told, lease.first)
                left = [number for number, i in numbered if i not in now.tables]
                return [*now.generations((), told), *left]  # of tables that left meanwhile, ours

            return self._written(opened, stored, _Write(len(told), actions, hidden, list(facts)))

        self._until_done(attempt)

    def delete(self, table_ids: Sequence[str]) -> None:
        """Hide tables from every reader; their documents go later."""

        def attempt(opened: Opened) -> bool:
            stored = self._ledger.prepared(opened)
            known = self._ledger.known(opened, stored.state, table_ids)
            if not known.tables:
                return True
            state = stored.state.hiding(known.generations(table_ids, table_ids), time.time())
            return self._ledger.replaced(opened, stored, state) is not None

        self._until_done(attempt)

    def purge(self) -> None:
        """Delete the documents that nobody reads any more."""
        self._until_done(lambda opened: bool(self._ledger.prepared(opened)))

    def merge(self) -> None:
        """Merge each shard into one segment, however long it takes."""

        def attempt(opened: Opened) -> bool:
            self._client.options(request_timeout=MERGE_SECONDS).indices.forcemerge(
                index=opened.index, max_num_segments=1
            )
            self._ledger.refresh(opened.index)
            return True

        self._until_done(attempt)

    def _written(self, opened: Opened, stored: Stored, write: _Write) -> bool:
        """Write under a lease and commit; False if others were faster, to start anew."""
        if not write.count:
            return True
        state, lease = stored.state.reserved(write.count, time.time() + LEASE_SECONDS)
        reserved = self._ledger.replaced(opened, stored, state)
        if reserved is None:
            return False
        numbers = iter(range(lease.first, lease.last + 1))
        send(self._client, opened, write.actions(numbers), self._patience)
        self._ledger.refresh(opened.index)
        return self._commit(opened, reserved, lease, write)

    def _commit(self, opened: Opened, stored: Stored, lease: Lease, write: _Write) -> bool:
        """Show what was written under a lease; False if the lease is over, to start anew.

        It is over when the commit went through and only its answer was lost: starting anew finds
        every table as it should be. What another writer has committed meanwhile is looked up
        again; the later commit wins.
        """
        while lease in stored.state.leases:
            known = self._ledger.known(opened, stored.state, write.table_ids)
            state = stored.state.committed(lease, write.hidden(known, lease), time.time())
            if self._ledger.replaced(opened, stored, state) is not None:
                return True
            stored = self._ledger.stored(opened)
        return False

    def _until_done(self, attempt: Callable[[Opened], bool]) -> None:
        for _ in range(_ATTEMPTS):
            if self._transport.repeated(attempt):
                return
        raise SearchIndexError(
            "Other processes keep changing the index; run again when fewer of them write."
        )


def _differing(facts: Mapping[str, TableFacts], known: Known) -> list[str]:
    return [i for i in facts if i not in known.facts or known.facts[i].facts != facts[i]]
