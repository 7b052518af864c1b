"""Answering questions: their searches in few requests, and the answers put together again.

Rights are one filter among others, as Elasticsearch's own document-level security applies them:
nothing that is hidden is found or counted, while BM25's statistics are of all tables.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.grouping import chunks, portions
from pneuma_assets.core.index.base import (
    MOST_HOLDERS,
    IndexFilter,
    Question,
    SideHits,
    SideScores,
    TableScores,
    is_seen,
    let_through,
)
from pneuma_assets.core.index.cache import LruCache
from pneuma_assets.core.index.elastic.alias import Opened
from pneuma_assets.core.index.elastic.client import Answer, Transport
from pneuma_assets.core.index.elastic.contents import FactsRecord, facts_at
from pneuma_assets.core.index.elastic.documents import NO_ROW, block_id_of
from pneuma_assets.core.index.elastic.mapping import escape, unescape
from pneuma_assets.core.index.elastic.queries import (
    MAX_CANDIDATES,
    MAX_CLAUSES,
    Filters,
    Search,
    any_of,
    bm25_of,
    by_meaning,
    by_words,
    cosine_of,
    given_blocks,
    given_tables,
    holding,
    kinds_but,
    lexical_hit,
    of_blocks,
    of_field,
    of_holders,
    of_reach,
    of_records,
    reach_of,
    semantic_hit,
    table_hit,
    where_filters,
)
from pneuma_assets.core.terms.fields import Field

MOST_QUESTIONS, MOST_HITS = 100, 20_000
"""Most questions, and about as many hits with their texts, of one request."""

_STATES, _FILTERS = 2, 64
"""How many are remembered; a state is some hundred bytes a table."""
_RANGES = 200
"""Most ranges of ids in one filter; all other tables are named."""
_NAMED = 50_000
"""Most tables that one clause names; a server takes 65,536."""

_LEXICAL, _SEMANTIC, _RECORDS, _HOLDERS = "lexical", "semantic", "records", "holders of "
_REACH = "reach"
Searches = dict[str, Search]
"""A question's searches by what they are for; a field's by the field."""
Answers = Mapping[str, Answer]
Asked = tuple[int, Question, Sequence[str]]
"""The place of a question, the question, and ids of some of its blocks or tables."""

Given = TypeVar("Given")


class AccessFilters:
    """What lets through the tables that somebody may see of one state of the index.

    Remembered for the newest states, for any number of threads.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._facts: LruCache[Mapping[str, FactsRecord]] = LruCache(most=_STATES)
        self._filters: LruCache[Search] = LruCache(most=_FILTERS)

    def of(self, opened: Opened, readers: Sequence[str] | None) -> Filters:
        """Return the filter for who asks as these; none for who may see all."""
        if readers is None:
            return []

        def made() -> Search:
            facts = self.facts(opened)
            return filter_of((i for i, one in facts.items() if is_seen(one.facts, readers)), facts)

        return [self._filters.get((*_version(opened), frozenset(readers)), made)]

    def facts(self, opened: Opened) -> Mapping[str, FactsRecord]:
        """Return the facts of all tables of a state."""
        return self._facts.get(_version(opened), lambda: facts_at(self._transport, opened))


def _version(opened: Opened) -> tuple[str, int]:
    return opened.state.incarnation, opened.state.version


def filter_of(wanted: Iterable[str], every: Iterable[str]) -> Search:
    """Return a filter that lets through some of all tables.

    Grants are made by schema, so tables that are seen stand side by side when all are sorted as the
    server sorts them: the longest runs become ranges, and the others are named.
    """
    ids = sorted(map(escape, every), key=str.encode)
    keys = [one.encode() for one in ids]
    places = sorted(bisect_left(keys, escape(one).encode()) for one in wanted)
    runs: list[list[int]] = []
    for place in places:
        if runs and runs[-1][1] == place - 1:
            runs[-1][1] = place
        else:
            runs.append([place, place])
    runs.sort(key=lambda run: run[0] - run[1])
    ranges = [run for run in runs[:_RANGES] if run[1] - run[0] > 1]
    named = [ids[at] for run in runs[len(ranges) :] for at in range(run[0], run[1] + 1)]
    clauses: Filters = [
        {"range": {"table_id": {"gte": ids[first], "lte": ids[last]}}} for first, last in ranges
    ]
    clauses += [{"terms": {"table_id": list(some)}} for some in chunks(named, _NAMED)]
    return any_of(clauses) if clauses else {"match_none": {}}


