"""Searching for who may see a part of the tables: as if there were no others.

Words are scored by statistics of what is seen (`counted`); the nearest blocks are sought among all
that is seen, in parts that a search ranks exactly, so that no graph leads past what is hidden.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Generic, TypeVar

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import (
    Hit,
    IndexFilter,
    SideHits,
    SideScores,
    TableHit,
    TableScores,
    let_through,
)
from pneuma_assets.core.index.elastic.batches import Question, asked_fields, without_kinds
from pneuma_assets.core.index.elastic.counted import Statistics, counting, note, scoring
from pneuma_assets.core.index.elastic.documents import BLOCK_FIELDS, block_id_of
from pneuma_assets.core.index.elastic.evidence import NO_ROW
from pneuma_assets.core.index.elastic.mapping import TERMS
from pneuma_assets.core.index.elastic.requests import (
    BY_ROW,
    BY_SCORE,
    BY_TABLE,
    MAX_CANDIDATES,
    Filters,
    Search,
    a_table_each,
    given_tables,
    kinds_but,
    lexical_hit,
    lexical_score,
    semantic_hit,
    semantic_score,
    semantic_scores,
    semantic_tables,
    table_hit,
    where_filters,
)
from pneuma_assets.core.index.elastic.sight import Sight, Sights
from pneuma_assets.core.index.elastic.target import Opened
from pneuma_assets.core.index.elastic.transport import Answer, Transport
from pneuma_assets.core.terms.fields import Field

Result = TypeVar("Result")
Given = TypeVar("Given")

_SEARCHES_AT_ONCE, _QUESTIONS_AT_ONCE = 100, 20


@dataclass(frozen=True, slots=True)
class Part(Generic[Result]):
    """Searches that are sent with others, and what is made of their answers."""

    searches: Sequence[Search]
    read: Callable[[Sequence[Answer]], Result]


def joined(parts: Sequence[Part[Any]], make: Callable[[list[Any]], Result]) -> Part[Result]:
    """Return several parts as one, of whose results `make` makes the result."""

    def read(answers: Sequence[Answer]) -> Result:
        left = iter(answers)
        return make([part.read([*islice(left, len(part.searches))]) for part in parts])

    return Part([search for part in parts for search in part.searches], read)


@dataclass(frozen=True, slots=True)
class Restricted:
    """Answers questions for who asks, at the newest state of an index."""

    transport: Transport
    sights: Sights

    def search(
        self, questions: Sequence[Question], limit: int, where: IndexFilter
    ) -> list[SideHits]:
        """Return the best of each side and field."""
        asked = [(question, limit) for question in questions]
        return self._asked(where, _Asking.search, asked)

    def scores(
        self,
        questions: Sequence[Question],
        block_ids: Sequence[Sequence[str]],
        where: IndexFilter,
    ) -> list[dict[str, SideScores]]:
        """Return the true scores of each question's blocks that are seen."""
        return self._asked(where, _Asking.scores, list(zip(questions, block_ids, strict=True)))

    def table_scores(
        self,
        questions: Sequence[Question],
        table_ids: Sequence[Sequence[str]],
        where: IndexFilter,
    ) -> list[dict[str, TableScores]]:
        """Return the true scores of each question's tables that are seen."""
        return self._asked(where, _Asking.tables, list(zip(questions, table_ids, strict=True)))

    def _asked(
        self,
        where: IndexFilter,
        make: "Callable[[_Asking, Question, Given], Part[Result]]",
        asked: Sequence[tuple[Question, Given]],
    ) -> list[Result]:
        """Return what is made of each question, at one state for up to some dozen of them."""

        def work(some: Sequence[tuple[Question, Given]], opened: Opened) -> list[Result]:
            sight = self.sights.of(opened, where.readers or ())
            current = sight.statistics.current()
            asking = _Asking(self.transport, opened, sight, where, current)
            asking.count([question for question, _ in some])
            parts = [make(asking, question, given) for question, given in some]
            return asking.answered(joined(parts, list))

        return [
            result
            for some in chunks(asked, _QUESTIONS_AT_ONCE)
            for result in self.transport.at_newest(partial(work, some))
        ]


