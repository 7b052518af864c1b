"""Changing the index: written first, shown by one replacement of the state, removed later."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from elasticsearch import Elasticsearch

from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.analysis import Analyzer
from pneuma_assets.core.index.elastic.bulk import send
from pneuma_assets.core.index.elastic.contents import TableRecord, tables_at
from pneuma_assets.core.index.elastic.documents import actions_of, digest_of, removal_of
from pneuma_assets.core.index.elastic.failures import IndexGoneError, item_error, patiently
from pneuma_assets.core.index.elastic.queries import MAX_CANDIDATES
from pneuma_assets.core.index.elastic.searcher import Searcher
from pneuma_assets.core.index.elastic.state import Garbage, Lease, State, generation_clauses
from pneuma_assets.core.index.elastic.state_store import Stored, replace_state
from pneuma_assets.core.index.elastic.target import Opened, Target, being_copied
from pneuma_assets.core.tables import EmbeddedBlock

LEASE_SECONDS = 3600.0
"""How long a writer may take for one group of tables; then it has to begin again, and others
delete what it wrote."""

MAX_HIDDEN = 5_000
"""Retired generations that searches must exclude; a writer waits rather than exceed it."""

MERGE_SECONDS = 4 * 3600.0

_ATTEMPTS = 100
"""How often a change starts over because others were faster."""

Tables = Mapping[str, Mapping[str, EmbeddedBlock]]
"""Checked blocks by table id and block id."""


class Writer:
    """Replaces and removes tables; any number of writers may work at the same time.

    Args:
        client: Connected to the cluster.
        target: Names the index.
        searcher: Finds what is there.
        analyzer: Turns texts into terms.
        patience: Seconds to go on while failures may pass.
        retention: Seconds after which nobody reads what was replaced; more than a search takes.
    """

    def __init__(
        self,
        client: Elasticsearch,
        target: Target,
        searcher: Searcher,
        analyzer: Analyzer,
        patience: float,
        retention: float,
    ) -> None:
        self._client = client
        self._target = target
        self._searcher = searcher
        self._analyzer = analyzer
        self._patience = patience
        self._retention = retention

    def replace(self, tables: Tables) -> None:
        """Make each table's blocks exactly these, all at once; equal tables stay untouched.

        The tables are few enough to be sent within the lease.
        """
        digests = {table_id: digest_of(blocks) for table_id, blocks in tables.items()}

        def differing(known: Mapping[str, TableRecord]) -> list[str]:
            return [i for i in tables if i not in known or known[i].digest != digests[i]]

        def attempt(opened: Opened) -> bool:
            stored = self._prepared(opened)
            known = self._known(opened, stored.state, tables)
            wanted = differing(known)
            if not wanted:
                return True
            state, lease = stored.state.reserved(len(wanted), time.time() + LEASE_SECONDS)
            reserved = self._replaced(opened, stored, state)
            if reserved is None:
                return False
            numbers = dict(zip(wanted, range(lease.first, lease.last + 1), strict=True))
            actions = (
                action
                for i, number in numbers.items()
                for action in actions_of(i, tables[i], digests[i], number, self._analyzer)
            )
            send(self._client, opened, actions, self._patience)
            self._refresh(opened.index)
            return self._commit(opened, reserved, lease, wanted, known)

        self._until_done(attempt)

    def delete(self, table_ids: Sequence[str]) -> None:
        """Hide tables from every reader; their documents go later."""

        def attempt(opened: Opened) -> bool:
            stored = self._prepared(opened)
            known = self._known(opened, stored.state, table_ids)
            if not known:
                return True
            state = stored.state.hiding((one.generation for one in known.values()), time.time())
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
            if self._replaced(opened, stored, state) is not None:
                return True
            stored = self._stored(opened)
            known = self._known(opened, stored.state, table_ids)
        return False

    def _prepared(self, opened: Opened) -> Stored:
        """Return the newest state, with nothing left in it that could have been cleaned up."""
        give_up = time.monotonic() + 2 * self._retention + self._patience
        while True:
            stored = self._stored(opened)
            now = time.time()
            garbage = stored.state.garbage(now, self._retention)
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

    def _delete(self, opened: Opened, garbage: Garbage) -> None:
        """Delete the documents of garbage; no reader sees them, before or after."""
        self._refresh(opened.index)  # a dead writer's documents may not have become searchable
        clauses = generation_clauses(garbage.leases, garbage.generations)
        search = {
            "query": {"bool": {"should": clauses, "minimum_should_match": 1}},
            "sort": ["_doc"],
            "size": MAX_CANDIDATES,
            "_source": False,
        }
        while True:
            (hits,) = self._searcher.send(opened, [search])
            if not hits:
                return
            send(self._client, opened, map(removal_of, hits), self._patience)
            self._refresh(opened.index)

    def _stored(self, opened: Opened) -> Stored:
        """Return the newest state of an index that takes writes."""
        stored = self._searcher.state(opened)
        if stored.state.successor is None:
            return stored
        if stored.state.successor.copying:
            raise SearchIndexError(being_copied(opened.index, stored.state.successor.index))
        if self._target.building:
            raise IndexGoneError(f"{opened.index!r} has a successor, which is to be written")
        raise SearchIndexError(
            f"The index {opened.index!r} is being replaced by {stored.state.successor.index!r}; "
            "write through a handle that is opened for building."
        )

    def _known(
        self, opened: Opened, state: State, table_ids: Iterable[str]
    ) -> dict[str, TableRecord]:
        at = Opened(opened.index, opened.described, state)
        return tables_at(self._searcher, at, list(table_ids))

    def _replaced(self, opened: Opened, stored: Stored, state: State) -> Stored | None:
        replaced = patiently(
            self._patience,
            lambda: replace_state(self._client, opened.described.writing_alias, stored, state),
        )
        if replaced is not None:
            self._target.saw(opened, state)
        return replaced

    def _refresh(self, index: str) -> None:
        """Make what was written searchable on every copy of every shard."""

        def call() -> None:
            shards = self._client.indices.refresh(index=index)["_shards"]
            if shards["failed"]:
                raise item_error(503, shards["failures"][0].get("reason", "a shard failed"))

        patiently(self._patience, call)

    def _until_done(self, attempt: Callable[[Opened], bool]) -> None:
        for _ in range(_ATTEMPTS):
            if self._searcher.repeated(attempt):
                return
        raise SearchIndexError(
            "Other processes keep changing the index; run again when fewer of them write."
        )
