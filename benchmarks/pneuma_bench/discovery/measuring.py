"""How well tables, sets of tables and cells are found (Octopus, section 7).

Figures are means over questions (macro-averaged), with 95 % bootstrap intervals, as they stand in
JSON: null where there was nothing to count.
"""

import math
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

import numpy as np

from pneuma_assets.core.answers.results import CellAnswer
from pneuma_assets.core.evaluation.evaluate import Figures
from pneuma_assets.core.evaluation.metrics import mean_intervals
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.progress import report
from pneuma_assets.core.search.results import TableResult
from pneuma_bench.discovery.records import DiscoveryQuestion
from pneuma_bench.generator.queries import EMPTY, number_of

if TYPE_CHECKING:
    from pneuma_assets.core.service.workspace import Workspace

PARTS = ("tables", "groups", "cells")
NAMES = ("precision", "recall", "F1")
DEPTHS, TAUS = (1, 5, 10, 20), (0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
GROUP_DEPTHS = (1, 5, 10)
_AT_ONCE = 100


def shares(found: Collection[str], wanted: Collection[str]) -> tuple[float, float, float]:
    """Return precision, recall and F1 of what was found for one question, all 0 of nothing."""
    right = len(set(found) & set(wanted))
    precision, recall = right / max(1, len(set(found))), right / len(set(wanted))
    return precision, recall, 2 * right / (len(set(found)) + len(set(wanted)))


def macro(each: Sequence[Sequence[float]], names: Sequence[str] = NAMES) -> dict[str, Any]:
    """Return the number of questions, the mean of each figure over them, and the intervals."""
    table = np.array(each, np.float64).reshape(-1, len(names))
    columns = dict(zip(names, table.T, strict=True))
    means = {n: float(one.mean()) if len(one) else math.nan for n, one in columns.items()}
    figures = Figures(means, mean_intervals(columns), columns)
    return {"questions": len(table), **figures.to_dict()}


def measure_tables(
    desk: "Workspace",
    questions: Sequence[DiscoveryQuestion],
    depths: Sequence[int] = DEPTHS,
    taus: Sequence[float] = TAUS,
) -> list[dict[str, Any]]:
    """Return figures of the tables found, for each `k` and each `tau`, and how many tables that is.

    Scores of a question's results, as many as the largest k, are scaled so that the best is 1 and
    the last 0; tau keeps those that are at least as large (section 4.3 there). Copies of a result
    are found with it. Questions that no table answers are not asked.
    """
    asked = [one for one in questions if one.tables]
    answers: list[Sequence[TableResult]] = []
    for some in chunks(asked, _AT_ONCE):
        answers += desk.ask_many([one.question for one in some], k=max(depths))
        report("asking for tables", len(answers), len(asked))
    rules: list[tuple[str, float, list[Sequence[TableResult]]]] = [
        ("k", k, [found[:k] for found in answers]) for k in depths
    ]
    rules += [("tau", tau, [_near_best(found, tau) for found in answers]) for tau in taus]
    measured = []
    for rule, value, kept in rules:
        ids = [{i for one in found for i in one.tables} for found in kept]
        each = [shares(found, one.tables) for found, one in zip(ids, asked, strict=True)]
        tables = fmean(map(len, ids)) if ids else None
        measured.append({rule: value, "tables": tables, **macro(each)})
    return measured


def _near_best(found: Sequence[TableResult], tau: float) -> list[TableResult]:
    """Return the results whose score, scaled between 0 and 1, is at least `tau`."""
    scores = [float(one.score) for one in found]
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    scaled = [1.0 if high == low else (score - low) / (high - low) for score in scores]
    return [one for one, score in zip(found, scaled, strict=True) if score >= tau]


def measure_groups(
    desk: "Workspace", questions: Sequence[DiscoveryQuestion]
) -> list[dict[str, Any]]:
    """Return Hit@K of all questions, and of those that need so many tables (`needed`).

    `hit@k` is the share that has all of its tables in one of the first k sets, `exact@k` the share
    that has one with no other table, and `tables` the number in the first set. Questions that no
    table answers are not asked.
    """
    asked = [one for one in questions if one.tables]
    each: list[tuple[int, list[float]]] = []
    for done, one in enumerate(asked, start=1):
        wanted = {*one.tables}
        found = [{*group.tables} for group in desk.find_groups(one.question, k=max(GROUP_DEPTHS))]
        hits = [float(any(wanted <= group for group in found[:k])) for k in GROUP_DEPTHS]
        exact = [float(wanted in found[:k]) for k in GROUP_DEPTHS]
        each.append((len(wanted), [*hits, *exact, float(len(found[0]) if found else 0)]))
        report("asking for sets of tables", done, len(asked))
    names = [f"{what}@{k}" for what in ("hit", "exact") for k in GROUP_DEPTHS] + ["tables"]
    return [
        {"needed": needed, **macro([row for n, row in each if needed in (None, n)], names)}
        for needed in (None, *sorted({n for n, _ in each}))
    ]


Ask = Callable[[str], CellAnswer]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, its answer, and how many seconds that took."""

    question: DiscoveryQuestion
    answer: CellAnswer
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON: what was wanted, and the answer."""
        wanted = {"tables": self.question.tables, "cells": self.question.cells}
        return {**asdict(self.answer), **wanted, "seconds": self.seconds}


_USAGE = ("calls", "read", "written")


def ask_all(ask: Ask, questions: Sequence[DiscoveryQuestion]) -> list[Asked]:
    """Ask every question, also those that no table answers."""
    asked = []
    for done, one in enumerate(questions, start=1):
        began = time.perf_counter()
        answer = ask(one.question)
        asked.append(Asked(one, answer, time.perf_counter() - began))
        report("asking for cells", done, len(questions))
    return asked


def count_cells(asked: Sequence[Asked]) -> dict[str, Any]:
    """Return what the answers to questions come to (section 7.3).

    Figures of `cells` are of all answers to a question, `first` of its first one alone, both of the
    questions whose right cells are known; what has no answer counts 0. `tables` are those that the
    answers are from, of questions that tables answer. `outcomes` counts these by what they came to,
    `unanswerable` the others; `made_by` what made first answers; `repaired` those that a model
    wrote a second time; `usage`, `seconds` and `median` are of a question.
    """
    known = [(one, cells) for one in asked if (cells := _cells(one.question.cells))]
    answerable = [one for one in asked if one.question.tables]
    firsts = [one.answer.answers[0] for one in asked if one.answer.answers]
    seconds = [one.seconds for one in asked]
    found = [{id_ for answer in one.answer.answers for id_ in answer.tables} for one in answerable]
    wanted = [one.question.tables for one in answerable]
    return {
        "cells": macro([shares(_said(one.answer), cells) for one, cells in known]),
        "first": macro([shares(_said(one.answer, 1), cells) for one, cells in known]),
        "tables": macro([*map(shares, found, wanted)]),
        "outcomes": _outcomes(answerable),
        "unanswerable": _outcomes(one for one in asked if not one.question.tables),
        "made_by": dict(Counter(one.made_by for one in firsts).most_common()),
        "repaired": sum(one.repaired for one in firsts),
        "usage": {name: fmean(getattr(one.answer.usage, name) for one in asked) for name in _USAGE},
        "seconds": fmean(seconds),
        "median": median(seconds),
    }


def _cells(answers: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    return cell_texts(row for one in answers for row in one["rows"])


def _said(answer: CellAnswer, most: int | None = None) -> frozenset[str]:
    return cell_texts(row for one in answer.answers[:most] for row in one.rows)


def _outcomes(asked: Iterable[Asked]) -> dict[str, int]:
    return dict(Counter(str(one.answer.outcome) for one in asked).most_common())


_DIGITS = 10
"""Of a number that is no whole one: engines add in other orders, and round."""
_WHOLE = re.compile(r"([+-]?\d+)(?:\.0*)?", re.ASCII)
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[ t]00:00:00(\.0+)?", re.ASCII)


def cell_text(cell: Any) -> str | None:
    """Return what a cell says; None where that is nothing.

    Capitals and blanks do not count, nor how a number is written, and a day is its midnight. Of a
    whole number that is written in full all digits count, such as of a long key; of another one,
    or one of 2^53 or more that is written with an exponent, the first ten.
    """
    text = " ".join(str(cell).split()).casefold() if cell is not None else ""
    if text in EMPTY:
        return None
    number = number_of(text)
    if number is not None:
        if in_full := _WHOLE.fullmatch(text):
            return str(int(in_full[1]))
        whole = number == int(number) and abs(number) < 2**53
        return str(int(number)) if whole else f"{number:.{_DIGITS}g}"
    day = _MIDNIGHT.fullmatch(text)
    return day[1] if day else text


def cell_texts(rows: Iterable[Sequence[Any]]) -> frozenset[str]:
    """Return what the cells of some rows say."""
    texts = (cell_text(cell) for row in rows for cell in row)
    return frozenset(text for text in texts if text is not None)
