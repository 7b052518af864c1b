"""How well questions are answered in cells, and what that costs (Octopus, section 7.3)."""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import fmean, median
from typing import Any

from pneuma_assets.core.answers.results import CellAnswer, Outcome, Usage
from pneuma_assets.core.index.base import IndexFilter
from pneuma_assets.core.progress import report
from pneuma_bench.discovery.records import DiscoveryQuestion
from pneuma_bench.discovery.shares import AnswersCells, Macro, macro, shares
from pneuma_bench.generator.queries import EMPTY, number_of

_DIGITS = 10
"""Of a number that is no whole one: engines add in other orders, and round."""
_WHOLE = re.compile(r"([+-]?\d+)(?:\.0*)?", re.ASCII)
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[ t]00:00:00(\.0+)?", re.ASCII)


def cell_text(cell: Any) -> str | None:
    """Return what a cell says; None where that is nothing.

    Capitals and blanks do not count, nor how a number is written, and a day is its midnight. Of a
    whole number that is written in full all digits count, such as of a long key; of another one,
    or one of 2^53 or more that is written with an exponent, the first ten.

    Args:
        cell: A value of JSON, of an answer or of a file.
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


Ask = Callable[[str], CellAnswer]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, its answer, and how many seconds that took."""

    question: DiscoveryQuestion
    answer: CellAnswer
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON: what was wanted, and the answer."""
        wanted = {"tables": list(self.question.tables), "seconds": self.seconds}
        cells = self.question.to_dict().get("cells", [])
        return {**self.answer.to_dict(), **wanted, "cells": cells}


@dataclass(frozen=True, slots=True)
class CellFigures:
    """What the answers to a set's questions come to.

    Attributes:
        cells: Macro figures of the cells of all answers to a question, of those whose right cells
            are known; what a question has no answer to counts 0.
        first: Of the cells of the first answer alone.
        tables: Of the tables that the answers are from, of all questions that tables answer.
        outcomes: How many questions that tables answer came to which outcome.
        unanswerable: Likewise of those that no table answers.
        made_by: How many first answers a model or which template made.
        repaired: How many first answers a model wrote a second time.
        usage: What a model was asked for a question, on average.
        seconds: A question, on average; `median` is the median.
        median: See `seconds`.
    """

    cells: Macro
    first: Macro
    tables: Macro
    outcomes: Mapping[str, int]
    unanswerable: Mapping[str, int]
    made_by: Mapping[str, int]
    repaired: int
    usage: Mapping[str, float]
    seconds: float
    median: float

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        named = ("cells", "first", "tables")
        others = ("outcomes", "unanswerable", "made_by", "repaired", "usage", "seconds", "median")
        figures = {name: getattr(self, name).to_dict() for name in named}
        return figures | {name: getattr(self, name) for name in others}


def asked_of(desk: AnswersCells, k: int | None = None, model: bool | None = None) -> Ask:
    """Return what asks a desk as people do; `k` and `model` are as of `Workspace.answer`."""
    return lambda question: desk.answer(question, k=k, model=model)


def asked_of_each_table(desk: AnswersCells, k: int = 10, model: bool | None = None) -> Ask:
    """Return what asks a desk about each of the first `k` tables by itself, as Octopus's peer."""

    def ask(question: str) -> CellAnswer:
        (found,) = desk.ask_many([question], k=k)
        each = [
            desk.answer(question, k=1, model=model, where=IndexFilter(tables=(one.table_id,)))
            for one in found
        ]
        return _together(question, each)

    return ask


def ask_all(ask: Ask, questions: Sequence[DiscoveryQuestion]) -> list[Asked]:
    """Ask every question, also those that no table answers."""
    asked = []
    for done, one in enumerate(questions, start=1):
        began = time.perf_counter()
        answer = ask(one.question)
        asked.append(Asked(one, answer, time.perf_counter() - began))
        report("asking for cells", done, len(questions))
    return asked


def count_cells(asked: Sequence[Asked]) -> CellFigures:
    """Return what answers come to."""
    wanted = [cell_texts(chain.from_iterable(c.rows for c in one.question.cells)) for one in asked]
    known = [(one.answer, cells) for one, cells in zip(asked, wanted, strict=True) if cells]
    answerable = [one for one in asked if one.question.tables]
    firsts = [one.answer.answers[0] for one in asked if one.answer.answers]
    usage = {name: [getattr(one.answer.usage, name) for one in asked] for name in _USAGE}
    seconds = [one.seconds for one in asked]
    return CellFigures(
        macro([shares(_cells(answer), cells) for answer, cells in known]),
        macro([shares(_cells(answer, 1), cells) for answer, cells in known]),
        macro([shares(_tables(one.answer), one.question.tables) for one in answerable]),
        _outcomes(answerable),
        _outcomes(one for one in asked if not one.question.tables),
        dict(Counter(one.made_by for one in firsts).most_common()),
        sum(one.repaired for one in firsts),
        {name: fmean(numbers) if numbers else float("nan") for name, numbers in usage.items()},
        fmean(seconds) if seconds else float("nan"),
        median(seconds) if seconds else float("nan"),
    )


_USAGE = ("calls", "read", "written")


def _cells(answer: CellAnswer, most: int | None = None) -> frozenset[str]:
    return cell_texts(chain.from_iterable(one.rows for one in answer.answers[:most]))


def _tables(answer: CellAnswer) -> set[str]:
    return {table for one in answer.answers for table in one.tables}


def _outcomes(asked: Iterable[Asked]) -> dict[str, int]:
    return dict(Counter(str(one.answer.outcome) for one in asked).most_common())


def _together(question: str, each: Sequence[CellAnswer]) -> CellAnswer:
    """Return the answers of several tables as one answer."""
    outcomes = {one.outcome for one in each}
    order = (Outcome.ANSWERED, Outcome.NOT_WRITTEN, Outcome.REFUSED)
    usage = Usage(*(sum(getattr(one.usage, name) for one in each) for name in _USAGE))
    first = each[0] if each else CellAnswer(question, Outcome.REFUSED)
    return replace(
        first,
        outcome=next((one for one in order if one in outcomes), Outcome.REFUSED),
        answers=tuple(answer for one in each for answer in one.answers),
        problems=tuple(problem for one in each for problem in one.problems),
        usage=usage,
    )
