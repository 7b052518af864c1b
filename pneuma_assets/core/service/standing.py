"""How a deployment's own questions stand, as far as its state knows.

A command, a check, and a tick that asks whether the check would come out otherwise say the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pneuma_assets.core.measure.mine.comparing import Change, comparable, compared, reference
from pneuma_assets.core.store.mined import Measurement, MinedQuestion

if TYPE_CHECKING:
    from pneuma_assets.core.store import Store

FEWEST = 10
"""Questions that tell anything; of fewer, others are to be made."""
WAITING = "waiting"
"""The figure that counts the tables that waited when questions were asked."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How the questions are answered, and what became of them.

    Attributes:
        questions: All there are.
        history: Every measurement, the oldest first.
        now: The newest, if it had all of these questions.
        best: What it is compared with; None where there is nothing to compare.
        change: What became of the questions between the two.
        trouble: Why they could not be asked when that was last tried; else empty.
    """

    questions: Sequence[MinedQuestion] = ()
    history: Sequence[Measurement] = ()
    now: Measurement | None = None
    best: Measurement | None = None
    change: Change = field(default_factory=Change)
    trouble: str = ""

    @property
    def few(self) -> bool:
        """Whether so many questions have left that the others tell little."""
        return 0 < len(self.questions) < FEWEST

    @property
    def not_compared(self) -> int:
        """How many questions cannot be compared, since tables came that may hide the right one."""
        return 0 if self.best is None else len(self.questions) - self.change.asked

    def worse(self) -> list[tuple[MinedQuestion, int | None, int | None]]:
        """Return the questions that got worse, each with its place before and now."""
        lost, now = set(self.change.worse), self.now.places if self.now else {}
        return [
            (one, self.change.before[one.question_id], now[one.question_id])
            for one in self.questions
            if one.question_id in lost
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON; the keys are part of the command line's contract."""
        return {
            "questions": [
                {
                    "id": one.question_id,
                    "kind": one.kind,
                    "table": one.table_id,
                    "question": one.question,
                    "place": self.now.places[one.question_id] if self.now else None,
                }
                for one in self.questions
            ],
            "now": None if self.now is None else _shown(self.now),
            "best": None if self.best is None else _shown(self.best),
            "red": self.change.red,
            "p": self.change.p,
            "better": len(self.change.better),
            "not_compared": self.not_compared,
            "worse": [
                {"id": one.question_id, "before": before, "now": now}
                for one, before, now in self.worse()
            ],
            "trouble": self.trouble or None,
            "history": [_shown(one) for one in self.history],
        }


def standing(store: "Store") -> Standing:
    """Return how the questions are answered, as far as the state knows."""
    questions, history = store.mined.questions(), store.mined.measurements()
    trouble = store.mined.tried().cause
    ids = [one.question_id for one in questions]
    newest = history[-1] if history else None
    if not ids or newest is None or not set(ids) <= newest.places.keys():
        return Standing(questions, history, trouble=trouble)
    best = reference(history, ids, newest)
    change = Change()
    if best is not None:
        change = compared(comparable(newest, best, ids), best.places)
    return Standing(questions, history, newest, best, change, trouble)


def _shown(one: Measurement) -> dict[str, Any]:
    return {
        "number": one.number,
        "at": one.measured_at,
        "figures": dict(one.figures),
        "accepted": one.accepted,
    }
