"""Whose turn it is to be asked about: tables take turns, and those of which nothing comes leave."""

from collections.abc import Sequence
from dataclasses import dataclass

from pneuma_bench.generator.subjects import Subject


@dataclass(eq=False, slots=True)
class Turn:
    """A table and what came of it so far.

    Attributes:
        subject: The table.
        asked: Questions that it has.
        tried: Turns that it had.
        fruitless: Turns since its last question.
        drawn: Queries that were drawn of it.
    """

    subject: Subject
    asked: int = 0
    tried: int = 0
    fruitless: int = 0
    drawn: int = 0


class Turns:
    """Gives every table as many questions as any other, as far as it can have them.

    Args:
        subjects: The tables, in the order of their first turns.
        attempts: After so many turns in a row without a question a table leaves.
    """

    def __init__(self, subjects: Sequence[Subject], attempts: int) -> None:
        self._left = [*map(Turn, subjects)]
        self._attempts = attempts

    def next(self, wanted: int) -> list[Turn]:
        """Return those who were asked about least, and of these who were tried least."""
        return sorted(self._left, key=lambda one: (one.asked, one.tried))[:wanted]

    def end(self, turn: Turn, *, fruitful: bool) -> None:
        """End a turn, which gave a question or not."""
        turn.tried += 1
        turn.asked += fruitful
        turn.fruitless = 0 if fruitful else turn.fruitless + 1
        if turn.fruitless >= self._attempts:
            self.leave(turn)

    def leave(self, turn: Turn) -> None:
        """Give a table no turn again."""
        self._left.remove(turn)
