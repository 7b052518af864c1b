"""What is looked at of the best tables to tell whether any of them answers."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pneuma_assets.core.search.signals import RankedTable
from pneuma_assets.core.tables import TableTerms
from pneuma_assets.core.terms.fields import Field, spaced
from pneuma_assets.core.text.analysis import Analyzer

MOST = 10
"""Tables that are compared, however many are shown: a confidence does not depend on k."""

_WORD = re.compile(r"\w[\w'.-]*")
_TELLING = 2.0
"""What a word counts that has a digit, or a capital although it is not the first."""


@dataclass(frozen=True, slots=True)
class Contender:
    """One of the best tables.

    Attributes:
        said: Terms of the question that its names, its best row or its best blocks say.
        cosine: Of its block nearest in meaning; 0 without one.
        fields: Its raw scores by field of the evidence.
    """

    said: frozenset[str]
    cosine: float = 0.0
    fields: Mapping[Field, float] | None = None

    def raw(self, field: Field) -> float:
        """Return its score in a field, 0 where it has none."""
        return (self.fields or {}).get(field, 0.0)


def contender_of(
    one: RankedTable, evidence: TableTerms, words: Mapping[str, float], analyzer: Analyzer
) -> Contender:
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
    texts.append(spaced(*evidence.names, *evidence.columns))
    texts += [evidence.spelled_names, evidence.spelled_columns]
    said = words.keys() & set(analyzer.terms("\n".join(texts)))
    semantic = one.scores.semantic
    return Contender(
        frozenset(said), 0.0 if semantic is None else semantic.score, one.scores.fields
    )


def words_of_question(question: str, analyzer: Analyzer) -> dict[str, float]:
    """Return the question's terms, and what each counts: numbers and names count twice."""
    telling = " ".join(
        match.group() for match in _WORD.finditer(question) if _is_telling(match, question)
    )
    twice = set(analyzer.terms(telling))
    asked = dict.fromkeys(analyzer.question_terms(question))
    return {term: _TELLING if term in twice else 1.0 for term in asked}


def share_said(words: Mapping[str, float], contenders: Sequence[Contender]) -> float:
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
