"""How sure an answer is: the probability that a table here answers, and that it is this one.

Scores rank the tables of one question; the best one has a score near 1 also where none answers. So
what is looked at means the same for every question: how much of it the best tables say, and how
near they are in meaning.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pneuma_assets.core.search.passages import terms_in
from pneuma_assets.core.search.results import TableResult
from pneuma_assets.core.search.signals import RankedTable
from pneuma_assets.core.tables import TableTerms
from pneuma_assets.core.terms.fields import Field, header_of
from pneuma_assets.core.text.analysis import Analyzer

MOST = 10
"""Tables that are compared, however many are shown: a confidence does not depend on k."""

_WORD = re.compile(r"\w[\w'.-]*")
_TELLING = 2.0
"""What a word counts that has a digit, or a capital although it is not the first."""


@dataclass(frozen=True, slots=True)
class ConfidenceFeatures:
    """One of the best tables.

    Attributes:
        said: Terms of the question that its names, its best row or its best blocks say.
        cosine: Of its block nearest in meaning; 0 without one.
        names: Its raw score in the names of the table and of what it lies in.
    """

    said: frozenset[str]
    cosine: float = 0.0
    names: float = 0.0


def features_of(
    one: RankedTable, evidence: TableTerms, words: Mapping[str, float], analyzer: Analyzer
) -> ConfidenceFeatures:
    """Return what there is to compare of a table.

    Args:
        one: The table, ranked.
        evidence: The table's own; of its rows the best one alone is read, as it may have many.
        words: The question's, from `words_of_question`.
        analyzer: The index's.
    """
    texts = [hit.block.text for hit in (one.scores.semantic, one.scores.lexical) if hit is not None]
    row = one.scores.row
    if row is not None and row < len(evidence.rows):
        texts += [cell for cell in evidence.rows[row] if cell]
    lines = (line for text in texts for line in text.split("\n"))
    names = _terms_of_names(
        *(evidence.names, evidence.columns, evidence.spelled_names, evidence.spelled_columns),
        analyzer=analyzer,
    )
    said = words.keys() & names.union(*(terms_in(line, analyzer) for line in lines))
    semantic = one.scores.semantic
    cosine = 0.0 if semantic is None else semantic.score
    return ConfidenceFeatures(frozenset(said), cosine, one.scores.fields.get(Field.NAMES, 0.0))


@lru_cache(maxsize=512)  # of a table of 300 columns one takes 165 kB
def _terms_of_names(
    names: Sequence[str], columns: Sequence[str], *spelled: str, analyzer: Analyzer
) -> frozenset[str]:
    texts = "\n".join((*map(header_of, (*names, *columns)), *spelled))
    return frozenset(analyzer.terms(texts))


def words_of_question(question: str, analyzer: Analyzer) -> dict[str, float]:
    """Return the question's terms, and what each counts: numbers and names count twice."""
    telling = " ".join(
        match.group() for match in _WORD.finditer(question) if _is_telling(match, question)
    )
    twice = set(analyzer.terms(telling))
    asked = dict.fromkeys(analyzer.question_terms(question))
    return {term: _TELLING if term in twice else 1.0 for term in asked}


def share_said(words: Mapping[str, float], contenders: Sequence[ConfidenceFeatures]) -> float:
    """Return how much of the question the first table says, 0 to 1.

    A word counts more the fewer of the contenders say it: what all say tells nothing, and what
    none says is missing most.
    """
    among = len(contenders) + 1

    def worth(term: str) -> float:
        saying = sum(term in one.said for one in contenders)
        return words[term] * math.log(1 + among / (saying + 0.5))

    whole = math.fsum(map(worth, words))
    said = math.fsum(worth(term) for term in words if term in contenders[0].said)
    return min(1.0, said / whole) if whole > 0 else 0.0


def _is_telling(match: re.Match[str], question: str) -> bool:
    word = match.group()
    starts = not question[: match.start()].strip()
    return any(map(str.isdigit, word)) or (word[0].isupper() and not starts)


SIGNS: Mapping[str, float] = {
    "said": 3.89,
    "meaning": 6.68,
    "names": 1.35,
}
"""What each of `signs_of` adds to the log odds that a table answers. A logistic regression over
six sets of tables and questions that count alike, half of each answerable:
`experiments.confidence` of the benchmarks fits it, docs/measurements.md has the figures."""

INTERCEPT = -4.39

SHARE_AHEAD, SHARE_INTERCEPT = 10.04, -0.63
"""The log odds that it is this table, if any: by how far its score is ahead of all others."""

NAMED = 0.9
"""The least confidence in a table whose name was typed in; not fitted, as no set asks by names.
Whoever types a name in has seen the table."""

_MOST_ODDS = 30.0


def signs_of(
    words: Mapping[str, float], contenders: Sequence[ConfidenceFeatures]
) -> dict[str, float]:
    """Return the signs that a table answers, more of each being better; 0 if nothing was found.

    Args:
        words: The question's, with what each counts.
        contenders: The best tables, best first.

    Returns:
        `said`: how much of the question the first table says (`share_said`); `meaning`: the cosine
        of the nearest block of any; `names`: the first table's raw score in names, by a word of the
        question.
    """
    if not contenders:
        return dict.fromkeys(SIGNS, 0.0)
    return {
        "said": share_said(words, contenders),
        "meaning": max(one.cosine for one in contenders),
        "names": contenders[0].names / max(1, len(words)),
    }


def answerable(signs: Mapping[str, float]) -> float:
    """Return the probability that any table answers, where half of the questions have one."""
    return _probability(INTERCEPT + math.fsum(slope * signs[name] for name, slope in SIGNS.items()))


def shares(scores: Sequence[float]) -> list[float]:
    """Return of each table the probability that it answers, given that any does.

    They need not add up to 1: a question may need several tables.
    """
    first, second = [*sorted(scores, reverse=True), 0.0, 0.0][:2]
    ahead = [score - (second if score == first else first) for score in scores]
    return [_probability(SHARE_INTERCEPT + SHARE_AHEAD * one) for one in ahead]


def confidence_of(results: Sequence[TableResult]) -> float | None:
    """Return the probability that any of these tables answers: 0 without any.

    0 also where the judge refuses all that it read. None where it is not known: by the paper's two
    sides (`alpha`), to which nothing is fitted.
    """
    return 0.0 if not results or results[0].parts.is_refused else results[0].answerable


def is_unlikely(confidence: float | None, min_confidence: float) -> bool:
    """Tell whether an answer is to be refused; one of unknown confidence is not."""
    return confidence is not None and confidence < min_confidence


def _probability(odds: float) -> float:
    """Return the probability of log odds; a half where they are no number."""
    bounded = 0.0 if math.isnan(odds) else max(-_MOST_ODDS, min(_MOST_ODDS, odds))
    return 1.0 / (1.0 + math.exp(-bounded))