@dataclass(frozen=True, slots=True)
class _Asking:
    """Some questions of one asker, at one state."""

    transport: Transport
    opened: Opened
    sight: Sight
    where: IndexFilter
    statistics: Statistics

    @property
    def seen(self) -> Filters:
        """What lets through all that is seen; of that the statistics are."""
        return [*self.opened.state.visible(), *self.sight.filters]

    @property
    def blocks(self) -> Filters:
        """What lets through the blocks that the filter does."""
        return [*self.seen, *where_filters(self.where)]

    def count(self, questions: Sequence[Question]) -> None:
        """Count the questions' terms where that has not been done."""
        asked: dict[str, list[str]] = {TERMS: [t for one in questions for t in one.terms]}
        for question in questions:
            for field, of_field in asked_fields(question, self.where).items():
                asked.setdefault(field.value, []).extend(of_field)
        missing = {name: self.statistics.missing(name, terms) for name, terms in asked.items()}
        missing = {name: terms for name, terms in missing.items() if terms}
        searches = [s for name, terms in missing.items() for s in counting(name, terms, self.seen)]
        answers = (
            answer
            for part in chunks(searches, _SEARCHES_AT_ONCE)
            for answer in self.transport.answers(self.opened, part)
        )
        for name, terms in missing.items():
            note(self.statistics, name, terms, answers)

    def answered(self, part: Part[Result]) -> Result:
        """Send a part's searches and return what is made of them."""
        sent = (
            self.transport.send(self.opened, some)
            for some in chunks(part.searches, _SEARCHES_AT_ONCE)
        )
        return part.read([answer for answers in sent for answer in answers])

    def search(self, question: Question, limit: int) -> Part[SideHits]:
        """Return the best of each side and field."""
        fields = self._fields(question, limit, [])
        parts: list[Part[Any]] = [
            self._lexical(question, limit, []),
            self._nearest(question, limit, self.sight.tables),
            *fields.values(),
        ]

        def made(found: list[Any]) -> SideHits:
            lexical, nearest, *hits = found
            of_fields = {name: some for name, (some, _) in zip(fields, hits, strict=True) if some}
            return SideHits(lexical, nearest, of_fields)

        return joined(parts, made)

    def scores(self, question: Question, block_ids: Sequence[str]) -> Part[dict[str, SideScores]]:
        """Return the true scores of those of these blocks that are let through."""
        wanted = [one for one in block_ids if one.isascii() and one.isalnum()]
        parts = [self._scores(question, some) for some in chunks(wanted, MAX_CANDIDATES)]
        return joined(parts, lambda found: {i: one for some in found for i, one in some.items()})

    def tables(self, question: Question, table_ids: Sequence[str]) -> Part[dict[str, TableScores]]:
        """Return the true scores of those of these tables that are let through."""
        wanted = [i for i in let_through(self.where, table_ids) if i in self.sight.tables]
        parts = [self._tables(question, some) for some in chunks(wanted, MAX_CANDIDATES)]
        return joined(parts, lambda found: {i: one for some in found for i, one in some.items()})

    def _tables(self, question: Question, some: Sequence[str]) -> Part[dict[str, TableScores]]:
        given = [given_tables(some)]
        fields = self._fields(question, len(some), given)
        parts: list[Part[Any]] = [
            self._lexical(question, len(some), given, each=True),
            self._nearest(question, len(some), some, each=True),
            *fields.values(),
        ]

        def made(found: list[Any]) -> dict[str, TableScores]:
            lexical, semantic = ({hit.block.table_id: hit for hit in side} for side in found[:2])
            of_tables: dict[str, dict[Field, float]] = {i: {} for i in some}
            rows: dict[str, int] = {}
            for name, (hits, best) in zip(fields, found[2:], strict=True):
                rows |= best
                for hit in hits:
                    of_tables[hit.table_id][name] = hit.score
            return {
                i: TableScores(lexical.get(i), semantic.get(i), of_tables[i], rows.get(i))
                for i in some
            }

        return joined(parts, made)

    def _lexical(
        self, question: Question, limit: int, more: Filters, *, each: bool = False
    ) -> Part[list[Hit]]:
        """Return the best blocks by words, or the best of each table."""
        filters = [*self.blocks, *kinds_but(question.silent), *more]
        page = {"size": limit, "sort": BY_SCORE, "_source": list(BLOCK_FIELDS)}
        if each:
            page |= a_table_each()
        searches = self._scoring(TERMS, question.terms, filters, page)
        return Part(searches, lambda found: _best(map(lexical_hit, _all(found)), limit, each=each))

    def _nearest(
        self, question: Question, limit: int, table_ids: Iterable[str], *, each: bool = False
    ) -> Part[list[Hit]]:
        """Return the nearest blocks of these tables, or that of each table."""
        searches = []
        if question.vector is not None:
            quantization = self.opened.described.quantization
            kinds = where_filters(IndexFilter(kinds=self.where.kinds))
            for part in self.sight.parts(let_through(self.where, table_ids)):
                filters = [*self.opened.state.visible(), given_tables(part), *kinds]
                search = semantic_tables(question.vector, filters, limit, quantization)
                if not each:
                    search.pop("collapse")
                searches.append(search)
        return Part(searches, lambda found: _best(map(semantic_hit, _all(found)), limit, each=each))

    def _fields(
        self, question: Question, limit: int, more: Filters
    ) -> dict[Field, Part[tuple[list[TableHit], dict[str, int]]]]:
        """Return the best tables of each field, and of the rows the number of each one's best."""
        filters = [*self.seen, *where_filters(without_kinds(self.where)), *more]
        asked = asked_fields(question, self.where).items()
        return {name: self._field(name, terms, filters, limit) for name, terms in asked}

    def _field(
        self, name: Field, terms: Sequence[str], filters: Filters, limit: int
    ) -> Part[tuple[list[TableHit], dict[str, int]]]:
        rows = name is Field.ROWS
        page: Search = {"size": limit, "sort": BY_ROW if rows else BY_TABLE}
        page |= {"stored_fields": "_none_"} | (a_table_each() if rows else {})

        def read(answers: Sequence[Answer]) -> tuple[list[TableHit], dict[str, int]]:
            pairs = [(table_hit(name, hit), hit) for hit in _all(answers)]
            best = {one.table_id: int(hit["sort"][2]) for one, hit in pairs if rows}
            hits = sorted((one for one, _ in pairs), key=lambda one: (-one.score, one.table_id))
            return hits[:limit], {i: row for i, row in best.items() if row != NO_ROW}

        return Part(self._scoring(name, terms, filters, page), read)

    def _scores(self, question: Question, some: Sequence[str]) -> Part[dict[str, SideScores]]:
        given: Search = {"terms": {"block_id": list(some)}}
        filters = [*self.blocks, given]
        page: Search = {"size": len(some), "sort": BY_SCORE, "_source": False}
        listed = {**page, "sort": [{"block_id": "asc"}], "track_total_hits": False}
        words = self._scoring(TERMS, question.terms, filters, page)
        searches = [{**listed, "query": {"bool": {"filter": filters}}}, *words]
        if question.vector is not None:
            quantization = self.opened.described.quantization
            searches.append(semantic_scores(question.vector, self.blocks, some, quantization))

        def read(answers: Sequence[Answer]) -> dict[str, SideScores]:
            last = 1 + len(words)
            lexical = {block_id_of(h): lexical_score(h) for h in _all(answers[1:last])}
            near = {block_id_of(h): semantic_score(h) for h in _all(answers[last:])}
            there = map(block_id_of, answers[0])
            return {i: SideScores(lexical.get(i, 0.0), near.get(i, 0.0)) for i in there}

        return Part(searches, read)

    def _scoring(
        self, name: str, terms: Sequence[str], filters: Filters, page: Mapping[str, Any]
    ) -> list[Search]:
        """Return the searches of a field; each portion of its clauses gives the best of some."""
        return [
            {
                **page,
                "track_total_hits": False,
                "query": {"bool": {"filter": filters, "should": some, "minimum_should_match": 1}},
            }
            for some in (scoring(name, terms, self.statistics) if terms else ())
        ]


def _all(answers: Sequence[Answer]) -> list[Search]:
    return [hit for hits in answers for hit in hits]


def _best(hits: Iterable[Hit], limit: int, *, each: bool) -> list[Hit]:
    """Return the best hits, equal ones by block id; of each table the best alone if `each`."""
    found = sorted(hits, key=lambda hit: (-hit.score, hit.block.block_id))
    if each:
        first: dict[str, Hit] = {}
        for hit in found:
            first.setdefault(hit.block.table_id, hit)
        found = list(first.values())
    return found[:limit]
