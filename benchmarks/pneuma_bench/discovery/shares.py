"""Macro precision, recall and F1 of sets (Octopus, section 7.1), and the desk that is measured."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pneuma_assets.core.answers.results import CellAnswer
from pneuma_assets.core.index.base import NO_FILTER, IndexFilter
from pneuma_assets.core.measure.metrics import Interval, mean_intervals
from pneuma_assets.core.search.groups import GroupResult
from pneuma_assets.core.search.results import TableResult


class FindsTables(Protocol):
    """Finds tables, best first."""

    def ask_many(
        self, questions: Sequence[str], *, k: int | None = None
    ) -> Sequence[Sequence[TableResult]]:
        """Return the tables that may answer each question."""


class FindsGroups(Protocol):
    """Finds sets of tables, best first."""

    def find_groups(self, question: str, *, k: int | None = None) -> Sequence[GroupResult]:
        """Return the sets of tables that may answer the question together."""


class Desk(FindsTables, FindsGroups, Protocol):
    """Finds both."""


class AnswersCells(FindsTables, Protocol):
    """Answers in cells."""

    def answer(
        self,
        question: str,
        *,
        k: int | None = None,
        model: bool | None = None,
        where: IndexFilter = NO_FILTER,
    ) -> CellAnswer:
        """Return the cells that answer the question, with their SQL."""


NAMES = ("precision", "recall", "F1")


@dataclass(frozen=True, slots=True)
class Macro:
    """Means over questions, each with its 95 % bootstrap interval; NaN of no question.

    Attributes:
        questions: How many.
        values: By the figure's name.
        intervals: Likewise.
    """

    questions: int
    values: Mapping[str, float]
    intervals: Mapping[str, Interval]

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON, null where there was nothing to count."""
        spans = {name: [*map(or_null, one)] for name, one in self.intervals.items()}
        values = {name: or_null(value) for name, value in self.values.items()}
        return {"questions": self.questions, **values, "intervals": spans}


def or_null(number: float) -> float | None:
    """Return what JSON has for a number: none for NaN."""
    return None if math.isnan(number) else number


def shares(found: Collection[str], wanted: Collection[str]) -> tuple[float, float, float]:
    """Return precision, recall and F1 of what was found for one question.

    Args:
        found: What was; of nothing, all three are 0.
        wanted: What is right, not empty.
    """
    right = len(set(found) & set(wanted))
    if not right:
        return 0.0, 0.0, 0.0
    precision, recall = right / len(set(found)), right / len(set(wanted))
    return precision, recall, 2 * precision * recall / (precision + recall)


def macro(each: Sequence[Sequence[float]], names: Sequence[str] = NAMES) -> Macro:
    """Return the mean of each figure over questions.

    Args:
        each: Of each question, its figures.
        names: What these are.
    """
    table = np.array(each, np.float64).reshape(-1, len(names))
    columns = {name: table[:, place] for place, name in enumerate(names)}
    means = {name: float(one.mean()) if len(one) else float("nan") for name, one in columns.items()}
    return Macro(len(table), means, mean_intervals(columns))
