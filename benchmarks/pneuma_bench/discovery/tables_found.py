"""How well tables are found: the first k, and those whose score is near the best (section 7.2)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.progress import report
from pneuma_assets.core.search.results import TableResult
from pneuma_bench.discovery.desks import FindsTables
from pneuma_bench.discovery.records import DiscoveryQuestion
from pneuma_bench.discovery.shares import Macro, macro, or_null, shares

DEPTHS = (1, 5, 10, 20)
TAUS = (0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Selection:
    """What comes of one rule by which tables are returned.

    Attributes:
        rule: `k` or `tau`.
        value: The number of results, or the least score.
        tables: How many tables a question is given, on average.
        figures: Macro precision, recall and F1.
    """

    rule: str
    value: float
    tables: float
    figures: Macro

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {self.rule: self.value, "tables": or_null(self.tables), **self.figures.to_dict()}


def measure_tables(
    desk: FindsTables,
    questions: Sequence[DiscoveryQuestion],
    depths: Sequence[int] = DEPTHS,
    taus: Sequence[float] = TAUS,
) -> list[Selection]:
    """Return macro precision, recall and F1 of the tables found, for each k and each tau.

    Scores of a question's results, as many as the largest k, are scaled so that the best is 1 and
    the last 0; tau keeps those that are at least as large (section 4.3 there). Copies of a result
    are found with it. Questions that no table answers are not asked.
    """
    asked = [one for one in questions if one.tables]
    answers: list[Sequence[TableResult]] = []
    for some in chunks(asked, _AT_ONCE):
        answers += desk.ask_many([one.question for one in some], k=max(depths))
        report("asking for tables", len(answers), len(asked))
    wanted = [one.tables for one in asked]
    scaled = [_scaled(found) for found in answers]
    selections = [
        _selection("k", k, [_ids(found[:k]) for found in answers], wanted) for k in depths
    ]
    for tau in taus:
        kept = [
            _ids(one for one, score in zip(found, scores, strict=True) if score >= tau)
            for found, scores in zip(answers, scaled, strict=True)
        ]
        selections.append(_selection("tau", tau, kept, wanted))
    return selections


def _scaled(found: Sequence[TableResult]) -> list[float]:
    """Return the scores of results between 0 and 1, all 1 where they are equal."""
    scores = [float(one.score) for one in found]
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [1.0 if high == low else (score - low) / (high - low) for score in scores]


def _ids(found: Iterable[TableResult]) -> set[str]:
    return {table_id for one in found for table_id in (one.table_id, *one.copies)}


def _selection(
    rule: str, value: float, found: Sequence[set[str]], wanted: Sequence[Sequence[str]]
) -> Selection:
    number = sum(map(len, found)) / len(found) if found else float("nan")
    return Selection(rule, value, number, macro([*map(shares, found, wanted)]))
