"""The contract every search index keeps: the embedded engine, Elasticsearch, and yours.

One conformance suite (`tests/conformance/index`) runs against every engine.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import log1p
from typing import ClassVar, NamedTuple, Protocol

from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.grouping import portions
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.index.validation import (
    check_blocks,
    check_evidence,
    check_facts,
    check_vector,
)
from pneuma_assets.core.tables import (
    Block,
    DocumentKind,
    EmbeddedBlock,
    TableFacts,
    TableTerms,
    Vector,
    source_of,
)
from pneuma_assets.core.terms.fields import (
    HEADERS_IN_ROWS,
    KIND_OF,
    WIDTH,
    Field,
    cell_term,
    header_terms,
    query_terms,
)
from pneuma_assets.core.terms.rare_words import Place, places_of
from pneuma_assets.core.text.analysis import Analyzer

K1, B = 1.2, 0.75
"""BM25's parameters in every engine: how soon a repeated word counts no more, and how much length
counts; Lucene's defaults."""

MAX_FILTERED = 10_000
"""Tables, sources or principals that one search may be restricted to."""

MAX_VALUES = 1_000
"""Values that one call looks up."""

MOST_HOLDERS = 4
"""Tables that may hold a word for it to tell them from all others."""

_CHARACTERS = 1_000
"""So much evidence is worth a block, whose text and vector are two to three kilobytes."""

REACHED = (None, Field.NAMES, Field.VALUES)
"""Of blocks and of which fields it is told what their BM25 could reach."""

UNKNOWN_FACTS = TableFacts(readers=())
"""Of a table of which nothing is known yet: it is shown to nobody who may not see all."""


@dataclass(frozen=True, slots=True)
class IndexQuery:
    """One question as an index sees it; a side that is None is not searched.

    `evidence` is searched in every field of the tables' evidence. `silent` are kinds of documents
    whose words are not looked through; their meaning is. `sought` are words and names of which it
    is asked which tables hold them (`SideHits.holders`).
    """

    text: str | None
    vector: Vector | None
    evidence: str | None = None
    silent: tuple[DocumentKind, ...] = ()
    sought: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexFilter:
    """Restricts a search; an empty tuple does not restrict. Parts are joined by AND.

    `readers` is who asks: the names under which tables may let them in (`TableFacts.readers`); an
    asker without a name sees what everybody may. None: whoever asks may see all. What they may not
    see is in no result, count or list. Whether it counts in the statistics that words are scored
    by is the engine's: in the embedded one it does not, in Elasticsearch it does (docs/access.md).

    `but_families` leaves out the tables of these families (`TableFacts.family`), in `search` alone.
    """

    sources: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    kinds: tuple[DocumentKind, ...] = ()
    readers: tuple[str, ...] | None = None
    but_families: tuple[str, ...] = ()


NO_FILTER = IndexFilter()


def fields_of(where: IndexFilter) -> frozenset[Field]:
    """Return the fields of evidence that a filter lets through."""
    return frozenset(f for f in Field if not where.kinds or KIND_OF[f] in where.kinds)


def is_seen(facts: TableFacts, readers: Iterable[str] | None) -> bool:
    """Tell whether a table is shown to who asks as these; None: to who may see all."""
    return readers is None or facts.readers is None or not set(readers).isdisjoint(facts.readers)


def let_through(where: IndexFilter, table_ids: Iterable[str]) -> list[str]:
    """Return those of these tables that a filter of tables and sources lets through, each once."""
    tables, sources = set(where.tables), set(where.sources)
    return [
        table_id
        for table_id in dict.fromkeys(table_ids)
        if (not tables or table_id in tables) and (not sources or source_of(table_id) in sources)
    ]


@dataclass(frozen=True, slots=True)
class TableContents:
    """All that an index keeps of one table; a later field has a default.

    One object a table, so that whatever else is kept of it is replaced in the same act. An engine
    gives all of it back.
    """

    blocks: Sequence[EmbeddedBlock]
    evidence: TableTerms = field(default_factory=TableTerms)
    facts: TableFacts = field(default_factory=TableFacts)


