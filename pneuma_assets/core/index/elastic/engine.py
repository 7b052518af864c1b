"""The Elasticsearch engine: `SearchIndex` over one index of a cluster, behind an alias."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.grouping import chunks, portions
from pneuma_assets.core.index.base import (
    NO_FILTER,
    IndexFilter,
    IndexInfo,
    IndexQuery,
    SideHits,
    SideScores,
    TableContents,
    TableScores,
    blocks_worth,
)
from pneuma_assets.core.index.elastic.client import Transport, connect
from pneuma_assets.core.index.elastic.contents import (
    blocks_of,
    contents_of,
    evidence_of,
    facts_kept,
    kinds_at,
    measure,
    tables_at,
)
from pneuma_assets.core.index.elastic.documents import checked, unit
from pneuma_assets.core.index.elastic.errors import explained, until_found, with_retries
from pneuma_assets.core.index.elastic.handle import IndexHandle
from pneuma_assets.core.index.elastic.search import AccessFilters, Question, Searcher
from pneuma_assets.core.index.elastic.write import Tables, Writer
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.index.registry import Credentials
from pneuma_assets.core.index.validation import (
    cells_asked,
    check_evidence,
    check_facts,
    check_filter,
    check_limit,
    check_lists,
    check_questions,
)
from pneuma_assets.core.tables import DocumentKind, EmbeddedBlock, TableFacts, TableTerms
from pneuma_assets.core.terms.fields import query_terms
from pneuma_assets.core.text.analysis import ENGLISH, Analyzer

OPENING = 5.0
"""Seconds to wait at opening for a cluster that does not answer: a wrong address should be told
soon. One that answers, if only that it is busy, is the right one and is waited for as always."""

_DOCUMENTS_AT_ONCE, _TABLES_AT_ONCE = 20_000, 2_000
"""Tables that are committed together: each commit takes some refreshes."""


def retention_of(config: ElasticsearchConfig) -> float:
    """Return the seconds for which replaced documents are kept: two requests' time."""
    return 2 * config.timeout_seconds


class ElasticsearchIndex:
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
        self._config = config
        self._analyzer = analyzer
        self._identity = Identity(encoder, dimension, analyzer.name)
        self._client = connect(config, credentials)
        patience = config.patience_seconds
        retention = retention_of(config) if retention_seconds is None else retention_seconds
        quick = self._client.options(request_timeout=min(config.timeout_seconds, OPENING))
        handle = IndexHandle(
            quick, config, self._identity, building=building, create=create, pinned=pinned
        )
        self._transport = Transport(self._client, handle, patience, retention)
        self._access = AccessFilters(self._transport)
        self._searcher = Searcher(self._transport, self._access)
        self._writer = Writer(self._client, handle, self._transport, analyzer, patience, retention)
        try:
            with explained(f"The search index {config.name!r} cannot be opened"):
                until_found(lambda: with_retries(patience, handle.current, silence=OPENING))
        except BaseException:
            self._client.close()
            raise

    def replace_tables(self, tables: Mapping[str, TableContents]) -> None:
        """Make each table's contents exactly these; many tables are shown together."""
        with self._explained("written"):
            for group in self._groups(tables):
                self._writer.replace(group)

    def set_facts(self, facts: Mapping[str, TableFacts]) -> None:
        """Tell anew what is known of tables; some thousand of them are shown together."""
        for table_id, one in facts.items():
            check_facts(table_id, one)
        with self._explained("written"):
            for some in chunks(list(facts), _TABLES_AT_ONCE):
                self._writer.set_facts({table_id: facts[table_id] for table_id in some})

    def facts(self, table_ids: Sequence[str]) -> dict[str, TableFacts]:
        """Return what is known of these tables; unknown ids are left out."""
        with self._explained("read"):
            return facts_kept(self._transport, table_ids)

    def delete_tables(self, table_ids: Sequence[str]) -> None:
        """Remove tables and their blocks; unknown ids are ignored."""
        with self._explained("written"):
            for some in chunks(table_ids, _TABLES_AT_ONCE):
                self._writer.delete(some)

    def search(
        self, queries: Sequence[IndexQuery], limit: int, where: IndexFilter = NO_FILTER
    ) -> list[SideHits]:
        """Return the `limit` best of each side and field, among what the filter lets through.

        Raises:
            QueryError: The limit is below 1 or above 10,000.
        """
        check_limit(limit)
        check_filter(where)
        with self._explained("searched"):
            return self._searcher.search(self._questions(queries), limit, where)

    def scores(
        self,
        queries: Sequence[IndexQuery],
        block_ids: Sequence[Sequence[str]],
        where: IndexFilter = NO_FILTER,
    ) -> list[dict[str, SideScores]]:
        """Return the true scores of each query's blocks; unknown ids are left out."""
        check_filter(where)
        check_lists(queries, block_ids)
        with self._explained("searched"):
            return self._searcher.scores(self._questions(queries), block_ids, where)

    def table_scores(
        self,
        queries: Sequence[IndexQuery],
        table_ids: Sequence[Sequence[str]],
        where: IndexFilter = NO_FILTER,
    ) -> list[dict[str, TableScores]]:
        """Return the true scores of each query's tables; unknown ids are left out."""
        check_lists(queries, table_ids)
        check_filter(where)
        with self._explained("searched"):
            return self._searcher.table_scores(self._questions(queries), table_ids, where)

    def holding(
        self, values: Sequence[str], where: IndexFilter = NO_FILTER
    ) -> dict[str, tuple[str, ...]]:
        """Return for each value the tables that have it as a whole cell.

        Raises:
            QueryError: There are too many values.
        """
        check_filter(where)
        asked = cells_asked(values, where)
        terms = list(dict.fromkeys(filter(None, asked.values())))
        with self._explained("searched"):
            found = self._searcher.holding(terms, where)
        return {value: found[term] if term else () for value, term in asked.items()}

    def evidence(self, table_ids: Sequence[str]) -> dict[str, TableTerms]:
        """Return the evidence of these tables; unknown ids are left out."""
        with self._explained("read"):
            return evidence_of(self._transport, table_ids)

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

    def blocks(self, table_ids: Sequence[str] | None = None) -> Iterator[EmbeddedBlock]:
        """Yield the stored blocks, table by table."""
        with self._explained("read"):
            yield from blocks_of(self._transport, table_ids)

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

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _explained(self, what: str) -> AbstractContextManager[None]:
        """Let a failure of the cluster say that the index cannot be read, written or searched."""
        return explained(f"The search index {self._config.name!r} cannot be {what}")

    def _questions(self, queries: Sequence[IndexQuery]) -> list[Question]:
        vectors = check_questions(queries, self._identity.dimension)
        return [
            Question(
                [] if query.text is None else self._analyzer.question_terms(query.text),
                None if vector is None else unit(vector),
                {} if query.evidence is None else query_terms(query.evidence, self._analyzer),
                query.silent,
            )
            for query, vector in zip(queries, vectors, strict=True)
        ]

    def _groups(self, tables: Mapping[str, TableContents]) -> Iterator[Tables]:
        """Yield groups of checked tables that are committed together."""
        for table_id, contents in tables.items():
            check_evidence(table_id, contents.evidence)
            check_facts(table_id, contents.facts)
        sizes = {i: blocks_worth(one) + len(one.evidence.rows) for i, one in tables.items()}
        for table_ids in portions(sizes, _DOCUMENTS_AT_ONCE, _TABLES_AT_ONCE):
            yield {i: checked(i, tables[i], self._identity.dimension) for i in table_ids}
