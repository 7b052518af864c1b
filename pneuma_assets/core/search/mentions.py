"""Columns and values that a question mentions, looked up without a model (Octopus, 4.1 and 4.2).

Each word is looked up among the names of tables and columns, and the longest runs of words among
whole cells; words that may name a column are matched with headers by shared words and by cosine.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from operator import itemgetter
from typing import Self

import numpy as np

from pneuma_assets.core.index.base import NO_FILTER, IndexFilter, SearchIndex
from pneuma_assets.core.models.base import Encoder, is_elsewhere
from pneuma_assets.core.relations.rank_groups import Mention
from pneuma_assets.core.tables import Vector
from pneuma_assets.core.terms.fields import CELL_WORDS, header_of, name_parts, plain_words
from pneuma_assets.core.text.analysis import QUESTION_STOP_WORDS, Analyzer

LONGEST_RUN = 3
"""Words of a run that may name a column; names of more are found by parts of theirs."""
_MOST_WORDS = 100
"""Of a question, the runs of so many are taken, the first ones."""
_MOST_CHARACTERS = 600
"""Of a question, as many as 100 English words have: its runs are embedded, each up to six times."""


def word_mentions(question: str) -> tuple[str, ...]:
    """Return a question's content words and the runs of two or three words between two of them.

    All that may name a column, where no model parses the question. Longer runs come first, and one
    word is in several: a column counts by the best of them.
    """
    words = name_parts(question[:_MOST_CHARACTERS])[:_MOST_WORDS]
    runs = (
        " ".join(words[start : start + length])
        for length in range(LONGEST_RUN, 0, -1)
        for start in range(len(words) - length + 1)
        if QUESTION_STOP_WORDS.isdisjoint((words[start], words[start + length - 1]))
    )
    return tuple(dict.fromkeys(runs))


MOST_NAMES = 5
"""Headers that a mention matches by meaning (the paper's k)."""
LEAST_COSINE = 0.7
"""Of a match by meaning (the paper's eta)."""


@dataclass(frozen=True, slots=True, order=True)
class Match:
    """How well a header matches a mention.

    Attributes:
        score: From 0 to 1; 1 where both share a word, else the cosine (equations 1 and 2).
        cosine: Of both, whatever words they share: tells one of several that do from the others.
    """

    score: float
    cosine: float


def headers_of(tables: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the different headers of tables, whose columns are given, in order."""
    return sorted({header_of(name) for columns in tables.values() for name in columns} - {""})


def matches(
    mentions: Sequence[str],
    vectors: Vector,
    headers: Mapping[str, Vector],
    analyzer: Analyzer,
    *,
    most: int = MOST_NAMES,
    least: float = LEAST_COSINE,
) -> list[dict[str, Match]]:
    """Return of each mention the headers that match it (M_i, equations 1 and 2).

    A mention without a letter matches by its words alone: encoders take one year for the next.

    Args:
        mentions: Phrases that may name columns.
        vectors: Their embeddings, of unit length, by the encoder of the headers.
        headers: Among which to look, as `header_of` spells them, with their embeddings.
        analyzer: Of the index.
        most: Headers that match by meaning; those that share a word are not counted.
        least: Cosine of these.
    """
    if not mentions or not headers:
        return [{} for _ in mentions]
    names = list(headers)
    having: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        for term in set(analyzer.terms(name)):
            having.setdefault(term, []).append(place)
    cosines = np.clip(vectors @ np.stack(list(headers.values())).T, -1.0, 1.0)
    found = []
    for mention, row in zip(mentions, cosines.tolist(), strict=True):
        near = _nearest(row, names, most, least) if any(map(str.isalpha, mention)) else []
        terms = analyzer.question_terms(mention)
        sharing = {place: 1.0 for term in terms for place in having.get(term, ())}
        scores = {place: row[place] for place in near} | sharing
        found.append({names[at]: Match(score, row[at]) for at, score in scores.items()})
    return found


def matched_columns(
    found: Sequence[Mapping[str, Match]], tables: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, float]]:
    """Return of each table the columns that any mention matches, each with its best score.

    Args:
        found: What `matches` gave of all mentions.
        tables: The columns of each table, whose order is kept; a table of which none matches is
            there, too.
    """
    best: dict[str, float] = {}
    for one in found:
        for header, match in one.items():
            best[header] = max(match.score, best.get(header, 0.0))
    return {
        table_id: {name: best[header] for name in columns if (header := header_of(name)) in best}
        for table_id, columns in tables.items()
    }


def _nearest(cosines: Sequence[float], names: Sequence[str], most: int, least: float) -> list[int]:
    """Return where the headers nearest in meaning stand, the nearest first, equal ones by name."""
    near = [place for place, cosine in enumerate(cosines) if cosine >= least]
    return sorted(near, key=lambda place: (-cosines[place], names[place]))[:most]


KeptHeaders = Callable[[Sequence[str]], Mapping[str, Vector]]
"""Returns the embeddings that are kept of headers, as words; of some there may be none."""


@dataclass(frozen=True, slots=True)
class HeaderMatcher:
    """Matches what questions mention with the columns of tables.

    Mentions and headers are embedded alike, as documents: where they are the same phrase, the
    cosine is 1, whatever an encoder puts before questions.

    Attributes:
        encoder: The deployment's.
        analyzer: Of the index.
        kept: Returns the embeddings that are kept by this encoder; others are made.
        most: Headers that a mention matches by meaning.
        least: Cosine of these.
    """

    encoder: Encoder
    analyzer: Analyzer
    kept: KeptHeaders = lambda _: {}
    most: int = MOST_NAMES
    least: float = LEAST_COSINE

    def among(self, most: int, least: float) -> Self:
        """Return the same with other bounds of a match by meaning."""
        return type(self)(self.encoder, self.analyzer, self.kept, most, least)

    def matched_columns(
        self, mentions: Sequence[str], tables: Mapping[str, Sequence[str]]
    ) -> dict[str, dict[str, float]]:
        """Return which columns of tables are mentioned, and how well each matches, up to 1.

        Args:
            mentions: Phrases that may name columns, as of `mentions.word_mentions`.
            tables: The columns of each table.

        Raises:
            ModelError: The encoder cannot be loaded.
        """
        return matched_columns(self.matches(mentions, tables), tables)

    def matches(
        self, mentions: Sequence[str], tables: Mapping[str, Sequence[str]]
    ) -> list[dict[str, Match]]:
        """Return of each mention the headers of these tables that match it.

        Raises:
            ModelError: The encoder cannot be loaded.
        """
        names = headers_of(tables)
        if not mentions or not names:
            return [{} for _ in mentions]
        kept = dict(self.kept(names))
        missing = [name for name in names if name not in kept]
        if missing and not is_elsewhere(self.encoder):  # which are hidden is not known here
            kept |= zip(missing, self.encoder.encode_documents(missing), strict=True)
        headers = {name: kept[name] for name in names if name in kept}
        vectors = self.encoder.encode_documents(mentions)
        return matches(mentions, vectors, headers, self.analyzer, most=self.most, least=self.least)


_SHORTEST_NUMBER = 3
"""Digits of a number that may be a cell by itself: 5 is one of too many."""


def link_mentions(
    index: SearchIndex,
    question: str,
    headers: Mapping[str, Mapping[str, float]],
    where: IndexFilter,
) -> list[Mention]:
    """Return what a question names that a candidate has: words of names, and whole cells.

    How telling each is depends on how many of the candidates have it (equations 4 and 6).

    Args:
        index: Where to look.
        question: In plain language.
        headers: Of each candidate the words that its names have (`TableScores.headers`).
        where: Who asks.
    """
    having: dict[str, dict[str, float]] = {}
    for table_id, words in headers.items():
        for word, share in words.items():
            having.setdefault(word, {})[table_id] = share
    mentions = [  # in an order that no engine decides: sums of other orders round otherwise
        Mention(word, _rarity(len(tables), len(headers)), tables)
        for word, tables in sorted(having.items(), key=itemgetter(0))
    ]
    seen = IndexFilter(tables=tuple(headers), readers=where.readers)
    held = held_values(index, question, seen) if headers else {}
    for text, tables in held.items():
        weight = _rarity(len(tables), len(headers))
        mentions.append(Mention(text, weight, dict.fromkeys(tables, 1.0), is_value=True))
    return mentions


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
