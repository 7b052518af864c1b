"""What of a question may name columns: its content words and runs of them."""

from dataclasses import dataclass

from pneuma_assets.core.terms.fields import name_parts
from pneuma_assets.core.text.analysis import QUESTION_STOP_WORDS

LONGEST_RUN = 3
"""Words of a run that may name a column; names of more are found by parts of theirs."""
_MOST_WORDS = 100
"""Of a question, the runs of so many are taken, the first ones."""


@dataclass(frozen=True, slots=True)
class Run:
    """Words of a question that stand side by side.

    Attributes:
        text: The words.
        start: Which word of the question is the first.
        stop: Which is the first behind it.
    """

    text: str
    start: int
    stop: int

    @property
    def words(self) -> range:
        """The numbers of its words."""
        return range(self.start, self.stop)


def word_mentions(question: str) -> tuple[str, ...]:
    """Return a question's content words and the runs of two or three words between two of them.

    All that may name a column, where no model parses the question. Longer runs come first, and one
    word is in several: a column counts by the best of them.
    """
    return tuple(dict.fromkeys(run.text for run in word_runs(question)))


def word_runs(question: str) -> list[Run]:
    """Return the same runs with their places, longer ones first."""
    words = name_parts(question)[:_MOST_WORDS]
    return [
        Run(" ".join(words[start : start + length]), start, start + length)
        for length in range(LONGEST_RUN, 0, -1)
        for start in range(len(words) - length + 1)
        if QUESTION_STOP_WORDS.isdisjoint((words[start], words[start + length - 1]))
    ]
