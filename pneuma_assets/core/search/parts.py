"""The parts of a deployment that answer a question, and going on without one that is away."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pneuma_assets.core.errors import IndexMismatchError, ModelError, StateError
from pneuma_assets.core.missing_parts import OnMissing, Part, Resting
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.search.judge import Judge
from pneuma_assets.core.search.paraphrases import KnownAnswers, Match
from pneuma_assets.core.tables import Vector

logger = logging.getLogger(__name__)

T = TypeVar("T")

_NO_ENCODER = (ModelError, IndexMismatchError)
"""Raised where the encoder is away, or the one that built the index is."""


@dataclass(frozen=True, slots=True)
class Rests:
    """The models of an engine that are left alone for a while after they failed."""

    encoder: Resting = field(default_factory=Resting)
    judge: Resting = field(default_factory=Resting)


@dataclass(frozen=True, slots=True)
class Parts:
    """What takes part in an answer.

    Attributes:
        encoder: Embeds questions; None: words alone are asked.
        judge: The model that judges; None: none does.
        answers: Returns what people said of answers.
        rests: Of these models.
        missing: Is told of parts that are away, and the answer goes on; None: that is an error.
    """

    encoder: Encoder | None
    judge: Judge | None
    answers: Callable[[], KnownAnswers]
    rests: Rests
    missing: OnMissing | None = None

    def vectors(self, asked: Sequence[str], alpha: float | None) -> Sequence[Vector | None]:
        """Return the embedding of each question; None where the encoder takes no part.

        Raises:
            ModelError: The encoder is away, and nobody is told so, or it alone is asked (`alpha`).
        """
        encoder, nothing = self.encoder, [None] * len(asked)
        if encoder is None:
            return nothing
        if self.missing is None or alpha == 0:
            return list(encoder.encode_queries(asked))
        try:
            return list(self.rests.encoder.use(lambda: encoder.encode_queries(asked), _NO_ENCODER))
        except _NO_ENCODER as error:
            self.missing(Part.ENCODER, error)
            return nothing

    def judged(self, act: Callable[[Judge], tuple[T, str]], otherwise: T) -> T:
        """Return what judging gives, or an answer unjudged where that is told.

        Args:
            act: Judges; returns the answer, and in a line why some of it has no verdict.
            otherwise: The answer as it is without the judge.

        Raises:
            ModelError: The judge is away or fails, and nobody is told so.
        """
        judge, missing = self.judge, self.missing
        if judge is None:
            return otherwise
        if missing is None:
            found, problem = act(judge)
            if problem:
                logger.warning("Not all tables are judged: %s", problem)
            return found
        try:
            found, problem = self.rests.judge.use(lambda: act(judge), ModelError)
        except ModelError as error:
            missing(Part.JUDGE, error)
            return otherwise
        if problem:
            missing(Part.JUDGE, ModelError(problem))
        return found

    def remembered(
        self, asked: Sequence[str], vectors: Sequence[Vector | None]
    ) -> list[list[Match]]:
        """Return what people said of answers to each question.

        Nothing where the state is away: tables are found without it.
        """
        try:
            known = self.answers()
        except StateError as error:
            if self.missing is None:
                logger.warning("What people said of answers is not looked at: %s", error)
            else:
                self.missing(Part.STATE, error)
            known = KnownAnswers()
        return [known.matching(*pair) for pair in zip(asked, vectors, strict=True)]

    def with_state(self, act: Callable[[], T], otherwise: Callable[[], T]) -> T:
        """Return what reading the state gives, or something else where it is away.

        Raises:
            StateError: It cannot be read, and nobody is told so.
        """
        try:
            return act()
        except StateError as error:
            if self.missing is None:
                raise
            self.missing(Part.STATE, error)
            return otherwise()

    def with_both(self, act: Callable[[], T], otherwise: Callable[[], T]) -> T:
        """Return what the encoder and the state give, or something else where one is away.

        Raises:
            ModelError: The encoder is away, and nobody is told so.
            StateError: The state cannot be read, and nobody is told so.
        """
        missing = self.missing
        if missing is None:
            return act()
        try:
            encoded = self.rests.encoder.use(lambda: self.with_state(act, otherwise), _NO_ENCODER)
        except _NO_ENCODER as error:
            missing(Part.ENCODER, error)
            return otherwise()
        return encoded
