"""Which questions ask the same, so that what people said of one's answer is told of the other.

Embeddings tell what questions are about, and hardly their numbers, names and opposites: those of
2019 and of 2020, the most and the fewest are nearly one question to them. So words decide there.
"""

import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pneuma_assets.core.said_answers import SavedAnswer
from pneuma_assets.core.tables import Vector

if TYPE_CHECKING:
    from pneuma_assets.core.store.usage import Usage

LEAST_COSINE = 0.86
"""Of two questions that ask the same; chosen with each of five sets of questions left out, so that
at most one other question in twenty is taken for one about other tables (docs/measurements.md)."""

_MOST = 10
"""Answers that are returned for a question."""
_TRIED = 100
"""Nearest questions whose words are compared."""
_AGAIN = 10.0
"""Seconds after which embeddings that were not there are looked for again."""
_WORD = re.compile(r"\w+")
_OPPOSITES: Sequence[tuple[frozenset[str], frozenset[str]]] = [
    (frozenset(one.split()), frozenset(other.split()))
    for one, other in (
        ("most highest largest longest biggest maximum max top", "least fewest lowest smallest "
         "shortest minimum min bottom"),
        ("before prior", "after since"),
        ("more over above greater", "fewer less below under"),
        ("ascending", "descending"),
        ("first earliest oldest", "last latest newest"),
        ("average mean", "total sum overall"),
    )
]  # fmt: skip
_NOT = frozenset(("not", "no", "never", "without", "none", "except", "neither", "nor", "nobody"))


@dataclass(frozen=True, slots=True)
class Match:
    """What somebody said of an answer to a question that asks the same.

    `similarity` is the cosine of both, or 1 where they have the same words.
    """

    answer: SavedAnswer
    similarity: float


@dataclass(frozen=True, slots=True)
class _Words:
    """A question's words: in order, as a set, and which of them are numbers and names."""

    text: str
    every: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]

    @classmethod
    def of(cls, question: str) -> "_Words":
        words = _WORD.findall(question)
        folded = [word.casefold() for word in words]
        named = {
            match.group().casefold()
            for match in _WORD.finditer(question)
            if match.group()[0].isupper() and not _begins(question[: match.start()].rstrip())
        }
        numbers = frozenset(word for word in folded if any(map(str.isdigit, word)))
        return cls(" ".join(folded), frozenset(folded), numbers, frozenset(named))

    def may_ask_the_same(self, other: "_Words") -> bool:
        """Tell whether no number, name, negation or direction of one is missing in the other."""
        if self.numbers != other.numbers or bool(self.every & _NOT) != bool(other.every & _NOT):
            return False
        if not (self.names <= other.every and other.names <= self.every):
            return False
        return not any(_opposed(self.every, other.every, *pair) for pair in _OPPOSITES)


def _begins(before: str) -> bool:
    """Tell whether a sentence begins after this, where a capital says nothing."""
    return not before or before[-1] in ".?!:"


def _opposed(
    one: frozenset[str], other: frozenset[str], up: frozenset[str], down: frozenset[str]
) -> bool:
    """Tell whether one question goes one way alone and the other one the other way alone."""
    ways = [(bool(words & up), bool(words & down)) for words in (one, other)]
    return sorted(ways) == [(False, True), (True, False)]


@dataclass(frozen=True, slots=True)
class KnownAnswers:
    """What people said of answers, ready to be compared with questions.

    Attributes:
        answers: All of them.
        words: Of the question of each.
        placed: The places of those whose question has an embedding.
        matrix: The embeddings of these, of unit length, one a row.
        by_text: The places of those whose questions have the same words.
    """

    answers: Sequence[SavedAnswer] = ()
    words: Sequence[_Words] = ()
    placed: Sequence[int] = ()
    matrix: Vector = field(default_factory=lambda: np.empty((0, 0), np.float32))
    by_text: Mapping[str, Sequence[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, answers: Sequence[SavedAnswer], vectors: Mapping[str, Vector]) -> "KnownAnswers":
        """Make them of all answers, and of the embeddings of their questions, by the text."""
        placed = [place for place, one in enumerate(answers) if one.question in vectors]
        rows = [vectors[answers[place].question] for place in placed]
        matrix = np.stack(rows) if rows else np.empty((0, 0), np.float32)
        words, by_text = [_Words.of(one.question) for one in answers], defaultdict(list)
        for place, one in enumerate(words):
            by_text[one.text].append(place)
        return cls(answers, words, placed, matrix, dict(by_text))

    def matching(self, question: str, vector: Vector | None) -> list[Match]:
        """Return what was said of questions that ask the same, the most similar first.

        Without a vector only equal words count; capitals and punctuation do not.
        """
        asked = _Words.of(question)
        found = dict.fromkeys(self.by_text.get(asked.text, ()), 1.0)
        if vector is not None and len(self.matrix):
            cosines = self.matrix @ vector
            near = np.flatnonzero(cosines >= LEAST_COSINE)
            for row in near[np.argsort(-cosines[near], kind="stable")][:_TRIED].tolist():
                place = self.placed[row]
                if place not in found and self.words[place].may_ask_the_same(asked):
                    found[place] = min(1.0, float(cosines[row]))
        ranked = sorted(found.items(), key=lambda one: (-one[1], one[0]))[:_MOST]
        return [Match(self.answers[place], similarity) for place, similarity in ranked]


class AnswerMemory:
    """What people said of answers, as the state has it now; for any number of threads.

    Args:
        encoder: The name of the one that embeds questions.
        read: Calls its argument with the state's part for answers, or not, where there is no state.
    """

    def __init__(
        self, encoder: str, read: "Callable[[Callable[[Usage], KnownAnswers]], KnownAnswers]"
    ) -> None:
        self._encoder, self._read = encoder, read
        self._lock = threading.Lock()
        self._mark: tuple[Usage, object] | None = None
        self._stamp: tuple[int, float] = (0, 0.0)
        self._known = KnownAnswers()
        self._read_at = 0.0

    def known(self) -> KnownAnswers:
        """Return all that was said.

        Raises:
            StateError: The state cannot be read.
        """
        return self._read(self._current)

    def _current(self, usage: "Usage") -> KnownAnswers:
        mark = usage, usage.mark()
        with self._lock:
            lacking = len(self._known.placed) < len(self._known.answers)
            late = lacking and time.monotonic() - self._read_at > _AGAIN
            if mark != self._mark or late:
                self._read_anew(usage, late=late)
                self._mark = mark
            return self._known

    def _read_anew(self, usage: "Usage", *, late: bool) -> None:
        stamp = usage.stamp()
        if stamp == self._stamp and not late:
            return
        answers = usage.answers()
        vectors = usage.vectors(self._encoder, {one.question for one in answers})
        self._known, self._stamp = KnownAnswers.of(answers, vectors), stamp
        self._read_at = time.monotonic()


def rejected_tables(matches: Sequence[Match]) -> frozenset[str]:
    """Return the tables that somebody said are no answer, and nobody that they are.

    A statement that was rejected says nothing of its tables, and of several tables nobody knows
    which one is wrong.
    """
    alone = [one.answer for one in matches if len(one.answer.tables) == 1 and not one.answer.sql]
    right = {table for one in matches if one.answer.confirmed for table in one.answer.tables}
    wrong = {one.tables[0] for one in alone if not one.confirmed}
    return frozenset(wrong - right)
