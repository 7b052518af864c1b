"""Which questions ask the same, so that what people said of one's answer is told of the other.

Embeddings tell what questions are about, and hardly their numbers, names and opposites: those of
2019 and of 2020, the most and the fewest are nearly one question to them. So words decide there.
"""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pneuma_assets.core.answer_feedback import WORD, SavedAnswer, folded_word, spoken
from pneuma_assets.core.tables import Vector

if TYPE_CHECKING:
    from pneuma_assets.core.store.usage import Usage

LEAST_COSINE = 0.86
"""Of two questions that ask the same; chosen with each of five sets of questions left out, so that
at most one other question in twenty is taken for one about other tables."""

_MOST = 10
"""Answers that are returned for a question."""
_TRIED = 100
"""Nearest questions whose words are compared."""
_AGAIN = 10.0
"""Seconds after which embeddings that were not there are looked for again."""
_CALENDAR = frozenset(
    (
        *("january", "february", "march", "april", "june", "july", "august", "september"),
        *("october", "november", "december", "monday", "tuesday", "wednesday", "thursday"),
        *("friday", "saturday", "sunday"),
    )
)
"""Names that many write without a capital."""
_OPPOSITES: Sequence[tuple[frozenset[str], frozenset[str]]] = [
    (frozenset(one.split()), frozenset(other.split()))
    for one, other in (
        ("most highest largest longest biggest maximum max top", "least fewest lowest smallest "
         "shortest minimum min bottom"),
        ("before prior until", "after since"),
        ("more over above greater", "fewer less below under"),
        ("ascending", "descending"),
        ("first earliest oldest", "last latest newest"),
        ("average mean", "total sum overall"),
        ("increase increased increases rose grew gain gained", "decrease decreased decreases fell "
         "shrank loss lost"),
        ("import imports imported", "export exports exported"),
        ("arrive arrives arrived arrival arrivals", "depart departs departed departure departures"),
        ("male men boys", "female women girls"),
        ("bought buy buyers", "sold sell sellers"),
        ("start starts started begin began", "end ends ended"),
        ("open opened", "close closed"),
        ("born birth births", "died death deaths"),
    )
]  # fmt: skip
_TURNED = ((True, False, False, True), (False, True, True, False))
"""Which of two opposites went, and which came, where a question goes the other way."""
_NOT = (
    *("not", "no", "non", "never", "without", "none", "except", "excluding", "neither", "nor"),
    *("nobody", "cannot"),
)


@dataclass(frozen=True, slots=True)
class Match:
    """What somebody said of an answer to a question that asks the same.

    `similarity` is the cosine of both, or 1 where they have the same words.
    """

    answer: SavedAnswer
    similarity: float


@dataclass(frozen=True, slots=True)
class _Words:
    """A question's words: as a text, how often each occurs, and its numbers and names in order."""

    text: str
    every: Counter[str]
    numbers: tuple[str, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, question: str) -> "_Words":
        question = spoken(question)
        found = [*WORD.finditer(question)]
        folded = [*map(folded_word, (one[0] for one in found))]
        named = (
            word
            for word, one in zip(folded, found, strict=True)
            if word in _CALENDAR
            or (one[0][0].isupper() and not _begins(question[: one.start()].rstrip()))
        )
        numbers = tuple(word for word in folded if any(map(str.isdigit, word)))
        return cls(" ".join(folded), Counter(folded), numbers, tuple(dict.fromkeys(named)))

    def may_ask_the_same(self, other: "_Words") -> bool:
        """Tell whether no number, name, negation or direction of one is missing in the other."""
        names = {*self.names, *other.names}
        if self.numbers != other.numbers or self._denials != other._denials or self._turns(other):
            return False
        if not (names <= self.every.keys() and names <= other.every.keys()):
            return False
        gone, come = (self.every - other.every).keys(), (other.every - self.every).keys()
        ways = (
            tuple(bool(words & way) for words in (gone, come) for way in pair)
            for pair in _OPPOSITES
        )
        return not any(way in _TURNED for way in ways)

    @property
    def _denials(self) -> int:
        return sum(self.every[word] for word in _NOT)

    def _turns(self, other: "_Words") -> bool:
        """Tell whether both lead from one name to another, and not the same way."""
        leads = "to" in self.every and "to" in other.every
        return leads and {*self.names} == {*other.names} and self.names != other.names


def _begins(before: str) -> bool:
    """Tell whether a sentence begins after this, where a capital says nothing."""
    return not before or before[-1] in ".?!:"


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
        self._stamp: object = None
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
