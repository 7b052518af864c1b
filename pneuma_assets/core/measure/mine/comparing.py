"""Tells whether the same questions are answered worse than they were.

One question more or less says nothing, and fifty say little: so it takes a sign test over the
questions that changed, or a fall that nobody would shrug at.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import comb

from pneuma_assets.core.store.mined import Measurement

DEPTH = 10
"""Tables looked at for the right one."""
LEAST = 3
"""Questions that must be lost on balance; fewer are never called a loss."""
SURE = 0.05
"""How improbable the loss must be, if a change made questions better as often as worse."""
FALL = 0.10
"""Of the questions, the share that may lose the first place on balance before that is a loss,
however improbable: with few changes no test is sure of anything."""

Places = Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class Change:
    """What became of the same questions between two measurements.

    A question is answered at first place, among the first ten, or not; only from one of these to
    another it gets better or worse.

    Attributes:
        asked: How many were compared.
        better: Ids of those that are answered better now.
        worse: Ids of those that are answered worse now, as they stand in the later measurement.
        fallen: How many first places were lost on balance; negative: gained.
        p: Of the exact two-sided sign test over these; 1 where none changed.
        red: Whether that is a loss.
        before: Places in the measurement that was compared with.
    """

    asked: int = 0
    better: Sequence[str] = ()
    worse: Sequence[str] = ()
    fallen: int = 0
    p: float = 1.0
    red: bool = False
    before: Places = field(default_factory=dict)


def comparable(now: Measurement, before: Measurement, questions: Collection[str]) -> Places:
    """Return the places that questions would have now among the tables that were there before.

    Tables that came meanwhile are left out of the count. Where the right one was not found, and one
    of these was, nobody knows whether it would have been: such a question is left out.
    """
    found: dict[str, int | None] = {}
    for one in questions:
        place = now.places[one]
        newer = sum(number > before.number for number in now.newer.get(one, ()))
        if place is None and newer:
            continue
        found[one] = place if place is None else place - newer
    return found


def compared(now: Places, before: Places) -> Change:
    """Compare two measurements by the questions that both have."""
    both = [one for one in now if one in before]
    levels = [(one, level(now[one]), level(before[one])) for one in both]
    better = [one for one, here, there in levels if here < there]
    worse = [one for one, here, there in levels if here > there]
    first = [(here == 0) - (there == 0) for _, here, there in levels]
    fallen, p = -sum(first), sign_test(len(better), len(worse))
    lost = len(worse) - len(better)
    sure = lost >= LEAST and p <= SURE
    deep = fallen >= LEAST and fallen >= FALL * len(both)
    return Change(len(both), better, worse, fallen, p, sure or deep, before)


def reference(
    history: Sequence[Measurement],
    questions: Collection[str],
    now: Measurement | None = None,
) -> Measurement | None:
    """Return the best measurement that had all of these questions; None if none had.

    The best, not the last: what is red does not turn green by being measured twice. Where people
    accepted one, none before it counts. By these questions alone, the most first places are best,
    then the nearest places, then the earliest. Where tables came meanwhile, that one is best beside
    which the most was lost, by the questions that can be compared.

    Args:
        history: The oldest first.
        questions: Ids of those that there are now; what else a measurement had does not matter.
        now: What is to be compared; it is no reference itself.
    """
    accepted = max((one.number for one in history if one.accepted), default=0)
    wanted = set(questions)
    known = [
        one
        for one in history
        if one.number >= accepted
        and (now is None or one.number != now.number)
        and wanted <= one.places.keys()
    ]
    return max(known, key=lambda one: _goodness(one, wanted, now), default=None)


def renewed(history: Sequence[Measurement]) -> set[int]:
    """Return the numbers of those that had none of the questions of the one before."""
    return {
        one.number
        for before, one in pairwise(history)
        if before.places.keys().isdisjoint(one.places)
    }


def level(place: int | None) -> int:
    """Return 0 for the first place, 1 for one among the first ten, 2 for none."""
    if place is None or place > DEPTH:
        return 2
    return 0 if place == 1 else 1


def sign_test(better: int, worse: int) -> float:
    """Return how probable so uneven a split is, or a more uneven one, if both are as likely."""
    changed = better + worse
    tail = sum(comb(changed, one) for one in range(min(better, worse) + 1))
    return min(1.0, 2 * tail / (1 << changed))


def _goodness(
    one: Measurement, wanted: Collection[str], now: Measurement | None
) -> tuple[int, float, int]:
    then = {question: one.places[question] for question in sorted(wanted)}
    if now is None:
        return *_nearness(then), -one.number
    today = comparable(now, one, sorted(wanted))
    (first, near), (first_now, near_now) = (
        _nearness({question: places[question] for question in today}) for places in (then, today)
    )
    return first - first_now, round(near - near_now, 9), -one.number


def _nearness(places: Places) -> tuple[int, float]:
    first = sum(place == 1 for place in places.values())
    return first, round(sum(1 / place for place in places.values() if place), 9)