Tables = Mapping[str, TableContents]
"""Contents by table id."""


def blocks_worth(contents: TableContents) -> int:
    """Return the size of a table's contents as a number of blocks, evidence counted by its text.

    Each row counts with the columns' names, which are searched with it.
    """
    evidence = contents.evidence
    spelled = evidence.spelled_names, evidence.spelled_columns
    written = *evidence.cells, *evidence.described
    texts: Iterable[str] = (*evidence.names, *evidence.columns, *spelled, *written)
    cells = sum(len(cell) + 1 for row in evidence.rows for cell in row if cell)
    headers = sum(len(name) + 1 for name in evidence.columns[:HEADERS_IN_ROWS])
    return (
        len(contents.blocks)
        + (sum(map(len, texts)) + cells + headers * len(evidence.rows)) // _CHARACTERS
    )


class Hit(NamedTuple):
    """A block and its raw score on one side: BM25, or the cosine of the angle to the question."""

    block: Block
    score: float


class TableHit(NamedTuple):
    """A table and the BM25 of its best entry in one field of its evidence."""

    table_id: str
    score: float


@dataclass(frozen=True, slots=True)
class SideHits:
    """What an index has for one question, best first.

    Attributes:
        lexical: The best blocks by their words; ties are broken by block id, ascending.
        semantic: The best blocks by their meaning, likewise.
        fields: The best tables of each field in which any has a term of the question; ties are
            broken by table id, ascending.
        holders: Of each word sought that one to `MOST_HOLDERS` tables hold, all of them, ascending;
            a table holds what stands in its names, its rows or any of its blocks, and a word of
            several parts not by blocks that are `silent`.
        reach: What BM25 could give a block (None), or an entry of a field, for the different words
            of the question, each once. A word that the question repeats counts repeatedly in
            scores, which tells what it is about: without that, an enterprise warehouse lost .07.
    """

    lexical: Sequence[Hit] = ()
    semantic: Sequence[Hit] = ()
    fields: Mapping[Field, Sequence[TableHit]] = field(default_factory=dict)
    holders: Mapping[str, Sequence[str]] = field(default_factory=dict)
    reach: Mapping[Field | None, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SideScores:
    """One block's true score on each side; 0.0 where no word of the question occurs."""

    lexical: float
    semantic: float


@dataclass(frozen=True, slots=True)
class TableScores:
    """One table's true scores for a question.

    Attributes:
        lexical: Its best block by words; None where no word of the question occurs in any.
        semantic: Its best block by meaning; None where it has no block, or the question no vector.
        fields: The score of its best entry in each field; a field in which it scores 0 is absent.
        row: The number of its best row among `TableTerms.rows`; None where no word occurs in any,
            and of a table without rows, which is found by its columns' names alone.
        headers: The words of the question that stand in its name or in a column's, each with the
            largest share that it has of one, or of what is written about one
            (`terms.fields.header_terms`).
        columns: The power of two above its number of columns; 0 where that was not asked.
    """

    lexical: Hit | None = None
    semantic: Hit | None = None
    fields: Mapping[Field, float] = field(default_factory=dict)
    row: int | None = None
    headers: Mapping[str, float] = field(default_factory=dict)
    columns: int = 0


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """What an operator wants to know of an index.

    `usable` is False where it is damaged or cannot be reached; a cluster in poor health is usable.
    `size_bytes` is 0 where it is not known.
    """

    engine: str
    encoder: str
    dimension: int
    tables: int
    blocks: int
    size_bytes: int
    health: str
    details: Mapping[str, str] = field(default_factory=dict)
    usable: bool = True


@dataclass(frozen=True, slots=True)
class Question:
    """A query as terms: of a side or a field without any, nothing is searched.

    `headers` is of `header_terms`.
    """

    terms: Sequence[str]
    vector: Vector | None
    fields: Mapping[Field, Sequence[str]]
    silent: Sequence[DocumentKind] = ()
    headers: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    sought: Mapping[str, Sequence[Place]] = field(default_factory=dict)

    @property
    def words(self) -> list[str]:
        """Its different words."""
        return list(dict.fromkeys(self.terms or self.fields.get(Field.VALUES, ())))


class Searcher(Protocol):
    """Answers questions from one state of an index, within one filter; `SearchIndex` says how."""

    def search(self, questions: Sequence[Question], limit: int) -> list[SideHits]:
        """Return up to `limit` hits a side and a field for each question."""

    def scores(
        self, questions: Sequence[Question], block_ids: Sequence[Sequence[str]]
    ) -> list[dict[str, SideScores]]:
        """Return the true scores of each question's blocks."""

    def table_scores(
        self, questions: Sequence[Question], table_ids: Sequence[Sequence[str]]
    ) -> list[dict[str, TableScores]]:
        """Return the true scores of each question's tables."""

    def holding(self, terms: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Return the tables that have each of these terms as a whole cell."""

    def members(self, families: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Return the tables of each of these families (`TableFacts.family`)."""


class SearchIndex(ABC):
    """Blocks of text with embeddings, searched by words (BM25) and by meaning (cosine).

    Opening checks that the index was built with the configured encoder and dimension and raises
    `IndexMismatchError` with the remedy otherwise. Any method may raise `SearchIndexError`.

    Readers are never disturbed: a search sees every table as it was before or after a
    replacement, never half of it, also while a writer works or after it was killed.

    An engine brings the abstract methods; what is refused, and how a question becomes terms, is
    here, the same for all.

    Args:
        identity: What the index is, or was, built with.
        analyzer: How texts and questions become terms.
    """

    group_limits: ClassVar[tuple[int, int | None]]
    """Of what is written together: how much (`_size`), and how many tables."""

    def __init__(self, identity: Identity, analyzer: Analyzer) -> None:
        self.identity = identity
        self.analyzer = analyzer

    def replace_tables(self, tables: Tables) -> None:
        """Make each table's contents exactly these, a table as one act; durable on return.

        Doing it again changes nothing. A table of no blocks stays listed.

        Raises:
            EvidenceRefusedError: A table's evidence is none, or too large; other tables may have
                been replaced.
            SearchIndexError: A block belongs to another table, its vector is of no use, or the
                facts of a table are none.
        """
        for table_id, contents in tables.items():
            check_evidence(table_id, contents.evidence)
            check_facts(table_id, contents.facts)
        sizes = {table_id: self._size(contents) for table_id, contents in tables.items()}
        for table_ids in portions(sizes, *self.group_limits):
            checked = {
                i: check_blocks(i, tables[i].blocks, self.identity.dimension) for i in table_ids
            }
            self._replace({i: replace(tables[i], blocks=blocks) for i, blocks in checked.items()})

    def set_facts(self, facts: Mapping[str, TableFacts]) -> None:
        """Replace what is known of tables; their texts and vectors are not written again.

        Durable on return, and seen by every search that begins then, a table as one act. Unknown
        ids are ignored.

        Raises:
            SearchIndexError: The facts of a table are none.
        """
        for table_id, one in facts.items():
            check_facts(table_id, one)
        self._set_facts(facts)

    def search(
        self, queries: Sequence[IndexQuery], limit: int, where: IndexFilter = NO_FILTER
    ) -> list[SideHits]:
        """Return up to `limit` hits a side and a field for each query.

        Hits of words score above 0. Of the kinds of documents in a filter, those of evidence
        (`terms.fields.KIND_OF`) let fields through, the others blocks.

        Raises:
            QueryError: The limit is below 1, or more than the engine ranks.
        """
        if limit < 1:
            raise QueryError(f"The limit of a search is {limit}; ask for at least 1 block.")
        questions = self._questions(queries, where)
        with self._searching(where) as searcher:
            return searcher.search(questions, limit)

    def scores(
        self,
        queries: Sequence[IndexQuery],
        block_ids: Sequence[Sequence[str]],
        where: IndexFilter = NO_FILTER,
    ) -> list[dict[str, SideScores]]:
        """Return the true scores of the given blocks for each query; unknown ids are left out.

        So are blocks that the filter shuts out. A side that the query leaves None scores 0.0.
        """
        questions = self._questions(queries, where, block_ids)
        with self._searching(where) as searcher:
            return searcher.scores(questions, block_ids)

    def table_scores(
        self,
        queries: Sequence[IndexQuery],
        table_ids: Sequence[Sequence[str]],
        where: IndexFilter = NO_FILTER,
    ) -> list[dict[str, TableScores]]:
        """Return the true scores of the given tables for each query.

        Unknown ids are left out, and tables that the filter's tables or sources shut out. Of blocks
        and fields, only those count that the filter lets through. A side that the query leaves
        None scores nothing.
        """
        questions = self._questions(queries, where, table_ids)
        with self._searching(where) as searcher:
            found = searcher.table_scores(questions, table_ids)
        return [{i: _with_columns(one) for i, one in some.items()} for some in found]

    def holding(
        self, values: Sequence[str], where: IndexFilter = NO_FILTER
    ) -> dict[str, tuple[str, ...]]:
        """Return for each value the tables that have it as a whole cell, by table id ascending.

        T_v of Octopus (section 4.2, "Value-side Retrieval"), from which the rarity of a value is
        computed (eq. 6): so all of these tables are returned, and none by chance of a ranking.
        Octopus scans the files; here a value is compared with every cell that the evidence keeps,
        of rows and of the others, as the field `CELLS` compares them (`terms.fields.cell_term`):
        case, accents and signs do not count. A value of no word, or of more than `CELL_WORDS`, is
        no whole cell and in no table.

        Each value is answered under its own spelling, once. Of a filter, tables, sources and
        readers hold as in `search`; kinds without those of the tables' values leave no table.

        Args:
            values: `MAX_VALUES` at most, of any length; of a long one, its beginning is looked
                at, as of a cell.
            where: Which tables count.

        Raises:
            QueryError: There are too many values.
        """
        _check_filter(where)
        if len(values) > MAX_VALUES:
            raise QueryError(
                f"Tables of {len(values):,} values were asked for; ask for {MAX_VALUES:,} at most "
                "at once."
            )
        shut_out = Field.CELLS not in fields_of(where)
        asked = {value: None if shut_out else cell_term(value) for value in values}
        with self._searching(where) as searcher:
            found = searcher.holding(list(dict.fromkeys(filter(None, asked.values()))))
        return {value: tuple(sorted(found[term])) if term else () for value, term in asked.items()}

    def members(
        self, families: Sequence[str], where: IndexFilter = NO_FILTER
    ) -> dict[str, Sequence[str]]:
        """Return the tables of each family (`TableFacts.family`), by table id ascending.

        Of a filter, tables, sources and readers hold as in `search`.
        """
        _check_filter(where)
        with self._searching(where) as searcher:
            found = searcher.members(families)
        return {family: sorted(found.get(family, ())) for family in families}

    def blocks(self, table_ids: Sequence[str] | None = None) -> Iterator[EmbeddedBlock]:
        """Yield the blocks of `contents`, table by table; unchanged ones keep their embeddings."""
        for _, contents in self.contents(table_ids):
            yield from contents.blocks

    @abstractmethod
    def facts(self, table_ids: Sequence[str]) -> dict[str, TableFacts]:
        """Return what is known of these tables; unknown ids are left out."""

    @abstractmethod
    def delete_tables(self, table_ids: Sequence[str]) -> None:
        """Remove tables and their blocks; unknown ids are ignored."""

    @abstractmethod
    def evidence(self, table_ids: Sequence[str]) -> dict[str, TableTerms]:
        """Return the evidence of these tables; unknown ids are left out."""

    @abstractmethod
    def list_tables(self, readers: Sequence[str] | None = None) -> dict[str, int]:
        """Return every indexed table with its number of blocks, by table id.

        `readers` is who asks, as a filter has it; None: whoever asks may see all.
        """

    @abstractmethod
    def kinds(self, readers: Sequence[str] | None = None) -> frozenset[DocumentKind]:
        """Return the kinds of documents of which there are blocks, whoever made them.

        `readers` is who asks, likewise.
        """

    @abstractmethod
    def contents(
        self, table_ids: Sequence[str] | None = None
    ) -> Iterator[tuple[str, TableContents]]:
        """Yield all that `replace_tables` was given of these tables (all if None), by table id.

        Each table is as it is when its turn comes. Lets one engine be copied to another. Unknown
        ids are ignored.
        """

    @abstractmethod
    def info(self) -> IndexInfo:
        """Return engine, encoder, counts, size on disk and health."""

    @abstractmethod
    def optimise(self) -> None:
        """Compact an index that was written as a whole, as by a copy; may take minutes.

        Never needed for correct answers, and not worth its time after a few changes.
        """

    @property
    @abstractmethod
    def build(self) -> str:
        """The name of the build that this works on (`builds.Builds`)."""

    @abstractmethod
    def unchanging(self) -> AbstractContextManager[None]:
        """Return what keeps writers out while a copy is made, where `Builds.begin` does not."""

    @abstractmethod
    def close(self) -> None:
        """Release files and connections; the object is not used afterwards."""

    @abstractmethod
    def _replace(self, tables: Tables) -> None:
        """Write tables whose contents have been checked; no block occurs twice in one."""

    @abstractmethod
    def _set_facts(self, facts: Mapping[str, TableFacts]) -> None:
        """Write facts that have been checked."""

    @abstractmethod
    def _searching(self, where: IndexFilter) -> AbstractContextManager[Searcher]:
        """Give what answers questions from the newest state."""

    def _size(self, contents: TableContents) -> int:
        """Return how much of a group a table takes."""
        return blocks_worth(contents)

    def _questions(
        self,
        queries: Sequence[IndexQuery],
        where: IndexFilter,
        ids: Sequence[Sequence[str]] | None = None,
    ) -> list[Question]:
        """Return what to look up of each query, in the fields that the filter lets through.

        Raises:
            QueryError: The filter names too much, or there is not a list of ids for each query.
            SearchIndexError: A vector is of no use.
        """
        _check_filter(where)
        if ids is not None and len(queries) != len(ids):
            raise QueryError(
                f"Scores of {len(ids)} lists of blocks or tables were asked for {len(queries)} "
                "queries; pass one list a query."
            )
        fields, dimension = fields_of(where), self.identity.dimension
        questions = []
        for place, query in enumerate(queries, 1):
            vector = query.vector
            if vector is not None:
                vector = check_vector(vector, dimension, f"question {place}")
            terms, asked, headers = _terms_of(self.analyzer, query.text, query.evidence)
            found = {name: some for name, some in asked.items() if some and name in fields}
            shown = headers if Field.HEADERS in fields else {}
            sought = {
                word: some
                for word in query.sought
                if (some := [p for p in places_of(word, self.analyzer) if p[0] in {None, *fields}])
            }
            questions.append(Question(terms, vector, found, query.silent, shown, sought))
        return questions


@lru_cache(maxsize=2)  # a long question's terms take some hundred kilobytes
def _terms_of(
    analyzer: Analyzer, text: str | None, evidence: str | None
) -> tuple[Sequence[str], Mapping[Field, Sequence[str]], Mapping[str, tuple[str, float]]]:
    """Return the terms of a question; it is asked twice, for proposals and for their scores."""
    return (
        [] if text is None else analyzer.question_terms(text),
        {} if evidence is None else query_terms(evidence, analyzer),
        {} if evidence is None else header_terms(evidence, analyzer),
    )


def _with_columns(scores: TableScores) -> TableScores:
    headers = dict(scores.headers)
    return replace(scores, columns=int(headers.pop(WIDTH, 0)), headers=headers)


def idf(blocks: int, having: int) -> float:
    """Return what BM25 gives a word at most that so many of all blocks or entries have."""
    return log1p((blocks - having + 0.5) / (having + 0.5))


def _check_filter(where: IndexFilter) -> None:
    most = max(map(len, (where.sources, where.tables, where.readers or ())))
    if most > MAX_FILTERED:
        raise QueryError(
            f"A filter names {most:,} tables, sources or readers; {MAX_FILTERED:,} at most."
        )
