"""The Elasticsearch engine: `SearchIndex` over one index of a cluster, behind an alias."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import (
    IndexFilter,
    IndexInfo,
    SearchIndex,
    TableContents,
    Tables,
    blocks_worth,
)
from pneuma_assets.core.index.elastic.alias import IndexHandle
from pneuma_assets.core.index.elastic.client import Transport, connect
from pneuma_assets.core.index.elastic.contents import (
    contents_of,
    evidence_of_tables,
    facts_of_tables,
    kinds_at,
    measure,
    tables_at,
)
from pneuma_assets.core.index.elastic.documents import prepared
from pneuma_assets.core.index.elastic.errors import explained, until_found, with_retries
from pneuma_assets.core.index.elastic.search import AccessFilters, Searcher
from pneuma_assets.core.index.elastic.write import Writer
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.index.registry import Credentials
from pneuma_assets.core.tables import DocumentKind, TableFacts, TableTerms
from pneuma_assets.core.text.analysis import ENGLISH, Analyzer

OPENING = 5.0
"""Seconds to wait at opening for a cluster that does not answer: a wrong address should be told
soon. One that answers, if only that it is busy, is the right one and is waited for as always."""

_DOCUMENTS_AT_ONCE, _TABLES_AT_ONCE = 20_000, 2_000


class ElasticsearchIndex(SearchIndex):
    """A search index in an Elasticsearch 9 cluster, for any number of machines and threads.

    BM25's statistics count removed blocks until the cluster has merged them away, and the
    meaning's side is approximate where an index is large; scores are true ones nevertheless.

    Args:
        config: Where the cluster is, and how the index is made.
        encoder: Name of the encoder whose vectors these are.
        dimension: Length of one vector.
        credentials: How to sign in.
        analyzer: How texts and questions become terms.
        building: Work on the successor where one is being built, not on what readers see.
        create: Make the index where there is none; a key that may only read cannot.
        retention_seconds: How long what was replaced stays readable for searches under way; by
            default two requests' time.
        pinned: Work on this index, whatever the alias says.

    Raises:
        IndexMismatchError: The index was built with another encoder, dimension or analyzer.
        SearchIndexError: The cluster cannot be reached, or refuses.
    """

    group_limits = _DOCUMENTS_AT_ONCE, _TABLES_AT_ONCE
    """Tables that are committed together: each commit takes some refreshes."""

    def __init__(
        self,
        config: ElasticsearchConfig,
        encoder: str,
        dimension: int,
        *,
        credentials: Credentials = Credentials(),  # noqa: B008 (frozen)
        analyzer: Analyzer = ENGLISH,
        building: bool = False,
        create: bool = True,
        retention_seconds: float | None = None,
        pinned: str | None = None,
    ) -> None:
        super().__init__(Identity(encoder, dimension, analyzer.name), analyzer)
        self._config = config
        self._client = connect(config, credentials)
        patience = config.patience_seconds
        retention = 2 * config.timeout_seconds if retention_seconds is None else retention_seconds
        quick = self._client.options(request_timeout=min(config.timeout_seconds, OPENING))
        self._handle = IndexHandle(
            quick, config, self.identity, building=building, create=create, pinned=pinned
        )
        self._transport = Transport(self._client, self._handle, patience, retention)
        self._access = AccessFilters(self._transport)
        self._writer = Writer(self._transport, analyzer)
        try:
            with explained(f"The search index {config.name!r} cannot be opened"):
                until_found(lambda: with_retries(patience, self._handle.current, silence=OPENING))
        except BaseException:
            self._client.close()
            raise

    def facts(self, table_ids: Sequence[str]) -> dict[str, TableFacts]:
        """Return what is known of these tables; unknown ids are left out."""
        with self._explained("read"):
            return facts_of_tables(self._transport, table_ids)

    def delete_tables(self, table_ids: Sequence[str]) -> None:
        """Remove tables and their blocks; unknown ids are ignored."""
        with self._explained("written"):
            for some in chunks(table_ids, _TABLES_AT_ONCE):
                self._writer.delete(some)

    def evidence(self, table_ids: Sequence[str]) -> dict[str, TableTerms]:
        """Return the evidence of these tables; unknown ids are left out."""
        with self._explained("read"):
            return evidence_of_tables(self._transport, table_ids)

    def list_tables(self, readers: Sequence[str] | None = None) -> dict[str, int]:
        """Return every indexed table with its number of blocks, in the order of their ids."""
        with self._explained("read"):
            records = self._transport.at_newest(
                lambda opened: tables_at(
                    self._transport, opened, more=self._access.of(opened, readers)
                )
            )
        return {table_id: record.blocks for table_id, record in records.items()}

    def kinds(self, readers: Sequence[str] | None = None) -> frozenset[DocumentKind]:
        """Return the kinds of documents of which there are blocks."""
        with self._explained("read"):
            return self._transport.at_newest(
                lambda opened: kinds_at(self._transport, opened, self._access.of(opened, readers))
            )

    def contents(
        self, table_ids: Sequence[str] | None = None
    ) -> Iterator[tuple[str, TableContents]]:
        """Yield what is kept, each table as it is when its turn comes."""
        with self._explained("read"):
            yield from contents_of(self._transport, table_ids)

    def info(self) -> IndexInfo:
        """Return engine, encoder, counts, size and health, as far as the key may know them."""
        with self._explained("read"):
            return self._transport.at_newest(
                lambda opened: with_retries(
                    self._config.patience_seconds,
                    lambda: measure(self._client, opened, self._config),
                )
            )

    def optimise(self) -> None:
        """Delete what nobody reads any more and merge each shard into one segment.

        Searches get faster. Takes minutes for a large index. BM25's statistics are exact after it
        if the last change is some minutes old: the cluster keeps removed documents for so long
        (`mapping.settings_of`); `pneuma-assets reindex` makes them exact at once.
        """
        with self._explained("compacted"):
            self._writer.purge()
            self._writer.merge()

    @property
    def build(self) -> str:
        """The index's own name, behind the alias."""
        return self._handle.current().index

    def unchanging(self) -> AbstractContextManager[None]:
        """Return nothing: a state that names its successor takes no writes."""
        return nullcontext()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _explained(self, what: str) -> AbstractContextManager[None]:
        """Let a failure of the cluster say that the index cannot be read, written or searched."""
        return explained(f"The search index {self._config.name!r} cannot be {what}")

    def _replace(self, tables: Tables) -> None:
        with self._explained("written"):
            ready = {table_id: prepared(table_id, one) for table_id, one in tables.items()}
            self._writer.replace(ready, {i: contents.facts for i, contents in tables.items()})

    def _set_facts(self, facts: Mapping[str, TableFacts]) -> None:
        with self._explained("written"):
            for some in chunks(list(facts), _TABLES_AT_ONCE):
                self._writer.replace({}, {table_id: facts[table_id] for table_id in some})

    @contextmanager
    def _searching(self, where: IndexFilter) -> Iterator[Searcher]:
        with self._explained("searched"):
            yield Searcher(self._transport, self._access, where)

    def _size(self, contents: TableContents) -> int:
        return blocks_worth(contents) + len(contents.evidence.rows)
