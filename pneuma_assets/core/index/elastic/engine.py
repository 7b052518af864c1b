"""The Elasticsearch engine: `SearchIndex` over one index of a cluster, behind an alias."""

from collections.abc import Iterator, Mapping, Sequence

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
)
from pneuma_assets.core.index.checked import (
    cells_asked,
    check_evidence,
    check_facts,
    check_filter,
    check_limit,
    check_lists,
    check_questions,
)
from pneuma_assets.core.index.credentials import Credentials
from pneuma_assets.core.index.elastic import batches
from pneuma_assets.core.index.elastic.client import connect
from pneuma_assets.core.index.elastic.contents import (
    blocks_of,
    contents_of,
    evidence_of,
    facts_kept,
    kinds_at,
    tables_at,
)
from pneuma_assets.core.index.elastic.documents import checked, unit
from pneuma_assets.core.index.elastic.failures import explained, following, patiently
from pneuma_assets.core.index.elastic.holding import holding
from pneuma_assets.core.index.elastic.info import measure
from pneuma_assets.core.index.elastic.ledger import Ledger
from pneuma_assets.core.index.elastic.restricted import Restricted
from pneuma_assets.core.index.elastic.sight import Sight, Sights
from pneuma_assets.core.index.elastic.table_scores import table_scores
from pneuma_assets.core.index.elastic.target import Target
from pneuma_assets.core.index.elastic.transport import Transport
from pneuma_assets.core.index.elastic.writer import Tables, Writer
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.index.weighing import blocks_worth
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
        self._target = Target(
            quick, config, self._identity, building=building, create=create, pinned=pinned
        )
        self._transport = Transport(self._client, self._target, patience, retention)
        ledger = Ledger(self._client, self._target, self._transport, patience, retention)
        self._sights = Sights(self._transport)
        self._restricted = Restricted(self._transport, self._sights)
        self._writer = Writer(self._client, ledger, self._transport, analyzer, patience)
        try:
            with explained(f"The search index {config.name!r} cannot be opened"):
                following(lambda: patiently(patience, self._target.current, silence=OPENING))
        except BaseException:
            self._client.close()
            raise

    def replace_tables(self, tables: Mapping[str, TableContents]) -> None:
        """Make each table's contents exactly these; many tables are shown together."""
        with explained(f"The search index {self._config.name!r} cannot be written"):
            for group in self._groups(tables):
                self._writer.replace(group)

    def set_facts(self, facts: Mapping[str, TableFacts]) -> None:
        """Tell anew what is known of tables; some thousand of them are shown together."""
        for table_id, one in facts.items():
            check_facts(table_id, one)
        with explained(f"The search index {self._config.name!r} cannot be written"):
            for some in chunks(list(facts), _TABLES_AT_ONCE):
                self._writer.set_facts({table_id: facts[table_id] for table_id in some})

    def facts(self, table_ids: Sequence[str]) -> dict[str, TableFacts]:
        """Return what is known of these tables; unknown ids are left out."""
        with explained(f"The search index {self._config.name!r} cannot be read"):
            return facts_kept(self._transport, table_ids)

    def delete_tables(self, table_ids: Sequence[str]) -> None:
        """Remove tables and their blocks; unknown ids are ignored."""
        with explained(f"The search index {self._config.name!r} cannot be written"):
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
        with explained(f"The search index {self._config.name!r} cannot be searched"):
            asked = self._questions(queries)
            if where.readers is not None:
                batches.check_limit_of_server(limit)
                return self._restricted.search(asked, limit, where)
            return batches.search(self._transport, asked, limit, where)

    def scores(
        self,
        queries: Sequence[IndexQuery],
        block_ids: Sequence[Sequence[str]],
        where: IndexFilter = NO_FILTER,
    ) -> list[dict[str, SideScores]]:
        """Return the true scores of each query's blocks; unknown ids are left out."""
        check_filter(where)
        check_lists(queries, block_ids)
        with explained(f"The search index {self._config.name!r} cannot be searched"):
            asked = self._questions(queries)
            if where.readers is not None:
                return self._restricted.scores(asked, block_ids, where)
            return batches.scores(self._transport, asked, block_ids, where)

    def table_scores(
        self,
        queries: Sequence[IndexQuery],
        table_ids: Sequence[Sequence[str]],
        where: IndexFilter = NO_FILTER,
    ) -> list[dict[str, TableScores]]:
        """Return the true scores of each query's tables; unknown ids are left out."""
        check_lists(queries, table_ids)
        check_filter(where)
        with explained(f"The search index {self._config.name!r} cannot be searched"):
            asked = self._questions(queries)
            if where.readers is not None:
                return self._restricted.table_scores(asked, table_ids, where)
            return table_scores(self._transport, asked, table_ids, where)

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
        with explained(f"The search index {self._config.name!r} cannot be searched"):
            found = holding(self._transport, self._sights, terms, where)
        return {value: found[term] if term else () for value, term in asked.items()}

    def evidence(self, table_ids: Sequence[str]) -> dict[str, TableTerms]:
        """Return the evidence of these tables; unknown ids are left out."""
        with explained(f"The search index {self._config.name!r} cannot be read"):
            return evidence_of(self._transport, table_ids)

    def list_tables(self, readers: Sequence[str] | None = None) -> dict[str, int]:
        """Return every indexed table with its number of blocks, in the order of their ids."""
        with explained(f"The search index {self._config.name!r} cannot be read"):
            if readers is not None:
                return dict(self._sight(readers).tables)
            records = self._transport.at_newest(lambda opened: tables_at(self._transport, opened))
        return {table_id: record.blocks for table_id, record in records.items()}

    def kinds(self, readers: Sequence[str] | None = None) -> frozenset[DocumentKind]:
        """Return the kinds of documents of which there are blocks."""
        with explained(f"The search index {self._config.name!r} cannot be read"):
            if readers is None:
                return self._transport.at_newest(lambda opened: kinds_at(self._transport, opened))
            filters = self._sight(readers).filters
            return self._transport.at_newest(
                lambda opened: kinds_at(self._transport, opened, filters)
            )

    def _sight(self, readers: Sequence[str]) -> Sight:
        return self._transport.at_newest(lambda opened: self._sights.of(opened, readers))

    def contents(
        self, table_ids: Sequence[str] | None = None
    ) -> Iterator[tuple[str, TableContents]]:
        """Yield what is kept, each table as it is when its turn comes."""
        with explained(f"The search index {self._config.name!r} cannot be read"):
            yield from contents_of(self._transport, table_ids)

    def blocks(self, table_ids: Sequence[str] | None = None) -> Iterator[EmbeddedBlock]:
        """Yield the stored blocks, table by table."""
        with explained(f"The search index {self._config.name!r} cannot be read"):
            yield from blocks_of(self._transport, table_ids)

    def info(self) -> IndexInfo:
        """Return engine, encoder, counts, size and health, as far as the key may know them."""
        with explained(f"The search index {self._config.name!r} cannot be read"):
            return self._transport.at_newest(
                lambda opened: patiently(
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
        with explained(f"The search index {self._config.name!r} cannot be compacted"):
            self._writer.purge()
            self._writer.merge()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _questions(self, queries: Sequence[IndexQuery]) -> list[batches.Question]:
        vectors = check_questions(queries, self._identity.dimension)
        return [
            batches.Question(
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
