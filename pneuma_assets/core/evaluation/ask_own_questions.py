"""Asks a deployment's own questions, and tells whether they are answered worse than they were.

One question more or less says nothing, and fifty say little: so it takes a sign test over the
questions that changed, or a fall that nobody would shrug at. A command, a check, and a tick that
asks whether the check would come out otherwise say the same, from the state alone.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import comb, fsum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pneuma_assets.core.store import Store
from pneuma_assets.core.store.questions import Measurement, MinedQuestion

if TYPE_CHECKING:
    from pneuma_assets.core.evaluation.table_contents import Known
    from pneuma_assets.core.index.base import SearchIndex
    from pneuma_assets.core.search.query import QueryEngine

DEPTH = 10
"""Tables looked at for the right one."""
LEAST = 3
"""Questions that must be lost on balance; fewer are never called a loss."""
SURE = 0.05
"""How improbable the loss must be, if a change made questions better as often as worse."""
FALL = 0.10
"""Of the questions, the share that may lose the first place on balance before that is a loss,
however improbable: with few changes no test is sure of anything."""
FEWEST = 10
"""Questions that tell anything; of fewer, others are to be made."""
WAITING = "waiting"
"""The figure that counts the tables that waited when questions were asked."""

Places = Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class Change:
    """What became of the same questions between two measurements, by their ids.

    A question is answered at first place, among the first ten, or not; only from one of these to
    another it gets better or worse.

    Attributes:
        asked: How many were compared.
        better: Those that are answered better now.
        worse: Those that are answered worse now, as they stand in the later measurement.
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
        places = self.now.places if self.now else {}
        keys = ("id", "kind", "table", "question")
        asked = ((one.question_id, one.kind, one.table_id, one.question) for one in self.questions)
        return {
            "questions": [
                {**dict(zip(keys, one, strict=True)), "place": places.get(one[0])} for one in asked
            ],
            "now": self.now and _shown(self.now),
            "best": self.best and _shown(self.best),
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


def standing(store: Store) -> Standing:
    """Return how the questions are answered, as far as the state knows."""
    questions, history = store.questions.all(), store.questions.measurements()
    trouble = store.questions.tried().cause
    ids = [one.question_id for one in questions]
    newest = history[-1] if history else None
    if not ids or newest is None or not set(ids) <= newest.places.keys():
        return Standing(questions, history, trouble=trouble)
    best = None if newest.accepted else reference(history[:-1], ids)
    change = Change()
    if best is not None:
        change = compared(comparable(newest, best, ids), best.places)
    return Standing(questions, history, newest, best, change, trouble)


def comparable(now: Measurement, before: Measurement, questions: Collection[str]) -> Places:
    """Return the places that questions would have now among the tables that were there before.

    Tables that came meanwhile are left out of the count. Where the right one was not found, and one
    of these was, nobody knows whether it would have been: such a question is left out.
    """
    found: dict[str, int | None] = {}
    for one in questions:
        place = now.places[one]
        newer = sum(number > before.number for number in now.newer.get(one, ()))
        if place is not None or not newer:
            found[one] = place and place - newer
    return found


def compared(now: Places, before: Places) -> Change:
    """Compare two measurements by the questions that both have."""
    levels = [(one, level(now[one]), level(before[one])) for one in now if one in before]
    better = [one for one, here, there in levels if here < there]
    worse = [one for one, here, there in levels if here > there]
    fallen = sum((there == 0) - (here == 0) for _, here, there in levels)
    p = sign_test(len(better), len(worse))
    sure = len(worse) - len(better) >= LEAST and p <= SURE
    deep = fallen >= max(LEAST, FALL * len(levels))
    return Change(len(levels), better, worse, fallen, p, sure or deep, before)


def reference(history: Sequence[Measurement], questions: Collection[str]) -> Measurement | None:
    """Return the best measurement, of those given oldest first, that had all of these questions.

    The best, not the last: what is red does not turn green by being measured twice. The most first
    places are best, then the nearest places, then the earliest. Where people accepted one, none
    before it counts.
    """
    accepted = max((one.number for one in history if one.accepted), default=0)
    known = [one for one in history if one.number >= accepted and {*questions} <= {*one.places}]

    def goodness(one: Measurement) -> tuple[int, float]:
        places = [one.places[question] for question in questions]
        return places.count(1), fsum(1 / place for place in places if place)

    return max(known, key=goodness, default=None)


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
    tail = sum(comb(better + worse, one) for one in range(min(better, worse) + 1))
    return min(1.0, 2 * tail / (1 << (better + worse)))


def _shown(one: Measurement) -> dict[str, Any]:
    return {
        "number": one.number,
        "at": one.measured_at,
        "figures": dict(one.figures),
        "accepted": one.accepted,
    }


@dataclass(frozen=True, slots=True)
class Found:
    """What asking came to.

    Attributes:
        figures: Means over the questions: `R@1`, `R@10`, `MRR`, and `R@1` of each kind.
        places: Of each question by its id the place of its table, from 1; None if not found.
        newer: Of questions, when each table that stood before it came, of those that came later.
    """

    figures: Mapping[str, float]
    places: Mapping[str, int | None]
    newer: Mapping[str, Sequence[int]] = field(default_factory=dict)


def ask_mined(
    engine: "QueryEngine",
    questions: Sequence[MinedQuestion],
    arrivals: Mapping[str, int] = MappingProxyType({}),
) -> Found:
    """Ask all questions as people ask, for ten tables; what a result names stands for it.

    `arrivals` tells of tables at which measurement they were there first (`Mined.arrivals`).

    Raises:
        QueryError: Nothing is indexed.
        ModelError: The judge, where one is enabled, cannot be asked.
    """
    answers = engine.ask_many([one.question for one in questions], k=DEPTH)
    places: dict[str, int | None] = {}
    newer: dict[str, list[int]] = {}
    for one, results in zip(questions, answers, strict=True):
        shown = [result.tables for result in results]
        right = (place for place, ids in enumerate(shown, start=1) if one.table_id in ids)
        places[one.question_id] = place = next(right, None)
        before = shown if place is None else shown[: place - 1]
        came = (min(arrivals.get(table, 0) for table in ids) for ids in before)
        newer[one.question_id] = [number for number in came if number]
    every = list(places.values())
    near = fsum(1 / place for place in every if place) / len(every) if every else 0.0
    figures = {"R@1": _share(every, 1), f"R@{DEPTH}": _share(every, DEPTH), "MRR": near}
    for kind in sorted({one.kind for one in questions}):
        some = [places[one.question_id] for one in questions if one.kind == kind]
        figures[f"R@1 {kind}"] = _share(some, 1)
    return Found(figures, places, newer)


def outlived(
    store: Store, index: "SearchIndex", questions: Sequence[MinedQuestion]
) -> Iterator[MinedQuestion]:
    """Yield the questions that their tables do not answer any more: other rows are in them now.

    Only of tables that were read anew since: what another option loses is a loss. A table that the
    index has lost is one, too.
    """
    from pneuma_assets.core.evaluation.table_contents import known_tables

    versions = store.questions.versions([one.table_id for one in questions])
    suspect = [one for one in questions if versions.get(one.table_id) not in (None, one.version)]
    ids = list(dict.fromkeys(one.table_id for one in suspect))
    there = {known.table_id: known for known in known_tables(store, index, ids)}
    for one in suspect:
        known = there.get(one.table_id)
        if known is not None and not _is_answered(one, known):
            yield one


def _is_answered(one: MinedQuestion, known: "Known") -> bool:
    from pneuma_assets.core.evaluation.generate import VALUE

    unknown = one.kind == VALUE and not known.rows  # nothing is kept of rows: nobody can tell
    return unknown or known.has(one.made["needs"])


def _share(places: Sequence[int | None], depth: int) -> float:
    found = sum(place is not None and place <= depth for place in places)
    return found / len(places) if places else 0.0