@dataclass(frozen=True, slots=True)
class Searcher:
    """Answers questions at the newest state of an index, some dozen of them with one request."""

    transport: Transport
    access: AccessFilters
    where: IndexFilter

    def search(self, questions: Sequence[Question], limit: int) -> list[SideHits]:
        """Return the best of each side and field.

        Raises:
            QueryError: More blocks are asked for than Elasticsearch ranks.
        """
        if limit > MAX_CANDIDATES:
            raise QueryError(
                f"A search of {limit:,} blocks a side was asked for; Elasticsearch ranks "
                f"{MAX_CANDIDATES:,} at most: lower k or n."
            )

        def searches(question: Question, opened: Opened) -> Searches:
            return self._searches(question, opened, limit, limit)

        return [
            SideHits(
                [lexical_hit(hit) for hit in found.get(_LEXICAL, ())],
                [semantic_hit(hit) for hit in found.get(_SEMANTIC, ())],
                {
                    field: [table_hit(field, hit) for hit in found[field]]
                    for field in Field
                    if found.get(field)
                },
                {
                    word: [unescape(hit["sort"][0]) for hit in found[_HOLDERS + word]]
                    for word in question.sought
                    if 0 < len(found.get(_HOLDERS + word, ())) <= MOST_HOLDERS
                },
                reach_of(question.words, found[_REACH][0]) if _REACH in found else {},
            )
            for question, found in zip(
                questions, self._asked(searches, questions, 2 * limit), strict=True
            )
        ]

    def scores(
        self, questions: Sequence[Question], block_ids: Sequence[Sequence[str]]
    ) -> list[dict[str, SideScores]]:
        """Return the true scores of each question's blocks; unknown ids are left out."""
        known = [[i for i in ids if i.isascii() and i.isalnum()] for ids in block_ids]

        def searches(asked: Asked, opened: Opened) -> Searches:
            _, question, some = asked
            blocks = [given_blocks(some), *self._filters(opened)[0]]
            words = by_words(question.terms, blocks, others=True)
            made = {_LEXICAL: of_blocks(words, len(some), texts=False)}
            if question.vector is not None:
                meaning = by_meaning(question.vector, blocks, opened.described.quantization)
                made[_SEMANTIC] = of_blocks(meaning, len(some), texts=False)
            return made

        found: list[dict[str, SideScores]] = [{} for _ in questions]
        for (place, question, _), answer in self._each(searches, questions, known):
            cosines = {block_id_of(hit): cosine_of(hit) for hit in answer.get(_SEMANTIC, ())}
            for hit in answer[_LEXICAL]:  # finds every block; the vectors' side may be too late
                if (block_id := block_id_of(hit)) in cosines or question.vector is None:
                    found[place][block_id] = SideScores(bm25_of(hit), cosines.get(block_id, 0.0))
        return found

    def table_scores(
        self, questions: Sequence[Question], table_ids: Sequence[Sequence[str]]
    ) -> list[dict[str, TableScores]]:
        """Return the true scores of each question's tables; unknown ids are left out."""
        found: list[dict[str, TableScores]] = [{} for _ in questions]
        for (place, question, _), answer in self._each(self._of_tables, questions, table_ids):
            scores = _table_scores(answer, question)
            self._add_missed(question, answer, scores)
            found[place] |= scores
        return found

    def holding(self, terms: Sequence[str]) -> dict[str, list[str]]:
        """Return by each of these terms the tables that have it as a whole cell.

        Where more tables are found than a page holds, they are read page by page.
        """
        found: dict[str, list[str]] = {term: [] for term in terms}
        parts = list(chunks(terms, MAX_CLAUSES))

        def make(opened: Opened) -> list[Search]:
            tables = self._filters(opened)[1]
            return [holding(Field.CELLS, some, tables) for some in parts]

        def every(opened: Opened) -> list[Answer]:
            pages = (self.transport.pages(opened, one, MAX_CANDIDATES) for one in make(opened))
            return [[hit for page in some for hit in page] for some in pages]

        answers = self.transport.ask(make) if parts else []
        if any(len(hits) >= MAX_CANDIDATES for hits in answers):
            answers = self.transport.at_newest(every)
        for some, hits in zip(parts, answers, strict=True):
            for hit in hits:
                for place in map(int, hit["matched_queries"]):
                    found[some[place]].append(unescape(hit["sort"][0]))
        return found

    def members(self, families: Sequence[str]) -> dict[str, list[str]]:
        """Return the tables of each of these families."""
        facts = self.transport.at_newest(self.access.facts)
        seen = (i for i, one in facts.items() if is_seen(one.facts, self.where.readers))
        found: dict[str, list[str]] = {family: [] for family in families}
        for table_id in let_through(self.where, seen):
            if (family := facts[table_id].facts.family) in found:
                found[family].append(table_id)
        return found

    def _filters(self, opened: Opened) -> tuple[Filters, Filters]:
        """Return what lets through the blocks of the filter, and its tables of whatever kinds."""
        seen = [*opened.state.visible(), *self.access.of(opened, self.where.readers)]
        if self.where.but_families:
            facts, families = self.access.facts(opened), set(self.where.but_families)
            wanted = (i for i, one in facts.items() if one.facts.family not in families)
            seen.append(filter_of(wanted, facts))
        tables = where_filters(replace(self.where, kinds=()))
        return [*seen, *where_filters(self.where)], [*seen, *tables]

    def _asked(
        self, searches: Callable[[Given, Opened], Searches], asked: Sequence[Given], hits: int
    ) -> list[Answers]:
        """Return the answers to each one's searches, of which one has about so many hits."""
        found: list[Answers] = []
        for part in chunks(asked, max(1, min(MOST_QUESTIONS, MOST_HITS // hits))):
            made: list[Searches] = []

            def make(opened: Opened, some: Sequence[Given] = part) -> list[Search]:
                made[:] = [searches(one, opened) for one in some]  # noqa: B023 (called at once)
                return [search for one in made for search in one.values()]  # noqa: B023

            answers = iter(self.transport.ask(make))
            found += [{name: next(answers) for name in one} for one in made]
        return found

    def _each(
        self,
        searches: Callable[[Asked, Opened], Searches],
        questions: Sequence[Question],
        ids: Sequence[Sequence[str]],
    ) -> Iterable[tuple[Asked, Answers]]:
        """Return the answers about the blocks or tables of each question, so many at a time."""
        given = [
            (place, question, some)
            for place, (question, wanted) in enumerate(zip(questions, ids, strict=True))
            for some in chunks(list(dict.fromkeys(wanted)), MAX_CANDIDATES)
        ]
        answers = self._asked(searches, given, max([1, *map(len, ids)]))
        return zip(given, answers, strict=True)

    def _searches(
        self,
        question: Question,
        opened: Opened,
        size: int,
        nearest: int | None,
        among: Sequence[str] | None = None,
    ) -> Searches:
        """Return a question's searches of each side and field.

        Args:
            question: What is looked for.
            opened: The index.
            size: How many hits a search has.
            nearest: How many neighbours are looked for; None: all that the filter leaves.
            among: The tables to look in, of which the best block each is wanted; None: any blocks.
        """
        blocks, tables = self._filters(opened)
        per_table = among is not None
        if among is not None:
            only = given_tables(among)
            blocks, tables = [*blocks, only], [*tables, only]
        made: Searches = {}
        if question.terms:
            words = by_words(question.terms, [*blocks, *kinds_but(question.silent)])
            made[_LEXICAL] = of_blocks(words, size, per_table=per_table)
        if question.vector is not None:
            quantization = opened.described.quantization
            meaning = by_meaning(question.vector, blocks, quantization, nearest)
            made[_SEMANTIC] = of_blocks(meaning, size, per_table=per_table)
        for field, terms in question.fields.items():
            made[field] = of_field(field, terms, tables, size)
        if among is not None:
            made[_RECORDS] = of_records(tables, size)
            if question.headers:
                made[Field.HEADERS] = holding(Field.HEADERS, [*question.headers], tables, size)
            return made
        if question.words:
            seen = self.access.of(opened, self.where.readers)
            made[_REACH] = of_reach(question.words, [*opened.state.visible(), *seen])
        for word, places in question.sought.items():
            most = MOST_HOLDERS + 1
            made[_HOLDERS + word] = of_holders(places, blocks, tables, most, question.silent)
        return made

    def _of_tables(self, asked: Asked, opened: Opened) -> Searches:
        _, question, some = asked
        return self._searches(question, opened, len(some), None, some)

    def _add_missed(
        self, question: Question, answer: Answers, scores: dict[str, TableScores]
    ) -> None:
        """Look again for the nearest blocks where all tables have more than one search ranks.

        Tables are asked for in groups that one search ranks, or alone.
        """
        sizes = {unescape(hit["sort"][0]): int(hit["sort"][1]) for hit in answer[_RECORDS]}
        if question.vector is None or sum(sizes.values()) <= MAX_CANDIDATES:
            return
        missed = {i: size for i, size in sizes.items() if size and scores[i].semantic is None}
        if len(missed) == len(sizes) == 1:
            return
        nearest = Question([], question.vector, {})
        for some in portions(missed, MAX_CANDIDATES):
            ((again),) = self._asked(self._of_tables, [(0, nearest, some)], 1)
            for table_id, one in _table_scores(again, nearest).items():
                if table_id in scores:
                    scores[table_id] = replace(scores[table_id], semantic=one.semantic)


def _table_scores(found: Answers, question: Question) -> dict[str, TableScores]:
    """Return the scores of the tables that exist."""
    lexical = {hit.block.table_id: hit for hit in map(lexical_hit, found.get(_LEXICAL, ()))}
    semantic = {hit.block.table_id: hit for hit in map(semantic_hit, found.get(_SEMANTIC, ()))}
    fields: dict[str, dict[Field, float]] = {}
    rows: dict[str, int] = {}
    for field in question.fields:
        for raw in found.get(field, ()):
            hit = table_hit(field, raw)
            fields.setdefault(hit.table_id, {})[field] = hit.score
            if field is Field.ROWS and raw["sort"][2] != NO_ROW:
                rows[hit.table_id] = int(raw["sort"][2])
    shares = [*question.headers.values()]
    headers = {
        unescape(hit["sort"][0]): dict(shares[int(place)] for place in hit["matched_queries"])
        for hit in found.get(Field.HEADERS, ())
    }
    tables = (unescape(hit["sort"][0]) for hit in found[_RECORDS])
    return {
        i: TableScores(
            lexical.get(i), semantic.get(i), fields.get(i, {}), rows.get(i), headers.get(i, {})
        )
        for i in tables
    }
