"""Asks a deployment's own questions, and keeps at which place each one's table was found."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.measure.kinds import VALUE
from pneuma_assets.core.measure.known import Known, known_tables
from pneuma_assets.core.measure.standing import DEPTH
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.questions import MinedQuestion


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
    engine: QueryEngine,
    questions: Sequence[MinedQuestion],
    arrivals: Mapping[str, int] | None = None,
) -> Found:
    """Ask all questions as people ask, for ten tables; a copy of a table stands for it.

    Args:
        engine: Answers.
        questions: Are asked.
        arrivals: Of tables, the first measurement at which they were there (`Mined.arrivals`).

    Raises:
        QueryError: Nothing is indexed.
        ModelError: The judge, where one is enabled, cannot be asked.
    """
    answers = engine.ask_many([one.question for one in questions], k=DEPTH)
    places: dict[str, int | None] = {}
    newer: dict[str, list[int]] = {}
    for one, results in zip(questions, answers, strict=True):
        shown = [(result.table_id, *result.copies) for result in results]
        right = (place for place, ids in enumerate(shown, start=1) if one.table_id in ids)
        places[one.question_id] = place = next(right, None)
        before = shown if place is None else shown[: place - 1]
        came = (min((arrivals or {}).get(table, 0) for table in ids) for ids in before)
        newer[one.question_id] = [number for number in came if number]
    by_kind: dict[str, list[int | None]] = defaultdict(list)
    for one in questions:
        by_kind[one.kind].append(places[one.question_id])
    kinds = {f"R@1 {kind}": _share(some, 1) for kind, some in sorted(by_kind.items())}
    every = list(places.values())
    near = math.fsum(1 / place for place in every if place) / len(every) if every else 0.0
    ranked = {"R@1": _share(every, 1), f"R@{DEPTH}": _share(every, DEPTH), "MRR": near}
    return Found({**ranked, **kinds}, places, newer)


def outlived(
    store: Store, index: SearchIndex, questions: Sequence[MinedQuestion]
) -> Iterator[MinedQuestion]:
    """Yield the questions that their tables do not answer any more: other rows are in them now.

    Only of tables that were read anew since: what another option loses is a loss. A table that the
    index has lost is one, too.
    """
    versions = store.questions.versions([one.table_id for one in questions])
    suspect = [one for one in questions if versions.get(one.table_id) not in (None, one.version)]
    ids = list(dict.fromkeys(one.table_id for one in suspect))
    there = {known.table_id: known for known in known_tables(store, index, ids)}
    for one in suspect:
        known = there.get(one.table_id)
        if known is not None and not _is_answered(one, known):
            yield one


def _is_answered(one: MinedQuestion, known: Known) -> bool:
    if one.kind == VALUE and not known.rows:  # nothing is kept of rows: nobody can tell
        return True
    return known.has(one.made["needs"])


def _share(places: Sequence[int | None], depth: int) -> float:
    found = sum(place is not None and place <= depth for place in places)
    return found / len(places) if places else 0.0
