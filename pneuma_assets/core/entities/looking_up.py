"""What a question names, looked up among the candidates' names and cells: no model is asked.

Octopus (section 4.1) has a model parse the question. What that gives is looked up next (section
4.2), so here the question itself is: each of its words among the names of tables and columns, and
the longest runs of its words among whole cells. A deployment without a model has that, too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from types import MappingProxyType

from pneuma_assets.core.index.base import NO_FILTER, IndexFilter, SearchIndex
from pneuma_assets.core.joins.groups import Mention
from pneuma_assets.core.tables import TableTerms
from pneuma_assets.core.terms.fields import CELL_WORDS, plain_words, spaced
from pneuma_assets.core.text.analysis import QUESTION_STOP_WORDS, Analyzer

_MOST_WORDS = 100
"""Of a question, the runs of so many are looked up, the first ones."""
_SHORTEST_NUMBER = 3
"""Digits of a number that may be a cell by itself: 5 is one of too many."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """Looks up questions in an index; `analyzer` is the index's."""

    index: SearchIndex
    analyzer: Analyzer

    def mentions(
        self,
        question: str,
        candidates: Sequence[str],
        where: IndexFilter,
        known: Mapping[str, TableTerms] = MappingProxyType({}),
    ) -> list[Mention]:
        """Return what a question names that a candidate has.

        Args:
            question: In plain language.
            candidates: Tables, among which it is told how rare something is (equations 4 and 6).
            where: Who asks.
            known: Names and columns of tables that were read already, by id.
        """
        unread = [table_id for table_id in candidates if table_id not in known]
        read = self.index.evidence(unread) if unread else {}
        found = {**known, **read}
        evidence = {table_id: found[table_id] for table_id in candidates if table_id in found}
        return [*self._names(question, evidence), *self._values(question, candidates, where)]

    def _names(self, question: str, evidence: Mapping[str, TableTerms]) -> Iterator[Mention]:
        """Yield the words that are in names; a table matches by its best one, or a column's.

        A name of two words matches each of them the less: by the cosine of both.
        """
        names = {
            table_id: [
                frozenset(self.analyzer.terms(spaced(name)))
                for name in (*one.names[-1:], *one.columns)
            ]
            for table_id, one in evidence.items()
        }
        for term in dict.fromkeys(self.analyzer.question_terms(question)):
            found = {
                table_id: max(len(name) ** -0.5 if term in name else 0.0 for name in some)
                for table_id, some in names.items()
                if some
            }
            matching = {table_id: score for table_id, score in found.items() if score > 0}
            if matching:
                yield Mention(term, _rarity(len(matching), len(names)), matching)

    def _values(
        self, question: str, candidates: Sequence[str], where: IndexFilter
    ) -> Iterator[Mention]:
        """Yield the longest runs of words that are whole cells, each word in one of them."""
        seen = IndexFilter(tables=tuple(candidates), readers=where.readers)
        held = held_values(self.index, question, seen) if candidates else {}
        for text, tables in held.items():
            weight = _rarity(len(tables), len(candidates))
            yield Mention(text, weight, dict.fromkeys(tables, 1.0), is_value=True)


def held_values(
    index: SearchIndex, question: str, where: IndexFilter = NO_FILTER
) -> dict[str, tuple[str, ...]]:
    """Return the longest runs of a question's words that are whole cells, and which tables' (T_v).

    Each word is in one of them at most. They are in the order in which they were taken: long ones
    first, then by their place.

    Args:
        index: Where to look.
        question: In plain language.
        where: Which tables count.
    """
    words = plain_words(question)[:_MOST_WORDS]
    runs = [
        (start, start + length)
        for length in range(CELL_WORDS, 0, -1)
        for start in range(len(words) - length + 1)
        if _may_be_value(words[start : start + length])
    ]
    texts = [" ".join(words[start:stop]) for start, stop in runs]
    having = index.holding(texts, where) if texts else {}
    taken: set[int] = set()
    held: dict[str, tuple[str, ...]] = {}
    for (start, stop), text in zip(runs, texts, strict=True):
        if having.get(text) and taken.isdisjoint(range(start, stop)):
            taken.update(range(start, stop))
            held[text] = having[text]
    return held


def _may_be_value(words: Sequence[str]) -> bool:
    if QUESTION_STOP_WORDS.issuperset(words):
        return False
    return len(words) > 1 or not words[0].isdigit() or len(words[0]) >= _SHORTEST_NUMBER


def _rarity(having: int, among: int) -> float:
    """Return how telling it is that so many of some tables have something; never 0."""
    return log(1 + among / having)
