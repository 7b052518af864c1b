"""How well tables, sets of tables and cells are found (Octopus, section 7)."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.progress import report
from pneuma_assets.core.search.results import TableResult
from pneuma_bench.discovery.cells_found import (
    Ask,
    Asked,
    CellFigures,
    ask_all,
    count_cells,
)
from pneuma_bench.discovery.records import DiscoveryQuestion
from pneuma_bench.discovery.shares import (
    Desk,
    FindsGroups,
    FindsTables,
    Macro,
    macro,
    or_null,
    shares,
)

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


GROUP_DEPTHS = (1, 5, 10)


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """What is counted of some questions.

    Attributes:
        needed: How many tables these need; None: all questions.
        figures: `hit@k`, the share that has all of its tables in one of the first k sets, `exact@k`
            the share that has one with no other table, and `tables` in the first set.
    """

    needed: int | None
    figures: Macro

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {"needed": self.needed, **self.figures.to_dict()}


def measure_groups(
    desk: FindsGroups, questions: Sequence[DiscoveryQuestion], depths: Sequence[int] = GROUP_DEPTHS
) -> list[GroupFigures]:
    """Return Hit@K of all questions, and of those that need so many tables.

    Questions that no table answers are not asked.
    """
    asked = [one for one in questions if one.tables]
    each: list[tuple[int, list[float]]] = []
    for done, one in enumerate(asked, start=1):
        found = [set(group.tables) for group in desk.find_groups(one.question, k=max(depths))]
        each.append((len(one.tables), _counted(found, set(one.tables), depths)))
        report("asking for sets of tables", done, len(asked))
    names = [f"{what}@{k}" for what in ("hit", "exact") for k in depths] + ["tables"]
    several = sorted({number for number, _ in each})
    return [
        GroupFigures(
            needed, macro([row for number, row in each if needed in (None, number)], names)
        )
        for needed in (None, *several)
    ]


def _counted(found: Sequence[set[str]], wanted: set[str], depths: Sequence[int]) -> list[float]:
    hits = [float(any(wanted <= one for one in found[:k])) for k in depths]
    exact = [float(wanted in found[:k]) for k in depths]
    return [*hits, *exact, float(len(found[0]) if found else 0)]


PARTS = ("tables", "groups", "cells")
"""What can be measured."""
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured; a part that was not is empty.

    Attributes:
        questions: How many questions the file has.
        tables: Of each k and tau.
        groups: Of all questions, and of those that need so many tables.
        cells: Of answers in cells.
        asked: These answers.
    """

    questions: int
    tables: Sequence[Selection] = ()
    groups: Sequence[GroupFigures] = ()
    cells: CellFigures | None = None
    asked: Sequence[Asked] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the figures for JSON, of the parts that were measured."""
        figures: dict[str, Any] = {"questions": self.questions}
        figures |= {"tables": [one.to_dict() for one in self.tables]} if self.tables else {}
        figures |= {"groups": [one.to_dict() for one in self.groups]} if self.groups else {}
        return figures | ({"cells": self.cells.to_dict()} if self.cells else {})


def measure(
    desk: Desk, questions: Sequence[DiscoveryQuestion], parts: Collection[str], ask: Ask
) -> Measured:
    """Return the figures of some parts.

    Args:
        desk: Answers.
        questions: What is asked.
        parts: Some of `PARTS`.
        ask: Answers in cells.
    """
    asked = ask_all(ask, questions) if "cells" in parts else []
    return Measured(
        len(questions),
        measure_tables(desk, questions) if "tables" in parts else (),
        measure_groups(desk, questions) if "groups" in parts else (),
        count_cells(asked) if asked else None,
        asked,
    )


def check_known(path: Path, questions: Sequence[DiscoveryQuestion], ids: Collection[str]) -> None:
    """Refuse questions whose tables are not those of the index.

    Raises:
        BenchmarkError: A question names a table that there is not, or there is no question.
    """
    if not questions:
        raise BenchmarkError(f"{path} holds no question; write one JSON object a line")
    unknown = sorted({table for one in questions for table in one.tables} - set(ids))
    if unknown:
        more = f" and {len(unknown) - _NAMED:,} more" if len(unknown) > _NAMED else ""
        named = ", ".join(map(repr, unknown[:_NAMED]))
        raise BenchmarkError(f"{path}: no indexed table has the id {named}{more}")
