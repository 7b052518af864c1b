"""Changing the index: written first, shown by one replacement of the state, removed later."""

import time
from collections.abc import Callable, Mapping, Sequence

from elasticsearch import Elasticsearch

from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.elastic.bulk import send
from pneuma_assets.core.index.elastic.contents import TableRecord
from pneuma_assets.core.index.elastic.documents import Checked, actions_of
from pneuma_assets.core.index.elastic.ledger import Ledger
from pneuma_assets.core.index.elastic.state import Lease
from pneuma_assets.core.index.elastic.state_store import Stored
from pneuma_assets.core.index.elastic.target import Opened
from pneuma_assets.core.index.elastic.transport import Transport
from pneuma_assets.core.text.analysis import Analyzer

LEASE_SECONDS = 3600.0
"""How long a writer may take for one group of tables; then it has to begin again, and others
delete what it wrote."""

MERGE_SECONDS = 4 * 3600.0

_ATTEMPTS = 100
"""How often a change starts over because others were faster."""

Tables = Mapping[str, Checked]
"""Checked contents by table id."""


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

        def differing(known: Mapping[str, TableRecord]) -> list[str]:
            return [i for i in tables if i not in known or known[i].digest != digests[i]]

        def attempt(opened: Opened) -> bool:
            stored = self._ledger.prepared(opened)
            known = self._ledger.known(opened, stored.state, tables)
            wanted = differing(known)
            if not wanted:
                return True
            state, lease = stored.state.reserved(len(wanted), time.time() + LEASE_SECONDS)
            reserved = self._ledger.replaced(opened, stored, state)
            if reserved is None:
                return False
            numbers = dict(zip(wanted, range(lease.first, lease.last + 1), strict=True))
            actions = (
                action
                for i, number in numbers.items()
                for action in actions_of(i, tables[i], digests[i], number, self._analyzer)
            )
            send(self._client, opened, actions, self._patience)
            self._ledger.refresh(opened.index)
            return self._commit(opened, reserved, lease, wanted, known)

        self._until_done(attempt)

    def delete(self, table_ids: Sequence[str]) -> None:
        """Hide tables from every reader; their documents go later."""

        def attempt(opened: Opened) -> bool:
            stored = self._ledger.prepared(opened)
            known = self._ledger.known(opened, stored.state, table_ids)
            if not known:
                return True
            state = stored.state.hiding((one.generation for one in known.values()), time.time())
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

    def _commit(
        self,
        opened: Opened,
        stored: Stored,
        lease: Lease,
        table_ids: Sequence[str],
        known: Mapping[str, TableRecord],
    ) -> bool:
        """Show what was written under a lease; False if the lease is over, to start anew.

        It is over when the commit went through and only its answer was lost: starting anew finds
        every table as it should be. What another writer has committed meanwhile is looked up
        again; the later commit wins.
        """
        while lease in stored.state.leases:
            replaced = (known[i].generation for i in table_ids if i in known)
            state = stored.state.committed(lease, replaced, time.time())
            if self._ledger.replaced(opened, stored, state) is not None:
                return True
            stored = self._ledger.stored(opened)
            known = self._ledger.known(opened, stored.state, table_ids)
        return False

    def _until_done(self, attempt: Callable[[Opened], bool]) -> None:
        for _ in range(_ATTEMPTS):
            if self._transport.repeated(attempt):
                return
        raise SearchIndexError(
            "Other processes keep changing the index; run again when fewer of them write."
        )
